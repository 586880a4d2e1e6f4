"""SQLite: one file, one writer connection per process, a pool of readers, checkpoints on a thread of their own."""

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path

import apsw

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.store.database import SpanFactory, store_error, trace_block
from tokonoma.store.dialect import SQLITE, DatabaseKind, Dialect
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.checksums import MARK
from tokonoma.store.sqlite.connection import SqliteConnection, create_file, translate_errors
from tokonoma.store.sqlite.frozen import FrozenReason, check_log_is_empty, find_frozen_reason
from tokonoma.store.sqlite.pages import explain_problem, find_lost_pages
from tokonoma.store.sqlite.reserve import DiskReserve
from tokonoma.store.sqlite.statistics import update_statistics
from tokonoma.store.sqlite.transaction import ReaderPool, SqliteReading, SqliteWriter, SqliteWriting

CHECKPOINT_PAGES = 1_000  # pages in the log (4 MB) from which a checkpoint is worth the work
MAX_PAUSE = 0.1  # seconds that writers may wait for it
FIRST_RETRY, LAST_RETRY = 0.1, 2.0  # seconds between two attempts while somebody still reads the log


class Checkpointer:
    """Moves commits from the log into the file, on a daemon thread that starts when the log has first grown."""

    def __init__(self, open_connection: Callable[[], SqliteConnection], writer_lock: FairLock) -> None:
        self._open, self._writer_lock = open_connection, writer_lock
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._seen, self._due = 0, CHECKPOINT_PAGES
        self._connection: SqliteConnection | None = None
        self._thread: threading.Thread | None = None

    def on_commit(self, pages: int) -> None:
        """Called after a commit, by the writer: must be quick."""
        if pages < self._seen:
            self._due = CHECKPOINT_PAGES  # the log has started again
        self._seen = pages
        if pages < self._due:
            return
        self._due = pages + CHECKPOINT_PAGES  # a reader may hold the log: do not try after every commit
        with self._guard:
            if self._closed:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tokonoma-checkpoint", daemon=True)
                self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        retry: float | None = None  # seconds; None: the next commit that finds the log too long wakes it
        while True:
            self._wake.wait(retry)
            if self._closed:
                break
            self._wake.clear()
            try:
                self._checkpoint()
            except (apsw.BusyError, apsw.InterruptError, Unavailable):
                # Somebody reads the log, or another process does the same, or the database closes.
                retry = FIRST_RETRY if retry is None else min(2 * retry, LAST_RETRY)
                continue
            except apsw.Error as error:
                log("warning", "store.checkpoint_failed", error=type(error).__name__)
            retry = None
        if self._connection is not None:
            self._connection.close()

    def _checkpoint(self) -> None:
        if self._connection is None:
            opened = self._open()
            with self._guard:
                self._connection = opened
        connection = self._connection.raw
        # Most of the work, in parallel to writers.
        pages, _moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if pages < CHECKPOINT_PAGES or self._closed:
            return  # another process was quicker
        # Then the few new pages, with the writer's lock, and until nobody reads the log any more: only then does the
        # next commit start it again. Under load there is always somebody who reads, so this has to be waited for.
        # Overwriting old pages takes half the time of adding new ones; only a log that has grown too long is cut.
        grown = pages > 2 * CHECKPOINT_PAGES
        self._writer_lock.acquire(wait=MAX_PAUSE)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if grown else apsw.SQLITE_CHECKPOINT_RESTART)
        finally:
            self._writer_lock.release()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            thread, connection = self._thread, self._connection
        self._wake.set()
        if thread is None:
            return
        if connection is not None:
            connection.interrupt()
        thread.join()


class SqliteDatabase:
    """The file is never renamed, replaced or deleted: other processes may have it open."""

    kind: DatabaseKind = "sqlite"
    dialect: Dialect = SQLITE

    def __init__(self, path: Path, *, durable: bool = True, span: SpanFactory | None = None) -> None:
        create_file(path)
        self.path = path
        self.location = str(path)
        self._durable = durable
        self._span = span
        self._reserve = DiskReserve(path)
        self._frozen: FrozenReason | None = find_frozen_reason(path)
        self.writer = SqliteWriter(self._open_writer())
        self._readers = ReaderPool(self.open_reader)
        self._checkpointer = Checkpointer(self._open_mover, self.writer.lock)
        self.writer.connection.raw.set_wal_hook(self._on_commit)
        atexit.register(self.close)

    def _open_writer(self) -> SqliteConnection:
        """On a disk without any room, the reserve is given up first; without one, the database is only read."""
        while True:
            try:
                return SqliteConnection(self.path, durable=self._durable, frozen=self._frozen)
            except Unavailable as error:
                if error.reason != "disk_full" or self._frozen is not None:
                    raise
                if not self._reserve.give_up():
                    check_log_is_empty(self.path)
                    self._frozen = "disk_full"

    def open_reader(self) -> SqliteConnection:
        """A new connection that can only read. The caller closes it."""
        return SqliteConnection(self.path, durable=self._durable, reads=True, frozen=self._frozen)

    def keep_reserve(self) -> None:
        self._reserve.fill()

    def give_up_reserve(self) -> bool:
        return self._reserve.give_up()

    def check_room(self) -> None:
        if self._reserve.is_given_up() and not self._reserve.fill():
            raise store_error("disk_full", self.location)

    def _open_mover(self) -> SqliteConnection:
        """A connection that moves commits from the log into the file."""
        return SqliteConnection(self.path, durable=self._durable, wait=MAX_PAUSE)

    def _on_commit(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        # The commit is done: nothing may fail here, not even a thread that cannot start during shutdown.
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
                found = [line for row in tx.rows("pragma integrity_check") for line in str(row[0]).splitlines()]
                problems += [explain_problem(each) for each in found if each != "ok" and not each.startswith("***")]
                for table, number, parent, _key in tx.rows("pragma foreign_key_check"):
                    problems.append(f"row {number} of {table} refers to a row of {parent} that is not there")
            problems += self._find_lost_pages()
        except Unavailable as refusal:
            problems.append(refusal.message)
        return problems

    def _find_lost_pages(self) -> list[str]:
        with translate_errors(self.path), closing(self.open_reader()) as reader:
            if self._frozen is not None:  # the log is empty, and nobody writes
                return find_lost_pages(reader.raw, None, self.path)
            with closing(self._open_mover()) as mover:
                return find_lost_pages(reader.raw, mover.raw, self.path)

    def has_checksums(self) -> bool:
        with self.reading() as tx:
            return tx.rows("pragma checksum_verification") == [("1",)] and tx.rows("pragma application_id") == [(MARK,)]

    def size(self) -> int:
        total = 0
        for name in (self.location, f"{self.location}-wal"):
            with suppress(FileNotFoundError):
                total += os.stat(name).st_size  # noqa: PTH116 - never opened here: see create_file
        return total

    def update_statistics(self) -> int:
        return update_statistics(self) if self._frozen is None else 0

    def drop_idle_readers(self) -> None:
        """Those that are opened next read the statistics again: a connection does so only once."""
        self._readers.drop_idle()

    def save_copy(self, target: Path, *, sound: bool = True) -> dict[str, int]:
        from tokonoma.store.sqlite.backup import save_sqlite

        return save_sqlite(self, target, sound=sound)

    def load_copy(self, source: Path) -> None:
        from tokonoma.store.sqlite.backup import load_sqlite

        load_sqlite(self, source)

    def close(self) -> None:
        """Quick, and safe to repeat. The last process to close moves the log into the file, which can be copied."""
        atexit.unregister(self.close)
        self._checkpointer.close()
        self._readers.close()
        self.writer.close()
