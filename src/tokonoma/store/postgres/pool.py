"""Open connections, and what happens while the server is away.

A caller never waits for a server that is known to be away: it is refused at once, and a thread of the pool tries to
connect until that works again. A server that accepts connections and does not answer (a stopped process, a network that
swallows packets) is noticed by a second thread, see `watch.py`.
"""

import threading
import time
from collections import deque
from collections.abc import Callable

from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.store.database import store_error
from tokonoma.store.postgres.connection import Connection
from tokonoma.store.postgres.probe import ServerProbe, connect_aside
from tokonoma.store.postgres.watch import MAX_IDLE, ServerWatch

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds between two attempts to connect again


class PostgresPool:
    """`connect` opens a connection or raises Unavailable. The caller limits how many are lent at a time. `first` is a
    connection that is open already."""

    def __init__(self, connect: Callable[[], Connection], first: Connection | None = None) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: deque[tuple[float, Connection]] = deque()  # the one that was used last is lent first
        self._is_away = False
        self._closed = threading.Event()
        probe = ServerProbe(connect, first)
        self._watch = ServerWatch(probe, self._mark_away, lambda: self.drop_idle(MAX_IDLE), self._closed)

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
        return self._open()

    def _open(self) -> Connection:
        opening = connect_aside(self._connect, self.put)
        self._watch.add(opening)
        try:
            connection = opening.result()
        except Unavailable:
            self._mark_away()
            raise
        finally:
            self._watch.remove(opening)
        self._watch.add(connection)
        return connection

    def put(self, connection: Connection) -> None:
        self._watch.remove(connection)
        with self._lock:
            is_kept = not connection.closed and not self._is_away and not self._closed.is_set()
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
        self._watch.stop()
        self.drop_idle()

    def _mark_away(self) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, True
        self.drop_idle()
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
