"""The process side of HTTP: a socket, uvicorn on it, its logs as ours, and an end that keeps its promises."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Generator

import uvicorn

from tokonoma.core.log import log
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.fast.connection import Connection

GRACE = 2.0
"""Seconds that calls under way may still take once the process is told to end."""

CANCEL_GRACE = 2
"""Seconds more for those that were then told to stop, before their connections are cut."""

_LEVELS = {logging.ERROR: "error", logging.CRITICAL: "error", logging.WARNING: "warning"}


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; OSError says why not. Port 0: any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay (40 ms an answer) off only where the protocol is spelled out.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def run(
    app: HttpApp,
    listener: socket.socket,
    *,
    on_started: Callable[[], None] | None = None,
    grace: float = GRACE,
    connections: int | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Returns (nothing is raised, no signal repeated), so that the house can be closed.

    `connections`: how many at once, before others get a 503.
    """
    create_server(app, on_started=on_started, grace=grace, connections=connections).run(sockets=[listener])


def create_server(
    app: HttpApp,
    *,
    on_started: Callable[[], None] | None = None,
    grace: float = GRACE,
    connections: int | None = None,
) -> "HttpServer":
    """The server behind `run`, for who wants to end it without a signal: set its `should_exit`."""
    _redirect_logs()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,  # longer than clients keep theirs, so that none meets a connection just closed
        timeout_graceful_shutdown=int(grace) + CANCEL_GRACE,
        limit_concurrency=connections,
    )
    return HttpServer(config, app, on_started, grace)


class HttpServer(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, app: HttpApp, on_started: Callable[[], None] | None, grace: float
    ) -> None:
        super().__init__(config)
        self._app = app
        self._on_started = on_started
        self._grace = grace

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # uvicorn raises the signal again once it is done, which would end the process before the house is closed.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_started is not None:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().call_later(self._grace, self._app.stop)
        await super().shutdown(sockets)


class _JsonLogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        # An exception is named, not quoted: its text may hold what a caller sent.
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        fields = {} if kind is None else {"kind": kind}
        log(_LEVELS.get(record.levelno, "debug"), "http", message=record.getMessage().strip(), **fields)


def _redirect_logs() -> None:
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [_JsonLogHandler()]
        logger.propagate = False
        logger.setLevel(logging.INFO)
