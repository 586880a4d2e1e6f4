"""Writing to SQLite: one connection a process, one writer at a time, in the order in which they came."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import apsw

from tokonoma.core.cancellation import CancelToken
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable
from tokonoma.store import errors as refusals
from tokonoma.store.dialect import SQLITE
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.connection import SqliteConnection

_translate = SQLITE.sql


class SqliteWriter:
    __slots__ = ("_closed", "_owner", "link", "turn")

    def __init__(self, link: SqliteConnection) -> None:
        self.link = link
        self.turn = FairLock()
        self._owner = 0
        self._closed = False

    def acquire(self, stop: CancelToken | None) -> None:
        me = threading.get_ident()
        if self._owner == me:
            raise RuntimeError("a writing block inside a writing block: pass the first one's statements on instead")
        self.turn.acquire(stop)
        if self._closed:
            self.turn.release()
            raise refusals.closed_error()
        self._owner = me

    def release(self) -> None:
        self._owner = 0
        self.turn.release()

    def close(self) -> None:
        """Let the block that writes now end; after a second, make it end. What was committed is kept either way."""
        self._closed = True
        try:
            self.turn.acquire(wait=1.0)
        except Unavailable:
            self.link.interrupt()
            with suppress(Unavailable):
                self.turn.acquire(wait=1.0)
                self._close_connection()
            return
        self._close_connection()

    def _close_connection(self) -> None:
        self.link.close()
        self.turn.release()


class SqliteWriting:
    __slots__ = ("_failed", "_hooked", "_link", "_stop", "_writer")

    def __init__(self, writer: SqliteWriter, stop: CancelToken | None) -> None:
        self._writer = writer
        self._stop = stop
        self._hooked = False
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        self._writer.acquire(self._stop)
        link = self._link = self._writer.link
        try:
            if self._stop is not None:
                link.stop = self._stop
                self._stop.attach(link.interrupt)
                self._hooked = True
            # IMMEDIATE: a transaction that starts by reading and then writes loses against one that was quicker.
            link.execute("begin immediate")
        except apsw.Error as error:
            refusal = link.to_refusal(error)
            self._leave()
            raise refusal from error
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._unhook()  # from here on the outcome is ours to know: nobody interrupts a commit
            if error is None:
                self._commit()
        finally:
            self._leave()

    def _commit(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._stop is not None:
            self._stop.check()
        try:
            self._link.end_transaction("commit")
        except apsw.Error as error:
            raise self._link.to_refusal(error) from error

    def _unhook(self) -> None:
        if self._hooked and self._stop is not None:
            self._stop.detach(self._link.interrupt)
            self._hooked = False

    def _leave(self) -> None:
        self._unhook()
        link = self._link
        del self._link
        try:
            link.end_transaction("rollback")
        except apsw.Error as error:
            raise link.to_refusal(error) from error
        finally:
            link.stop = None
            self._writer.release()

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check(params)
        try:
            return self._link.execute(_translate(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, /, **params: Any) -> int:
        connection = self._link.connection
        before = connection.total_changes()
        self.rows(sql, **params)
        # `changes` keeps the number of an earlier statement when this one changed nothing.
        return connection.changes() if connection.total_changes() != before else 0

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        self._check(*params)
        try:
            self._link.executemany(_translate(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def _check(self, *params: Mapping[str, Any]) -> None:
        if self._failed is not None:
            raise self._failed
        if self._stop is not None and self._stop.reason:
            raise self._stop.to_error()
        for each in params:
            if refusals.contains_nul(each):
                self._failed = refusals.unstorable_text_error()
                raise self._failed

    def _fail(self, error: Exception) -> NoReturn:
        # PostgreSQL takes nothing more after an error; the same here, or code would work on one database only.
        refusal = self._failed = self._link.to_refusal(error)
        if refusal is error:
            raise error
        raise refusal from error
