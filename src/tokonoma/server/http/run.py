"""The HTTP server process: a listening socket, TLS, uvicorn, its logs as ours, and an orderly end."""

import asyncio
import contextlib
import logging
import math
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import uvicorn

from tokonoma.core.errors import Invalid, Unready
from tokonoma.core.log import log
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.connections import ConnectionLimits, Connections, LimitedConnection

GRACE = 0.5
"""Seconds that running calls may still take after a signal to end; then they are cancelled."""

CANCEL_GRACE = 1
"""Seconds, after the whole seconds of the grace, until the connections of cancelled calls are closed."""

_ACCEPT_PAUSE = 0.05  # seconds, after the system has refused one

_LEVELS = {logging.ERROR: "error", logging.CRITICAL: "error", logging.WARNING: "warning"}


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket, or raise OSError. Port 0: any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay (40 ms per answer) off only where the protocol is given.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def load_tls(cert: str, key: str) -> ssl.SSLContext | None:
    """Read the certificate and its key (PEM files) for TLS 1.3; None if neither is set."""
    if not cert and not key:
        return None
    if not cert or not key:
        given, missing = ("tls_cert", "tls_key") if cert else ("tls_key", "tls_cert")
        raise Invalid(f"{given} is set, but {missing} is not. TLS needs both.", setting=missing)
    for setting, path in (("tls_cert", cert), ("tls_key", key)):
        try:
            Path(path).expanduser().read_bytes()
        except OSError as error:
            raise Unready(f"{setting}: cannot read {path}: {error.strerror or error}.", reason="tls") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        # An empty password: without one, OpenSSL would ask for it on the terminal.
        context.load_cert_chain(Path(cert).expanduser(), Path(key).expanduser(), password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise Unready("tls_key does not belong to the certificate in tls_cert.", reason="tls") from error
        raise Unready("tls_cert and tls_key must be PEM files, the key without a password.", reason="tls") from error
    return context


class HttpServer(uvicorn.Server):
    """`run` serves until SIGTERM or SIGINT, and returns without raising or repeating the signal, so that the caller can
    close what it has opened. To end it without a signal, set `should_exit`."""

    def __init__(
        self,
        app: HttpApp,
        *,
        tls: ssl.SSLContext | None = None,
        on_started: Callable[[], None] | None = None,
        grace: float = GRACE,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self._app, self._on_started, self._grace = app, on_started, grace
        self._limits = limits or ConnectionLimits()
        self._tasks: set[asyncio.Task[None]] = set()
        _redirect_logs()
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=math.ceil(self._limits.idle_seconds),
            timeout_graceful_shutdown=int(grace) + CANCEL_GRACE,
        )
        config.load()
        config.ssl = tls
        super().__init__(config)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # uvicorn would raise the signal again at the end, which ends the process before the journal is closed.
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
        """Accept connections ourselves: uvicorn would not count those that are still in their TLS handshake."""
        connections = Connections(self._limits)
        self.servers = []
        self._start_task(connections.watch())
        for listener in sockets or []:
            listener.setblocking(False)
            self._start_task(self._accept(listener, connections))
        self.started = True
        if self._on_started is not None:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        asyncio.get_running_loop().call_later(self._grace, self._app.stop)
        await super().shutdown(sockets)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the loop itself holds tasks by weak references only
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(self, listener: socket.socket, connections: Connections) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError as error:  # too many files are open, or the client has gone again
                log("warning", "http", message="cannot accept a connection", errno=error.errno)
                connections.make_room()
                await asyncio.sleep(_ACCEPT_PAUSE)
                continue
            connection = LimitedConnection(connections, client, self.config, self.server_state, self.lifespan.state)
            if connections.admit(connection):
                self._start_task(self._open(client, connection, connections))
            else:
                client.close()

    async def _open(self, client: socket.socket, connection: LimitedConnection, connections: Connections) -> None:
        seconds = None if self.config.ssl is None else self._limits.header_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, client, ssl=self.config.ssl, ssl_handshake_timeout=seconds
            )
        except OSError:  # the handshake has failed, or took too long
            connections.remove(connection)


class _JsonLogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        # The exception's class only: its text may contain what a caller sent.
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        fields = {} if kind is None else {"kind": kind}
        log(_LEVELS.get(record.levelno, "debug"), "http", message=record.getMessage().strip(), **fields)


def _redirect_logs() -> None:
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [_JsonLogHandler()]
        logger.propagate = False
        logger.setLevel(logging.INFO)
