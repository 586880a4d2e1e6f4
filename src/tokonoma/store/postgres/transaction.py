"""Blocks that read from and write to PostgreSQL."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, LiteralString, NoReturn, Self, cast

import psycopg

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row
from tokonoma.store.database import contains_nul, store_error, unknown_outcome_error
from tokonoma.store.dialect import POSTGRESQL
from tokonoma.store.postgres.connection import Connection, is_lost, to_refusal

if TYPE_CHECKING:
    from tokonoma.store.postgres import ConnectionLender

_READ: LiteralString = "begin isolation level repeatable read, read only"


_FIRST, _LONGEST = 0.05, 1.0  # seconds between two cancel requests


class StatementCanceller:
    """Hooked to a Stop for one block. The server ignores a cancel that comes in the instant before a statement starts,
    so the asking is repeated until the block has noticed."""

    __slots__ = ("_cancel_token", "_connection", "_done", "_thread")

    def __init__(self, connection: Connection, cancel_token: CancelToken) -> None:
        self._connection = connection
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._cancel_token = cancel_token
        cancel_token.attach(self._start)

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
        self._cancel_token.detach(self._start)
        if self._thread is None:
            return False
        self._done.set()
        self._thread.join()
        return True


class _Block:
    __slots__ = ("_cancel", "_cancel_token", "_connection", "_lender")

    def __init__(self, lender: "ConnectionLender", cancel_token: CancelToken | None) -> None:
        self._lender = lender
        self._cancel_token = cancel_token
        self._connection: Connection | None = None
        self._cancel: StatementCanceller | None = None

    def _begin(self, words: LiteralString) -> Connection:
        connection = self._connection = self._lender.begin_transaction(words, self._cancel_token)
        if self._cancel_token is not None:
            self._cancel = StatementCanceller(connection, self._cancel_token)
        return connection

    def _detach(self) -> bool:
        cancel, self._cancel = self._cancel, None
        return cancel is not None and cancel.detach()

    def _leave(self) -> None:
        """Give the connection back with nothing open on it; one that was cancelled, or is broken, is thrown away."""
        cancelled = self._detach()
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
            self._lender.release(connection)

    def _check(self) -> None:
        if self._cancel_token is not None and self._cancel_token.reason:
            raise self._cancel_token.to_error()


class PostgresReading(_Block):
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
        text = POSTGRESQL.translate(sql)
        try:
            if self._connection is None:
                return self._run_first(text, params)
            return _fetch_rows(self._connection, text, params)
        except Exception as error:
            _raise_refusal(
                to_refusal(_detect_nul(error, params), self._lender.location, self._cancel_token, "read"), error
            )

    def _run_first(self, text: str, params: Mapping[str, Any]) -> list[Row]:
        try:
            return _fetch_rows(self._begin(_READ), text, params)
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            self._leave()
        return _fetch_rows(self._begin(_READ), text, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None


class PostgresWriting(_Block):
    __slots__ = ("_failed",)

    def __init__(self, lender: "ConnectionLender", cancel_token: CancelToken | None) -> None:
        super().__init__(lender, cancel_token)
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
        if self._detach():  # from here on the outcome is ours to know: nobody cancels a commit
            assert self._connection is not None
            self._connection.close()
        self._check()
        assert self._connection is not None
        try:
            self._connection.execute("commit", prepare=False)
        except psycopg.Error as error:
            if is_lost(error):
                raise unknown_outcome_error(self._lender.location) from error
            _raise_refusal(to_refusal(error, self._lender.location, None, "write"), error)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        connection = self._require_connection()
        try:
            return _fetch_rows(connection, POSTGRESQL.translate(sql), params)
        except Exception as error:
            self._fail_transaction(_detect_nul(error, params), error)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, /, **params: Any) -> int:
        connection = self._require_connection()
        try:
            cursor = connection.execute(cast(LiteralString, POSTGRESQL.translate(sql)), params)
        except Exception as error:
            self._fail_transaction(_detect_nul(error, params), error)
        # A select has rows, too, but it changed none.
        selected = (cursor.statusmessage or "").startswith("SELECT")
        return 0 if selected else max(cursor.rowcount, 0)

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        connection = self._require_connection()
        try:
            connection.cursor().executemany(cast(LiteralString, POSTGRESQL.translate(sql)), params)
        except Exception as error:
            first = next(filter(contains_nul, params), None)
            self._fail_transaction(_detect_nul(error, first or {}), error)

    def _require_connection(self) -> Connection:
        if self._failed is not None:
            raise self._failed
        self._check()
        assert self._connection is not None, "the block was left"
        return self._connection

    def _fail_transaction(self, found: Exception, error: Exception) -> NoReturn:
        self._failed = to_refusal(found, self._lender.location, self._cancel_token, "write")
        _raise_refusal(self._failed, error)


def _fetch_rows(connection: Connection, text: str, params: Mapping[str, Any]) -> list[Row]:
    cursor = connection.execute(cast(LiteralString, text), params)
    return cursor.fetchall() if cursor.description is not None else []


def _detect_nul(error: Exception, params: Mapping[str, Any]) -> Exception:
    # The driver has no code of its own for NUL; no other refusal of its carries a text with one.
    return store_error("text") if isinstance(error, psycopg.DataError) and contains_nul(params) else error


def _raise_refusal(found: Exception, error: Exception) -> NoReturn:
    if found is error:
        raise error
    raise found from error
