"""Cancelling what a PostgreSQL connection is doing, on behalf of a Stop."""

import threading
from contextlib import suppress

import psycopg

from tokonoma.core.cancellation import CancelToken
from tokonoma.store.postgres.connection import Connection

_FIRST, _LONGEST = 0.05, 1.0  # seconds between two askings


class StatementCanceller:
    """Hooked to a Stop for one block. The server ignores a cancel that comes in the instant before a statement starts,
    so the asking is repeated until the block has noticed."""

    __slots__ = ("_connection", "_done", "_stop", "_thread")

    def __init__(self, connection: Connection, stop: CancelToken) -> None:
        self._connection = connection
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = stop
        stop.attach(self._start)

    def _start(self) -> None:
        # A thread, because Stop.set must not wait for a server far away.
        self._thread = threading.Thread(target=self._run, name="tokonoma-cancel", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        wait = _FIRST
        while not self._done.is_set():
            with suppress(psycopg.Error, OSError):
                self._connection.cancel_safe(timeout=5.0)
            if self._done.wait(wait):
                return
            wait = min(wait * 2, _LONGEST)

    def detach(self) -> bool:
        """Unhook; true if a cancel was sent, after which the connection must not be used by anybody else."""
        self._stop.detach(self._start)
        if self._thread is None:
            return False
        self._done.set()
        self._thread.join()
        return True
