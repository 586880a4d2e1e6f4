"""The checkpointer moves what was committed from SQLite's log into its file, off the path of those who write."""

import threading
from collections.abc import Callable

import apsw

from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.store.sqlite_link import Link

PAGES = 1_000
"""Pages in the log (4 MB) from which it is worth the work."""

TOO_MANY = 16 * PAGES
"""Pages from which readers and writers are made to wait for a moment, so that the log can start again."""


class Checkpointer:
    """One daemon thread, started by the first log that has grown."""

    def __init__(self, open_link: Callable[[], Link]) -> None:
        self._open = open_link
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._seen, self._due = 0, PAGES
        self._link: Link | None = None
        self._thread: threading.Thread | None = None

    def grown(self, pages: int) -> None:
        """Called after a commit, by the writer: must be quick."""
        if pages < self._seen:
            self._due = PAGES  # the log has started again
        self._seen = pages
        if pages < self._due:
            return
        self._due = pages + PAGES  # a reader may keep the log from being emptied: do not ask after every commit
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
            except (apsw.BusyError, apsw.InterruptError):
                continue  # somebody else is at it, or the house closes; the next commit asks again
            except (apsw.Error, Refusal) as error:
                log("warning", "store.checkpoint_failed", error=type(error).__name__)
        if self._link is not None:
            self._link.close()

    def _checkpoint(self) -> None:
        if self._link is None:
            link = self._open()
            with self._guard:
                self._link = link
        connection = self._link.connection
        before, moved, pages = -1, 0, 1
        # Commits go on meanwhile. Each round has less to move than the one before, until none is left or a reader holds
        # the rest; only a log that was moved to its end starts again at its beginning.
        while before < moved < pages and not self._closed:
            before = moved
            pages, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if pages > TOO_MANY and not self._closed:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

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
