"""How a connector asks its service: one request, one answer. Token, retries and limits are the client's concern."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """`path` lies below the account's base URL, its values quoted by `quote_segment`; or it is a URL of the same host,
    as services give for the next page. `repeatable`: to send it twice does no more than to send it once."""

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    body: Any = None  # sent as JSON
    content: bytes | None = None  # sent as it is, instead of `body`
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeatable: bool = False
    redirect_hosts: tuple[str, ...] = ()  # one redirect to these (`*.example.com`) is followed, without the token


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """What the service answered, with a status of 2xx. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    value: Any = None  # the content, if it is JSON


class ServiceClient(Protocol):
    """One account of one service. What goes wrong is raised as one of the errors in `core.errors`."""

    @property
    def account(self) -> str: ...  # its name

    @property
    def details(self) -> Mapping[str, Any]: ...  # what is known of it and no secret, such as the site of a Jira

    async def send(self, request: ServiceRequest) -> ServiceResponse: ...
