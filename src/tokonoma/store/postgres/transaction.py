"""Reading and writing blocks of PostgreSQL, and the cancellation of their statements."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, LiteralString, NoReturn, Self, cast

import psycopg

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import TransactionBlock, contains_nul, raise_refusal, store_error
from tokonoma.store.dialect import POSTGRESQL
from tokonoma.store.postgres.connection import Connection, is_lost, to_refusal

if TYPE_CHECKING:
    from tokonoma.store.postgres import ConnectionLender

_READ: LiteralString = "begin isolation level repeatable read, read only"
_FIRST, _LONGEST = 0.05, 1.0  # seconds between two cancel requests


class StatementCanceller:
    """Cancels the statements of one block. The server ignores a cancel request that arrives just before a statement
    starts, so it is repeated until the block ends."""

    __slots__ = ("_cancel_token", "_connection", "_done", "_thread")

    def __init__(self, connection: Connection, cancel_token: CancelToken) -> None:
        self._connection = connection
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._cancel_token = cancel_token
        cancel_token.attach(self._start)

    def _start(self) -> None:
        # A thread, because CancelToken.cancel must not wait for the server.
        self._thread = threading.Thread(target=self._run, name="tokonoma-cancel", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        wait = _FIRST
        while not self._done.is_set():
            with suppress(psycopg.Error, OSError):
                self._connection.cancel_safe(timeout=2.0)
            if self._done.wait(wait):
                return
            wait = min(wait * 2, _LONGEST)

    def detach(self) -> bool:
        """True if a cancel was sent; then the connection must not be used again."""
        self._cancel_token.detach(self._start)
        if self._thread is None:
            return False
        self._done.set()
        self._thread.join()
        return True


class _PostgresBlock(TransactionBlock):
    __slots__ = ("_canceller", "_connection", "_lender")

    def __init__(self, lender: "ConnectionLender", cancel_token: CancelToken | None) -> None:
        super().__init__(cancel_token)
        self._lender = lender
        self._connection: Connection | None = None
        self._canceller: StatementCanceller | None = None

    def _hold(self, connection: Connection) -> Connection:
        self._connection = connection
        if self._cancel_token is not None:
            self._canceller = StatementCanceller(connection, self._cancel_token)
        return connection

    def _detach(self) -> bool:
        canceller, self._canceller = self._canceller, None
        return canceller is not None and canceller.detach()

    def _leave(self) -> None:
        """Return the connection with no open transaction; close it if it was cancelled or is broken."""
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
            self._lender.release(connection, wrote=isinstance(self, PostgresWriting))

    def _to_refusal(self, error: Exception, use: Literal["read", "write"], *params: Mapping[str, Any]) -> Exception:
        # The driver has no error of its own for NUL.
        if isinstance(error, psycopg.DataError) and any(map(contains_nul, params)):
            return store_error("text")
        return to_refusal(error, self._cancel_token, use)


class PostgresReading(_PostgresBlock):
    """Begins with the first statement, so that a dead connection can be replaced once."""

    __slots__ = ()

    def __enter__(self) -> Self:
        self._check_cancelled()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _begin(self) -> Connection:
        return self._hold(self._lender.begin_transaction(_READ, self._cancel_token))

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check_cancelled()
        text = POSTGRESQL.translate(sql)
        try:
            if self._connection is None:
                return self._run_first(text, params)
            return _fetch_rows(self._connection, text, params)
        except Exception as error:
            raise_refusal(self._to_refusal(error, "read", params), error)

    def _run_first(self, text: str, params: Mapping[str, Any]) -> list[Row]:
        try:
            return _fetch_rows(self._begin(), text, params)
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            self._leave()
        return _fetch_rows(self._begin(), text, params)


class PostgresWriting(_PostgresBlock):
    __slots__ = ("_failed",)

    def __init__(self, lender: "ConnectionLender", cancel_token: CancelToken | None) -> None:
        super().__init__(lender, cancel_token)
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        try:
            self._hold(self._lender.begin_write_transaction(self._cancel_token))
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._commit()
        finally:
            self._leave()

    def _commit(self) -> None:
        connection = self._require_connection(check=False)
        if self._detach():  # a commit is not cancelled, so that its outcome is known
            connection.close()
        self._check_cancelled()
        try:
            connection.execute("commit", prepare=False)
        except psycopg.Error as error:
            if is_lost(error):
                raise Unavailable(
                    "The connection to the database was lost during the commit: it is not known whether the change was"
                    " kept. Read before you repeat it.",
                    reason="database",
                    outcome="unknown",
                ) from error
            raise_refusal(to_refusal(error, None, "write"), error)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        connection = self._require_connection()
        try:
            return _fetch_rows(connection, POSTGRESQL.translate(sql), params)
        except Exception as error:
            self._fail(error, params)

    def run(self, sql: str, /, **params: Any) -> int:
        connection = self._require_connection()
        try:
            cursor = connection.execute(cast(LiteralString, POSTGRESQL.translate(sql)), params)
        except Exception as error:
            self._fail(error, params)
        # A select has a row count too, but it changed none.
        selected = (cursor.statusmessage or "").startswith("SELECT")
        return 0 if selected else max(cursor.rowcount, 0)

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        connection = self._require_connection()
        try:
            connection.cursor().executemany(cast(LiteralString, POSTGRESQL.translate(sql)), params)
        except Exception as error:
            self._fail(error, *filter(contains_nul, params))

    def _require_connection(self, check: bool = True) -> Connection:
        if self._failed is not None:
            raise self._failed
        if check:
            self._check_cancelled()
        assert self._connection is not None, "the block has ended"
        return self._connection

    def _fail(self, error: Exception, *params: Mapping[str, Any]) -> NoReturn:
        self._failed = self._to_refusal(error, "write", *params)
        raise_refusal(self._failed, error)


def _fetch_rows(connection: Connection, text: str, params: Mapping[str, Any]) -> list[Row]:
    cursor = connection.execute(cast(LiteralString, text), params)
    return cursor.fetchall() if cursor.description is not None else []
