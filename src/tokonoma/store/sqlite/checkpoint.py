"""The checkpointer moves what was committed from SQLite's log into its file, off the path of those who write."""

import threading
from collections.abc import Callable

import apsw

from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.connection import SqliteConnection

CHECKPOINT_PAGES = 1_000
"""Pages in the log (4 MB) from which it is worth the work."""

BLOCKING_PAGES = 16 * CHECKPOINT_PAGES
"""Pages from which readers are waited for, and writers with them, so that the log can start again."""

MAX_PAUSE = 0.2
"""Seconds that such a wait may take."""


class Checkpointer:
    """One daemon thread, started by the first log that has grown."""

    def __init__(self, open_link: Callable[[], SqliteConnection], turn: FairLock) -> None:
        self._open, self._turn = open_link, turn
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._seen, self._due = 0, CHECKPOINT_PAGES
        self._link: SqliteConnection | None = None
        self._thread: threading.Thread | None = None

    def on_commit(self, pages: int) -> None:
        """Called after a commit, by the writer: must be quick."""
        if pages < self._seen:
            self._due = CHECKPOINT_PAGES  # the log has started again
        self._seen = pages
        if pages < self._due:
            return
        self._due = (
            pages + CHECKPOINT_PAGES
        )  # a reader may keep the log from being emptied: do not ask after every commit
        with self._guard:
            if self._closed:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tokonoma-checkpoint", daemon=True)
                self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            if self._closed:
                break
            self._wake.clear()
            try:
                self._checkpoint()
            except (apsw.BusyError, apsw.InterruptError, Unavailable):
                continue  # somebody else is at it, or the house closes; a later commit asks again
            except apsw.Error as error:
                log("warning", "store.checkpoint_failed", error=type(error).__name__)
        if self._link is not None:
            self._link.close()

    def _checkpoint(self) -> None:
        if self._link is None:
            link = self._open()
            with self._guard:
                self._link = link
        connection = self._link.connection
        # Most of the work, beside those who write.
        pages, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        held = moved < pages  # somebody still reads an older state
        if (held and pages < BLOCKING_PAGES) or self._closed:
            return
        # Then the few pages that came meanwhile, in a turn of its own: a log that was moved to its end starts again
        # at its beginning, and writing over old pages takes half the time of adding new ones.
        self._turn.acquire(wait=MAX_PAUSE)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if held else apsw.SQLITE_CHECKPOINT_FULL)
        finally:
            self._turn.release()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            thread, link = self._thread, self._link
        self._wake.set()
        if thread is None:
            return
        if link is not None:
            link.interrupt()
        thread.join()
