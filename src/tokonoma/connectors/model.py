"""What is declared of a service: its tools, one line each, and how its pages are turned."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tokonoma.core.module import Effect
from tokonoma.core.service import ServiceClient, ServiceResponse

Params = dict[str, Any]
"""The parameters of one call by their public names, without `account`, `fields`, `limit` and `cursor`"""


def as_object(value: Any) -> dict[str, Any]:
    """A value of a service that should be an object; empty if it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class PageRule:
    """How one service turns pages. `token`: a text that is sent back; `offset`: a count of rows; `link` and `url`: an
    address of the next page, in the header `Link` or in the answer."""

    kind: Literal["token", "offset", "link", "url"]
    size: str  # the parameter for the number of rows
    most: int  # rows of one page
    send: str = ""  # the parameter for the token or the offset
    next: str = ""  # path in the answer of the next token or address
    in_address: bool = False  # the token is a parameter of an address there, of which nothing else is used
    keeps: Mapping[str, str] = field(default_factory=dict[str, str])  # what the answer says beside the rows: name → key


@dataclass(frozen=True, slots=True)
class ServiceTool:
    """One tool, as declared. `call` is `GET /repos/{owner}/issues/{number:int}`; `{+path}` may hold slashes.

    `takes` lists the other parameters: `title, state?: open|closed, labels?: [str]`. They are sent in the query by GET
    and DELETE, else in the body; those in `query` always in the query. A parameter without a type is a text.
    """

    name: str
    call: str
    says: str
    takes: str = ""
    query: str = ""
    fields: str = "*"  # the default fields, by spaces; `*`: all of them; empty: the answer says nothing but `done`
    rows: str | None = None  # path of the rows of a list in the answer; empty: the answer is the list
    page: PageRule | None = None
    effect: Effect | None = None  # by default what the method says
    extra: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])  # sent in the body of every request
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body_of: str = ""  # the parameter that is the whole body
    repeats: str = ""  # the parameter of the path that the body holds too
    or_record: bool = False  # the service may answer with one record instead of a list
    redirect_hosts: tuple[str, ...] = ()
    prepare: Callable[[Params], Params] | None = None  # parameters as given → as sent
    send: Callable[[ServiceClient, "ServiceTool", Params], Awaitable[ServiceResponse]] | None = None  # several requests
    read: Callable[[ServiceResponse, Params], Any] | None = None  # the answer, where it is not simply its JSON
    render: Callable[[Any], Any] | None = None  # what was chosen of an answer → as it is shown; not for `*`

    @property
    def method(self) -> str:
        return self.call.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.call.partition(" ")[2]

    @property
    def is_list(self) -> bool:
        return self.rows is not None

    @property
    def is_done(self) -> bool:
        """Whether its answer is only `{done: true}`."""
        return not self.fields

    def find_effect(self) -> Effect:
        usual: Mapping[str, Effect] = {"GET": "read", "DELETE": "destroy"}
        return self.effect or usual.get(self.method, "write")

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return self.method in ("GET", "PUT", "DELETE") or self.find_effect() == "read"


@dataclass(frozen=True, slots=True)
class Service:
    """A service, as declared."""

    name: str
    title: str
    summary: str
    api_version: str
    tools: tuple[ServiceTool, ...]
    wire: Mapping[str, str] = field(default_factory=dict[str, str])  # public name → the service's, where they differ
    types: Mapping[str, str] = field(default_factory=dict[str, str])  # shapes that several tools take, by name
    # Tells the service which fields are wanted, where it can leave the others out itself.
    push_fields: "Callable[[ServiceTool, Draft, FieldChoice], None] | None" = None


@dataclass(slots=True)
class Draft:
    """A request while it is made."""

    path: str
    query: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    body: Any = None


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """Which fields of an answer are wanted: None means all. `asked`: those that the caller named."""

    paths: tuple[str, ...] | None
    asked: tuple[str, ...] = ()
