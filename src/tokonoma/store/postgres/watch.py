"""Who waits for the server, and for how long. Statements may take as long as they need on a server that answers. So
when one has waited a while, the server is asked something that costs it nothing; if it does not answer that either, it
is away, and everybody who waits for it is told."""

import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

import psycopg
from psycopg.pq import TransactionStatus

from tokonoma.store.database import store_error
from tokonoma.store.postgres.connection import Connection
from tokonoma.store.postgres.probe import ServerProbe, give_up

MAX_IDLE = 600.0
"""Seconds that an unused connection stays open."""
_LONG = 0.2  # seconds after which somebody may wait in vain
_LOOK = 0.1  # seconds between two looks
# With the time limits of the probe: a caller waits for at most 0.75 s, so that it is answered within a second.


class ServerWatch:
    """The connections that are lent, and those that are being opened. Its thread looks at them while there are any;
    else it tidies up now and then."""

    def __init__(
        self,
        probe: ServerProbe,
        mark_away: Callable[[], None],
        tidy: Callable[[], None],
        closed: threading.Event,
    ) -> None:
        self._probe, self._mark_away, self._tidy, self._closed = probe, mark_away, tidy, closed
        self._waited_for: dict[Connection | Future[Connection], float] = {}  # and since when
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, awaited: Connection | Future[Connection]) -> None:
        with self._lock:
            self._waited_for[awaited] = time.monotonic()
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="tokonoma-statements", daemon=True)
                self._thread.start()
        self._wake()

    def remove(self, awaited: Connection | Future[Connection]) -> None:
        with self._lock:
            self._waited_for.pop(awaited, None)

    def stop(self) -> None:
        """After `closed` is set."""
        with self._lock:
            thread = self._thread
        if thread is None:
            self._probe.close()
        else:
            self._wake()
            thread.join(1.0)

    def _wake(self) -> None:
        if not self._wanted.is_set():
            self._wanted.set()

    def _run(self) -> None:
        while not self._closed.wait(_LOOK):
            with self._lock:
                if not self._waited_for:
                    self._wanted.clear()
            while not self._wanted.wait(MAX_IDLE):
                self._tidy()
            if self._list_waiting(time.monotonic() - _LONG) and not self._probe.is_answered():
                self._mark_away()
                self._fail_waiting()
                self._probe.forget()
        self._probe.close()

    def _list_waiting(self, before: float) -> list[Connection | Future[Connection]]:
        """What was asked for before that time and has not come: an answer to a statement, or a connection. A
        connection counts from when it was lent: a look at a server that answers costs nothing."""
        return [
            awaited
            for awaited, since in list(self._waited_for.items())
            if since < before
            and (isinstance(awaited, Future) or awaited.info.transaction_status == TransactionStatus.ACTIVE)
        ]

    def _fail_waiting(self) -> None:
        with self._lock:  # a connection that is returned meanwhile may be closed, and its number belong to another file
            for awaited in self._list_waiting(time.monotonic()):
                if isinstance(awaited, Future):
                    give_up(awaited, store_error("database"))
                    continue
                with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(awaited.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)
