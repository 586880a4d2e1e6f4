"""SQLite: one file, one writer connection a process, a stack of readers, checkpoints on a thread of their own."""

import atexit
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal

import apsw

from tokonoma.core.cancellation import Stop
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import Span, traced
from tokonoma.store.dialect import SQLITE, Dialect
from tokonoma.store.sqlite.checkpoint import MOMENT, Checkpointer
from tokonoma.store.sqlite.connection import Link, create
from tokonoma.store.sqlite.read import Readers, Reading
from tokonoma.store.sqlite.write import Writer, Writing


class SqliteDatabase:
    """The file is never renamed, remade or deleted: other processes may hold it open."""

    kind: Literal["sqlite"] = "sqlite"
    dialect: Dialect = SQLITE

    def __init__(self, path: Path, *, durable: bool = True, span: Span | None = None) -> None:
        create(path)
        self.path = path
        self.where = str(path)
        self._durable = durable
        self._span = span
        self.writer = Writer(Link(path, "write", durable=durable))
        self._readers = Readers(self.reader)
        self._checkpointer = Checkpointer(
            lambda: Link(path, "checkpoint", durable=durable, wait=MOMENT), self.writer.turn
        )
        self.writer.link.connection.set_wal_hook(self._committed)
        atexit.register(self.close)

    def reader(self) -> Link:
        """A new connection that can only read. The caller closes it."""
        return Link(self.path, "read", durable=self._durable)

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        # The commit is done: nothing may fail here, not even a thread that cannot be started at the very end.
        with suppress(RuntimeError):
            self._checkpointer.grown(pages)
        return apsw.SQLITE_OK

    def reading(self, stop: Stop | None = None) -> AbstractContextManager[Rows]:
        block = Reading(self._readers, stop)
        return block if self._span is None else traced(self._span, "store.read", block)

    def writing(self, stop: Stop | None = None) -> AbstractContextManager[Statements]:
        block = Writing(self.writer, stop)
        return block if self._span is None else traced(self._span, "store.write", block)

    def check(self) -> list[str]:
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
        for name in (self.where, f"{self.where}-wal"):
            with suppress(FileNotFoundError):
                total += os.stat(name).st_size  # noqa: PTH116 - never opened here: see sqlite_link.create
        return total

    def close(self) -> None:
        """Quick, and safe to repeat. The last one to close folds the log into the file, which can then be copied."""
        atexit.unregister(self.close)
        self._checkpointer.close()
        self._readers.close()
        self.writer.close()
