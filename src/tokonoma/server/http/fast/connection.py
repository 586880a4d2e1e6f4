"""A connection that serves the plain case by itself: a `POST /mcp` that has come whole and is answered soon.

Such a request needs no coroutine. It goes from the parser to a worker, and the worker writes the answer to the socket.
Whatever is not plain (another path, a body in pieces, pipelining, a stream, an answer that takes its time) is handed to
uvicorn and the ASGI application, at any moment before the answer. Both ways ask the same `Endpoint`.
"""

import asyncio
import socket
import threading
from typing import Any, cast

from uvicorn._types import HTTPScope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.fast.flight import Flight, response
from tokonoma.server.http.fast.turn import turn_of
from tokonoma.server.http.responses import HttpResponse
from tokonoma.server.http.security import CLOSE, HeaderList
from tokonoma.server.http.stream import QUICK, MessageQueue, deliver
from tokonoma.server.http.timers import alarms
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import log_fault
from tokonoma.server.mcp.protocol import INTERNAL_ERROR

_PATHS = frozenset((b"/mcp", b"/mcp/"))


class Connection(HttpToolsProtocol):
    peer: socket.socket

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(config.app, HttpApp)
        self._endpoint = config.app
        self._turn = turn_of(self.loop)
        self.lock = threading.Lock()
        self._remote: str | None = None
        self._parts: list[bytes] | None = None  # the body so far, of a request that may be served here
        self._whole: tuple[HeaderList, bytes] | None = None  # a request that is begun at the end of this turn
        self._flight: Flight | None = None
        self._heard = 0.0  # when something came last
        self._watched = False  # whether an alarm looks at the flight
        self._idle: asyncio.TimerHandle | None = None

    @property
    def standing(self) -> HeaderList:
        return self.server_state.default_headers

    # What asyncio and uvicorn tell

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._remote = None if self.client is None else str(self.client[0])
        # asyncio lends its socket without `send`; this is the same one under another name.
        self.peer = socket.socket(fileno=transport.get_extra_info("socket").fileno())

    def connection_lost(self, exc: Exception | None) -> None:
        self._begin()  # in the handshake era a call is carried out, whether or not its caller waits
        if self._flight is not None:
            self._flight.lost()
        self.peer.detach()  # it is the transport's to close
        if self._idle is not None:
            self._idle.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        super().data_received(data)
        if self._parts is not None:  # the rest of the body is still on its way, or what came was no HTTP
            if self.transport.is_closing():
                self._parts = None
            else:
                self._by_uvicorn()

    def shutdown(self) -> None:
        self._settle()
        super().shutdown()

    # What the parser tells

    def on_message_begin(self) -> None:
        # uvicorn makes a scope here, which a request that is served directly has no use for.
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_headers_complete(self) -> None:
        self._settle()
        if self._plain():
            self._parts = []
        else:
            self._by_uvicorn()

    def on_body(self, body: bytes) -> None:
        if self._parts is None:
            super().on_body(body)
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        if self._parts is None:
            super().on_message_complete()
            return
        raw, self._parts = b"".join(self._parts), None
        self._whole = self.headers, raw
        self._turn.end_with(self._begin)

    def _plain(self) -> bool:
        parser: Any = self.parser
        return (
            self.url in _PATHS
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            and not self.expect_100_continue
            and not self._occupied()
            and self.transport.get_write_buffer_size() == 0
            and not self.transport.is_closing()
            and (self.limit_concurrency is None or len(self.connections) < self.limit_concurrency)
        )

    def _occupied(self) -> bool:
        """Whether uvicorn still has a request to answer."""
        cycle: Any = self.cycle  # None before the first
        return cycle is not None and not cycle.response_complete

    def _by_uvicorn(self) -> None:
        """Let uvicorn have the request, as far as it has come."""
        url, headers, expects, parts = self.url, self.headers, self.expect_100_continue, self._parts or ()
        self._parts = None
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()
        for part in parts:
            super().on_body(part)

    # The plain case

    def _begin(self) -> None:
        if self._whole is not None:
            headers, raw = self._whole
            self._whole = None
            self._serve(headers, raw)

    def _serve(self, headers: HeaderList, raw: bytes) -> None:
        self._flight = flight = Flight(self)
        try:
            reply = self._endpoint.answer(headers, self._remote, raw, flight)
        except Exception as error:
            log_fault(error, "/mcp")
            reply = HttpResponse(500, encode.encode_error(None, INTERNAL_ERROR, "Internal error"))
        if self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._look_idle)
        if reply is not None:
            self._flight = None
            self.transport.write(response(self.standing, reply))
            if CLOSE in reply.extra:
                self.transport.close()
        elif not self._watched and not flight.over:
            self._watched = True
            alarms().set(QUICK, self._look)

    def _look(self) -> None:
        """Whether the call under way has become a slow one. One alarm for many calls, most of which are over by now."""
        flight = self._flight
        left = self._heard + QUICK - self.loop.time()
        self._watched = flight is not None and not flight.over and left > 0
        if self._watched:
            alarms().set(left, self._look)
        elif flight is not None:
            flight.hand_over()

    def _look_idle(self) -> None:
        """Close a connection on which nothing has come for long. uvicorn sets a timer after each of its responses."""
        self._idle = None
        if self.timeout_keep_alive_task is not None:
            return
        busy = self._occupied() or (self._flight is not None and not self._flight.over)
        left = self.timeout_keep_alive if busy else self._heard + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._idle = self.loop.call_later(left, self._look_idle)
        else:
            self.timeout_keep_alive_handler()

    def _settle(self) -> None:
        """Before anything else happens on this connection, a call under way becomes uvicorn's."""
        self._begin()
        if self._flight is not None:
            self._flight.hand_over()
            self._flight = None

    def adopt(self, outbox: MessageQueue) -> None:
        async def rest(scope: Any, receive: Any, send: Any) -> None:
            del scope
            await deliver(outbox, self._endpoint.limits, receive, send)

        self.cycle = RequestResponseCycle(
            scope=cast("HTTPScope", {"type": "http", "method": "POST"}),
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.standing,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=True,
            on_response=self.on_response_complete,
        )
        self.cycle.more_body = False
        self._start_asgi_task(self.cycle, rest)
