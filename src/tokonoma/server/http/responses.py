"""What goes back over HTTP: one complete response, or a stream of events."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.server.http.security import HeaderList, HttpError
from tokonoma.server.mcp import encode

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

STREAM_HEADERS: HeaderList = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would otherwise keep events back
]


@dataclass(slots=True)
class HttpResponse:
    """One complete response."""

    status: int
    content: bytes = b""
    extra: HeaderList = field(default_factory=list[tuple[bytes, bytes]])
    content_type: bytes = b"application/json"

    @property
    def headers(self) -> HeaderList:
        return [(b"content-type", self.content_type), (b"content-length", b"%d" % len(self.content)), *self.extra]

    async def send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.content})


def to_response(halt: HttpError, extra: HeaderList) -> HttpResponse:
    return HttpResponse(halt.status, encode.encode_error(None, halt.code, halt.message), [*halt.headers, *extra])


def format_event(message: bytes) -> bytes:
    """One message in a stream; an empty one ends a request that was cancelled, and is no message."""
    return b"event: message\ndata: " + message + b"\n\n" if message else b": cancelled\n\n"


def encode_headers(headers: Mapping[str, str]) -> HeaderList:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
