"""SQLite: one file, one writer connection per process, a pool of readers, checkpoints on a thread of their own."""

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal

import apsw

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.store.database import SpanFactory, trace_block
from tokonoma.store.dialect import SQLITE, Dialect
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.connection import SqliteConnection, create_file
from tokonoma.store.sqlite.transaction import ReaderPool, SqliteReading, SqliteWriter, SqliteWriting

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


class SqliteDatabase:
    """The file is never renamed, remade or deleted: other processes may hold it open."""

    kind: Literal["sqlite"] = "sqlite"
    dialect: Dialect = SQLITE

    def __init__(self, path: Path, *, durable: bool = True, span: SpanFactory | None = None) -> None:
        create_file(path)
        self.path = path
        self.location = str(path)
        self._durable = durable
        self._span = span
        self.writer = SqliteWriter(SqliteConnection(path, "write", durable=durable))
        self._readers = ReaderPool(self.open_reader)
        self._checkpointer = Checkpointer(
            lambda: SqliteConnection(path, "checkpoint", durable=durable, wait=MAX_PAUSE), self.writer.turn
        )
        self.writer.link.connection.set_wal_hook(self._on_commit)
        atexit.register(self.close)

    def open_reader(self) -> SqliteConnection:
        """A new connection that can only read. The caller closes it."""
        return SqliteConnection(self.path, "read", durable=self._durable)

    def _on_commit(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        # The commit is done: nothing may fail here, not even a thread that cannot be started at the very end.
        with suppress(RuntimeError):
            self._checkpointer.on_commit(pages)
        return apsw.SQLITE_OK

    def reading(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Rows]:
        block = SqliteReading(self._readers, cancel_token)
        return block if self._span is None else trace_block(self._span, "store.read", block)

    def writing(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Statements]:
        block = SqliteWriting(self.writer, cancel_token)
        return block if self._span is None else trace_block(self._span, "store.write", block)

    def find_problems(self) -> list[str]:
        problems: list[str] = []
        try:
            with self.reading() as tx:
                found = [str(row[0]) for row in tx.rows("pragma integrity_check")]
                problems += [each for each in found if each != "ok"]
                for table, number, parent, _key in tx.rows("pragma foreign_key_check"):
                    problems.append(f"row {number} of {table} refers to a row of {parent} that is not there")
        except Unavailable as refusal:
            problems.append(refusal.message)
        return problems

    def size(self) -> int:
        total = 0
        for name in (self.location, f"{self.location}-wal"):
            with suppress(FileNotFoundError):
                total += os.stat(name).st_size  # noqa: PTH116 - never opened here: see sqlite_link.create
        return total

    def save_copy(self, target: Path, *, sound: bool = True) -> dict[str, int]:
        from tokonoma.store.sqlite.backup import save_sqlite

        return save_sqlite(self, target, sound=sound)

    def load_copy(self, source: Path) -> None:
        from tokonoma.store.sqlite.backup import load_sqlite

        load_sqlite(self, source)

    def close(self) -> None:
        """Quick, and safe to repeat. The last one to close folds the log into the file, which can then be copied."""
        atexit.unregister(self.close)
        self._checkpointer.close()
        self._readers.close()
        self.writer.close()
