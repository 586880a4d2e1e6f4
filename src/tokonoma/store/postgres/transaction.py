"""Blocks that read from and write to PostgreSQL."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, LiteralString, NoReturn, Self, cast

import psycopg

from tokonoma.core.cancellation import Stop
from tokonoma.core.desk import Row
from tokonoma.store import errors as refusals
from tokonoma.store.dialect import POSTGRESQL
from tokonoma.store.errors import holds_nul
from tokonoma.store.postgres.cancel import Cancel
from tokonoma.store.postgres.connection import Connection, is_lost, refusal
from tokonoma.store.postgres.pool import Lender

_READ: LiteralString = "begin isolation level repeatable read, read only"


class _Block:
    __slots__ = ("_cancel", "_connection", "_lender", "_stop")

    def __init__(self, lender: Lender, stop: Stop | None) -> None:
        self._lender = lender
        self._stop = stop
        self._connection: Connection | None = None
        self._cancel: Cancel | None = None

    def _begin(self, words: LiteralString) -> Connection:
        connection = self._connection = self._lender.begun(words, self._stop)
        if self._stop is not None:
            self._cancel = Cancel(connection, self._stop)
        return connection

    def _unhook(self) -> bool:
        cancel, self._cancel = self._cancel, None
        return cancel is not None and cancel.end()

    def _leave(self) -> None:
        """Give the connection back with nothing open on it; one that was cancelled, or is broken, is thrown away."""
        cancelled = self._unhook()
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if cancelled:
                connection.close()
            elif connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("rollback", prepare=False)
        except psycopg.Error:
            connection.close()
        finally:
            self._lender.give(connection)

    def _check(self) -> None:
        if self._stop is not None and self._stop.reason:
            raise self._stop.error()


class Reading(_Block):
    """Begins with the first statement, so that a connection which turns out to be dead can be replaced once."""

    __slots__ = ()

    def __enter__(self) -> Self:
        self._check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check()
        text = POSTGRESQL.sql(sql)
        try:
            if self._connection is None:
                return self._first(text, params)
            return _rows(self._connection, text, params)
        except Exception as error:
            _fail(refusal(_plain(error, params), self._lender.where, self._stop, "read"), error)

    def _first(self, text: str, params: Mapping[str, Any]) -> list[Row]:
        try:
            return _rows(self._begin(_READ), text, params)
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            self._leave()
        return _rows(self._begin(_READ), text, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None


class Writing(_Block):
    __slots__ = ("_failed",)

    def __init__(self, lender: Lender, stop: Stop | None) -> None:
        super().__init__(lender, stop)
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        if getattr(self._lender.writing, "now", False):
            raise RuntimeError("a writing block inside a writing block: pass the first one's statements on instead")
        try:
            self._begin(self._lender.begin_write)
        except BaseException:
            self._leave()
            raise
        self._lender.writing.now = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lender.writing.now = False
        try:
            if error is None:
                self._commit()
        finally:
            self._leave()

    def _commit(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._unhook():  # from here on the outcome is ours to know: nobody cancels a commit
            assert self._connection is not None
            self._connection.close()
        self._check()
        assert self._connection is not None
        try:
            self._connection.execute("commit", prepare=False)
        except psycopg.Error as error:
            if is_lost(error):
                raise refusals.unknown_outcome(self._lender.where) from error
            _fail(refusal(error, self._lender.where, None, "write"), error)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        connection = self._ready()
        try:
            return _rows(connection, POSTGRESQL.sql(sql), params)
        except Exception as error:
            self._spoil(_plain(error, params), error)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, /, **params: Any) -> int:
        connection = self._ready()
        try:
            cursor = connection.execute(cast(LiteralString, POSTGRESQL.sql(sql)), params)
        except Exception as error:
            self._spoil(_plain(error, params), error)
        # A select has rows, too, but it changed none.
        selected = (cursor.statusmessage or "").startswith("SELECT")
        return 0 if selected else max(cursor.rowcount, 0)

    def many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        connection = self._ready()
        try:
            connection.cursor().executemany(cast(LiteralString, POSTGRESQL.sql(sql)), params)
        except Exception as error:
            first = next(filter(holds_nul, params), None)
            self._spoil(_plain(error, first or {}), error)

    def _ready(self) -> Connection:
        if self._failed is not None:
            raise self._failed
        self._check()
        assert self._connection is not None, "the block was left"
        return self._connection

    def _spoil(self, found: Exception, error: Exception) -> NoReturn:
        self._failed = refusal(found, self._lender.where, self._stop, "write")
        _fail(self._failed, error)


def _rows(connection: Connection, text: str, params: Mapping[str, Any]) -> list[Row]:
    cursor = connection.execute(cast(LiteralString, text), params)
    return cursor.fetchall() if cursor.description is not None else []


def _plain(error: Exception, params: Mapping[str, Any]) -> Exception:
    # The driver has no code of its own for NUL; no other refusal of its carries a text with one.
    return refusals.unstorable_text() if isinstance(error, psycopg.DataError) and holds_nul(params) else error


def _fail(found: Exception, error: Exception) -> NoReturn:
    if found is error:
        raise error
    raise found from error
