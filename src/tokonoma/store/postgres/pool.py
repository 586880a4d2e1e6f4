"""Open connections, and what happens while the server is away.

A caller never waits for a server that is known to be away: it is refused at once, and a thread of the pool tries to
connect until that works again. A server that accepts connections and does not answer (a stopped process, a network that
swallows packets) is noticed by a second thread: when a statement takes long, it asks for a new connection, and if that
does not come either, the statements that wait are given up.
"""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg.errors import ConnectionTimeout
from psycopg.pq import TransactionStatus

from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.store.database import store_error
from tokonoma.store.postgres.connection import Connection

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds between two attempts to connect again
_MAX_IDLE = 600.0  # seconds that an unused connection stays open
_LONG = 1.0  # seconds after which a statement may be one that is never answered
_LOOK = 0.5  # seconds between two looks at the statements that run
_ALIVE = 5.0  # seconds that a server counts as alive after it has accepted a connection


class PostgresPool:
    """`connect` opens a connection or raises Unavailable. The caller limits how many are lent at a time."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: deque[tuple[float, Connection]] = deque()  # the one that was used last is lent first
        self._is_away = False
        self._closed = threading.Event()
        self._watch = StatementWatch(connect, self._mark_away, lambda: self.drop_idle(_MAX_IDLE), self._closed)

    def take(self) -> Connection:
        """An open connection; Unavailable if there is none and the server is away."""
        with self._lock:
            if self._closed.is_set():
                raise store_error("closed")
            if self._idle:
                connection = self._idle.pop()[1]
                self._watch.add(connection)
                return connection
            if self._is_away:
                raise store_error("database")
        try:
            connection = self._connect()
        except Unavailable:
            self._mark_away()
            raise
        self._watch.add(connection)
        return connection

    def put(self, connection: Connection) -> None:
        self._watch.remove(connection)
        with self._lock:
            is_kept = not connection.closed and not self._closed.is_set()
            if is_kept:
                self._idle.append((time.monotonic(), connection))
        if not is_kept:
            connection.close()

    def drop_idle(self, seconds: float = 0.0) -> None:
        """Close the connections that nobody has used for so long. All of them, if one was dead: the others probably are
        too."""
        old: list[Connection] = []
        with self._lock:
            while self._idle and self._idle[0][0] <= time.monotonic() - seconds:
                old.append(self._idle.popleft()[1])
        for each in old:
            each.close()

    def close(self) -> None:
        self._closed.set()
        self._watch.wake()
        self.drop_idle()

    def _mark_away(self) -> None:
        self.drop_idle()
        with self._lock:
            was_away, self._is_away = self._is_away, True
        if not was_away:
            log("warning", "store.away", says="The database does not answer. It is tried again until it does.")
            threading.Thread(target=self._reconnect, name="tokonoma-reconnect", daemon=True).start()

    def _reconnect(self) -> None:
        pause = 0.0
        while not self._closed.wait(pause):
            try:
                connection = self._connect()
            except Unavailable:
                pause = min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
                continue
            with self._lock:
                self._is_away = False
            log("info", "store.back", says="The database answers again.")
            self.put(connection)
            return


class StatementWatch:
    """The connections that are lent. Its thread looks at them while there are any; else it tidies up now and then."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        mark_away: Callable[[], None],
        tidy: Callable[[], None],
        closed: threading.Event,
    ) -> None:
        self._connect, self._mark_away, self._tidy, self._closed = connect, mark_away, tidy, closed
        self._lent: dict[Connection, float] = {}  # and since when
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._alive_until = 0.0

    def add(self, connection: Connection) -> None:
        with self._lock:
            self._lent[connection] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tokonoma-statements", daemon=True)
                self._thread.start()
        self.wake()

    def wake(self) -> None:
        if not self._wanted.is_set():
            self._wanted.set()

    def remove(self, connection: Connection) -> None:
        with self._lock:
            self._lent.pop(connection, None)

    def _run(self) -> None:
        while not self._closed.wait(_LOOK):
            with self._lock:
                if not self._lent:
                    self._wanted.clear()
            while not self._wanted.wait(_MAX_IDLE):
                self._tidy()
            at = time.monotonic()
            if at >= self._alive_until and self._list_long(at) and not self._server_answers():
                self._mark_away()
                self._shut_long(at)

    def _list_long(self, at: float) -> list[Connection]:
        """Those whose statement was sent a while ago and is not answered."""
        return [
            connection
            for connection, since in list(self._lent.items())
            if since < at - _LONG and connection.info.transaction_status == TransactionStatus.ACTIVE
        ]

    def _server_answers(self) -> bool:
        """Whether it accepts a new connection, or refuses one: both are answers."""
        try:
            self._connect().close()
        except Unavailable as error:
            if isinstance(error.__cause__, ConnectionTimeout):
                return False
        self._alive_until = time.monotonic() + _ALIVE
        return True

    def _shut_long(self, at: float) -> None:
        with self._lock:  # a connection that is returned meanwhile may be closed, and its number belong to another file
            for connection in self._list_long(at):
                with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)
