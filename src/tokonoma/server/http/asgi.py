"""A request and its response, in the terms of ASGI."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.core.call import Caller, Principal
from tokonoma.server.http.security import HeaderList, Headers
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.message import MAX_BYTES

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

HEADERS = "tokonoma.headers"
"""Key of the scope: the request's headers as a dictionary."""

CALLER = "tokonoma.caller"
"""Key of the scope: who sent the request, as far as the connection and the headers tell."""

CORS = "tokonoma.cors"
"""Key of the scope: headers that a browser needs in the response."""

ORIGIN = "tokonoma.origin"
"""Key of the scope: the origin under which the client knows this server, like `https://tokonoma.example.com`."""

AsgiApp = Callable[[Event, Receive, Send], Awaitable[None]]

STREAM_HEADERS: HeaderList = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would otherwise hold events back
]


@dataclass(frozen=True, slots=True)
class HttpLimits:
    body: int = MAX_BYTES  # bytes
    body_seconds: float = 30.0  # for the whole body to arrive
    bodies: int = 64 * 2**20  # bytes of all bodies together that are read or worked on
    bodies_seconds: float = 2.0  # that a body waits for room among them
    stream_after: float = 5.0  # seconds of silence before an answer becomes a stream
    beat: float = 15.0  # seconds between two comments in a silent stream
    streams: int = 200  # of notifications, and sessions that wait for one


@dataclass(slots=True)
class PostRequest:
    """One `POST /mcp`, as its headers describe it."""

    headers: Headers
    caller: Caller
    principal: Principal
    cors: HeaderList  # headers that a browser needs in the response
    json: bool  # the client accepts one JSON body
    sse: bool  # the client accepts a stream of events


@dataclass(slots=True)
class HttpResponse:
    """One complete response."""

    status: int
    content: bytes = b""
    extra: HeaderList = field(default_factory=list[tuple[bytes, bytes]])
    content_type: bytes = b"application/json"

    async def send(self, send: Send) -> None:
        length = (b"content-length", b"%d" % len(self.content))
        headers = [(b"content-type", self.content_type), length, *self.extra]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.content})


# The HTTP status of a JSON-RPC error; all others are sent with 200. The handshake era knows the first four only.
_STATUS = {rpc.PARSE_ERROR: 400, rpc.INVALID_REQUEST: 400, rpc.LIMITED: 429, rpc.UNAUTHENTICATED: 401}
_STATUS_MODERN = _STATUS | dict.fromkeys(
    (rpc.INVALID_PARAMS, rpc.HEADER_MISMATCH, rpc.MISSING_CAPABILITY, rpc.UNSUPPORTED_VERSION), 400
)
_STATUS_MODERN[rpc.METHOD_NOT_FOUND] = 404


def choose_status(code: int | None, modern: bool) -> int:
    """The HTTP status of an answer with this error code; None: it is a result."""
    return 200 if code is None else (_STATUS_MODERN if modern else _STATUS).get(code, 200)


def format_event(message: bytes) -> bytes:
    """Format one message of a stream. An empty one ends a cancelled request and is sent as a comment."""
    return b"event: message\ndata: " + message + b"\n\n" if message else b": cancelled\n\n"
