"""Limits on connections: how many there are, how long one may wait, and how much it may send before its body.

A connection waits while no request of it is under way: in the TLS handshake, between requests, while headers arrive. If
there are too many, the one that has waited longest makes room. So idle and slow clients cannot keep others out.
"""

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from tokonoma.server.http.asgi import Event, HttpResponse, Receive, Send
from tokonoma.server.http.security import CLOSE
from tokonoma.server.mcp import message as rpc

MAX_HEADERS = 64 * 1024
"""Bytes of a request's line and headers, or of the trailers after its body."""

RESERVED = 8
"""Connections beyond the limit, for probes, and to tell others that there is no room."""

PROBES = ("/health", "/ready")
RETRY_AFTER = (b"retry-after", b"1")

_FILES_KEPT = 128  # descriptors for the database, the vault's files, outgoing connections
_LINGER = 2.0  # seconds to read on after a refusal: a reset would destroy the response before the client has read it
_FULL = "The server has as many connections as it can serve. Try again in a second."


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections: int = 500
    header_seconds: float = 10.0  # for the TLS handshake and the headers of a request
    idle_seconds: float = 75.0  # longer than clients keep theirs, so that none meets a connection just closed
    stalled_seconds: float = 30.0  # for a client that does not read its answer


def bound_connections(wanted: int) -> int:
    """Return how many connections there may be, so that files can still be opened."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, most - RESERVED - min(_FILES_KEPT, most // 2)))


class Connections:
    """All connections of a server. Used on the event loop's thread only."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._most = bound_connections(limits.connections)
        self._open: set[LimitedConnection] = set()
        # Until when each may go on like this; the one that has waited longest comes first.
        self._waiting: dict[LimitedConnection, float] = {}
        self._stalled: dict[LimitedConnection, float] = {}
        self._now = asyncio.get_running_loop().time

    @property
    def is_full(self) -> bool:
        return len(self._open) > self._most

    def admit(self, connection: "LimitedConnection") -> bool:
        """Count a new connection. False: every other one, reserved ones included, is busy with a request."""
        if len(self._open) >= self._most:
            if self._waiting:
                self.make_room()
            elif len(self._open) >= self._most + RESERVED:
                return False
            else:
                connection.reserve()
        self._open.add(connection)
        self.start_waiting(connection, self.limits.header_seconds)
        return True

    def make_room(self) -> None:
        """Close the connection that has waited longest."""
        oldest = next(iter(self._waiting), None)
        if oldest is not None:
            self.remove(oldest)
            oldest.drop(503, _FULL, RETRY_AFTER)

    def remove(self, connection: "LimitedConnection") -> None:
        self._open.discard(connection)
        self.stop_waiting(connection)
        self._stalled.pop(connection, None)

    def start_waiting(self, connection: "LimitedConnection", seconds: float) -> None:
        if connection in self._open:
            self._waiting.pop(connection, None)
            self._waiting[connection] = self._now() + seconds

    def hurry(self, connection: "LimitedConnection") -> None:
        """A request begins to arrive: from here on its headers have their own time, however slowly they come."""
        due = self._waiting.get(connection)
        if due is not None:
            self._waiting[connection] = min(due, self._now() + self.limits.header_seconds)

    def stop_waiting(self, connection: "LimitedConnection") -> None:
        self._waiting.pop(connection, None)

    def set_stalled(self, connection: "LimitedConnection", stalled: bool) -> None:
        if stalled:
            self._stalled[connection] = self._now() + self.limits.stalled_seconds
        else:
            self._stalled.pop(connection, None)

    async def watch(self) -> None:
        """Close what is overdue, for ever. One task for all: a timer for each request would cost more than most do."""
        while True:
            await asyncio.sleep(min(1.0, self.limits.header_seconds / 4))
            now = self._now()
            late = [each for group in (self._waiting, self._stalled) for each, due in group.items() if due <= now]
            for connection in late:
                if connection in self._stalled and connection.has_read_on():
                    self.set_stalled(connection, True)
                else:
                    self.remove(connection)
                    connection.drop(408, "The request's headers did not arrive in time.")


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, with limits, and without taking the trailers of a body for headers."""

    def __init__(
        self,
        connections: Connections,
        client: socket.socket,
        config: uvicorn.Config,
        state: ServerState,
        app_state: dict[str, Any],
    ) -> None:
        super().__init__(config, state, app_state)
        self._all, self._socket = connections, client
        with suppress(AttributeError, OSError):  # not on every system; or the client has gone already
            # The system holds back megabytes otherwise, and a client that reads slowly would look as if it did not.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, HIGH_WATER_LIMIT)
        self._unparsed = 0  # bytes since the parser has last completed headers or a piece of a body
        self._in_headers = self._in_message = self._is_idle = self._is_refused = False
        self._unsent = 0  # bytes of an answer that its client had not read when last looked

    def reserve(self) -> None:
        """Serve probes only, as long as there is no room for more."""
        self.app = self._serve_probes  # type: ignore[assignment]

    async def _serve_probes(self, scope: Event, receive: Receive, send: Send) -> None:
        if self._all.is_full and scope["path"] not in PROBES:
            content = rpc.encode_error(None, rpc.LIMITED, _FULL)
            await HttpResponse(503, content, [RETRY_AFTER, CLOSE]).send(send)
        else:
            await self.config.loaded_app(scope, receive, send)  # type: ignore[arg-type]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Writing resumes when all is sent: only then does the connection wait again.
        transport.set_write_buffer_limits(high=HIGH_WATER_LIMIT, low=0)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._all.remove(self)

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            self._is_idle = False
            self._all.hurry(self)
        while data and not self._is_refused and not self.transport.is_closing():
            room = MAX_HEADERS - self._unparsed
            self._unparsed += min(len(data), room)
            super().data_received(data if len(data) <= room else data[:room])
            data = data[room:]
            if self._unparsed >= MAX_HEADERS:
                self._refuse_headers()

    def on_message_begin(self) -> None:
        self._in_headers = self._in_message = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._all.stop_waiting(self)
        self._in_headers, self._unparsed = False, 0
        super().on_headers_complete()
        # The request keeps the old list. Trailers go into this one, which nobody reads: whoever checked the headers, a
        # proxy for example, has not seen them.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        self._in_message = False
        super().on_message_complete()
        if self.cycle.response_complete:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # and no further request was sent meanwhile
            self._wait()

    def _wait(self) -> None:
        """Wait for the next request, or for the rest of a body that nobody wants."""
        if self.flow.write_paused:
            return  # the client is still reading
        limits = self._all.limits
        self._is_idle = not self._in_message and not self.transport.is_closing()
        self._all.start_waiting(self, limits.idle_seconds if self._is_idle else limits.header_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unsent = self.transport.get_write_buffer_size()
        self._all.set_stalled(self, True)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._all.set_stalled(self, False)
        if self.cycle.response_complete:
            self._wait()

    def has_read_on(self) -> bool:
        """Whether the client has read more of its answer since the last look, however slowly."""
        before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
        return self._unsent < before

    def drop(self, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        """Close at once, with a response if a request had begun to arrive."""
        if self.transport is None:  # pyright: ignore[reportUnnecessaryComparison]  # still in the TLS handshake
            with suppress(OSError):  # the client has gone already
                self._socket.shutdown(socket.SHUT_RDWR)  # the handshake fails, and closes it
            return
        self._send_refusal(status, message, *headers)
        self.transport.abort()

    def _refuse_headers(self) -> None:
        self._is_refused = True  # what else it sends is discarded
        if self._send_refusal(431, f"The headers are larger than {MAX_HEADERS} bytes."):
            self._all.start_waiting(self, _LINGER)
        else:
            self.transport.abort()

    def _send_refusal(self, status: int, message: str, *headers: tuple[bytes, bytes]) -> bool:
        """Answer a request whose headers are incomplete; False if another response is on its way."""
        is_sending = bool(self.cycle) and not self.cycle.response_complete
        if is_sending or not self._in_headers or self.transport.is_closing():
            return False
        content = rpc.encode_error(None, rpc.INVALID_REQUEST, message)
        length = (b"content-length", b"%d" % len(content))
        lines = [b"%s: %s\r\n" % pair for pair in ((b"content-type", b"application/json"), length, CLOSE, *headers)]
        self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", content]))
        return True
