"""SQLite: one file, one writer connection a process, a stack of readers, checkpoints on a thread of their own."""

import atexit
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal

import apsw

from tokonoma.core.cancellation import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import SpanFactory, trace_block
from tokonoma.store.dialect import SQLITE, Dialect
from tokonoma.store.sqlite.checkpoint import MAX_PAUSE, Checkpointer
from tokonoma.store.sqlite.connection import SqliteConnection, create_file
from tokonoma.store.sqlite.read import ReaderPool, SqliteReading
from tokonoma.store.sqlite.write import SqliteWriter, SqliteWriting


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

    def reading(self, stop: CancelToken | None = None) -> AbstractContextManager[Rows]:
        block = SqliteReading(self._readers, stop)
        return block if self._span is None else trace_block(self._span, "store.read", block)

    def writing(self, stop: CancelToken | None = None) -> AbstractContextManager[Statements]:
        block = SqliteWriting(self.writer, stop)
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

    def close(self) -> None:
        """Quick, and safe to repeat. The last one to close folds the log into the file, which can then be copied."""
        atexit.unregister(self.close)
        self._checkpointer.close()
        self._readers.close()
        self.writer.close()
