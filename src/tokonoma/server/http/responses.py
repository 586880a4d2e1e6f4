"""What goes back over HTTP: one complete response, or a stream of events."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.server.http.security import Halt, Pairs
from tokonoma.server.mcp import encode

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

STREAM: Pairs = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would otherwise keep events back
]


@dataclass(slots=True)
class Reply:
    """One complete response."""

    status: int
    content: bytes = b""
    extra: Pairs = field(default_factory=list[tuple[bytes, bytes]])
    kind: bytes = b"application/json"

    @property
    def headers(self) -> Pairs:
        return [(b"content-type", self.kind), (b"content-length", b"%d" % len(self.content)), *self.extra]

    async def send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.content})


def halted(halt: Halt, extra: Pairs) -> Reply:
    return Reply(halt.status, encode.error(None, halt.code, halt.message), [*halt.headers, *extra])


def event(message: bytes) -> bytes:
    """One message in a stream; an empty one ends a request that was cancelled, and is no message."""
    return b"event: message\ndata: " + message + b"\n\n" if message else b": cancelled\n\n"


def encoded(headers: Mapping[str, str]) -> Pairs:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
