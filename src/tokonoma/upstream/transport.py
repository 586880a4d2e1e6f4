"""What carries messages to a server and back, whatever it is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokonoma.upstream.wire import JsonObject


class MessageTransport(Protocol):
    """Carries messages. Answers and what the server sends by itself go to `receive`; a request that cannot be answered
    any more to `fail`, and with no id all of them."""

    # Seconds that a server may take to say of which era it is.
    patience: float

    async def start(self, receive: Callable[[JsonObject], None], fail: "FailRequest") -> None: ...
    async def send(self, message: JsonObject, headers: Mapping[str, str]) -> None: ...

    # The era is known: `version` is that of the protocol.
    def settle(self, version: str, modern: bool) -> None: ...

    # Nobody waits for this answer any more. True if the server notices it by itself.
    def abandon(self, request_id: int) -> bool: ...
    async def close(self) -> None: ...


class FailRequest(Protocol):
    def __call__(self, error: Exception, request_id: int | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says of itself."""

    version: str
    modern: bool
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""
    instructions: str = ""
