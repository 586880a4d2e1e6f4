"""Reading and writing blocks of SQLite: a pool of readers, and one writer per process, first come, first served."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Self

import apsw

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import TransactionBlock, contains_nul, raise_refusal, store_error
from tokonoma.store.dialect import SQLITE
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.connection import SqliteConnection, extended_code

MAX_IDLE = 4  # connections kept open; more are opened when more blocks read in parallel
_translate = SQLITE.translate
_CLOSE_WAIT = 0.2  # seconds


class ReaderPool:
    """The connection released last is acquired first: its pages are still in memory."""

    __slots__ = ("_closed", "_idle", "_open")

    def __init__(self, open_connection: Callable[[], SqliteConnection]) -> None:
        self._open = open_connection
        self._idle: list[SqliteConnection] = []
        self._closed = False

    def acquire(self) -> SqliteConnection:
        if self._closed:
            raise store_error("closed")
        try:
            return self._idle.pop()  # pop and append are atomic: no lock is needed
        except IndexError:
            return self._open()

    def release(self, connection: SqliteConnection) -> None:
        if len(self._idle) >= MAX_IDLE:
            connection.close()
            return
        self._idle.append(connection)
        if self._closed:
            self.close()

    def drop_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def close(self) -> None:
        self._closed = True
        self.drop_idle()


class _SqliteBlock(TransactionBlock):
    """A block and its rows in one object, because creating two would take longer than a short read."""

    __slots__ = ("_attached", "_connection")

    def __init__(self, cancel_token: CancelToken | None) -> None:
        super().__init__(cancel_token)
        self._attached = False

    def _begin(self, connection: SqliteConnection, statement: str) -> None:
        self._connection = connection
        if self._cancel_token is not None:
            connection.cancel_token = self._cancel_token
            self._cancel_token.attach(connection.interrupt)
            self._attached = True
        connection.execute(statement)

    def _detach(self) -> None:
        if self._attached and self._cancel_token is not None:
            self._cancel_token.detach(self._connection.interrupt)
            self._attached = False


class SqliteReading(_SqliteBlock):
    __slots__ = ("_readers",)

    def __init__(self, readers: ReaderPool, cancel_token: CancelToken | None) -> None:
        super().__init__(cancel_token)
        self._readers = readers

    def __enter__(self) -> Self:
        connection = self._readers.acquire()
        try:
            self._begin(connection, "begin")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._detach()
        connection = self._connection
        del self._connection  # a block that is used after its end must not reach the next block's connection
        connection.cancel_token = None
        try:
            connection.end_transaction("rollback")
        except apsw.Error:
            connection.close()
        else:
            self._readers.release(connection)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check_cancelled()
        if contains_nul(params):
            raise store_error("text")
        try:
            return self._connection.execute(_translate(sql), params).fetchall()
        except Exception as error:
            if isinstance(error, apsw.ReadOnlyError) and extended_code(error) == apsw.SQLITE_READONLY:
                raise RuntimeError("a reading block cannot write") from error
            raise_refusal(self._connection.to_refusal(error), error)


class SqliteWriter:
    """The one connection that writes, and the lock that its users wait for."""

    __slots__ = ("_closed", "_owner", "connection", "lock")

    def __init__(self, connection: SqliteConnection) -> None:
        self.connection = connection
        self.lock = FairLock()
        self._owner = 0
        self._closed = False

    def acquire(self, cancel_token: CancelToken | None) -> None:
        thread = threading.get_ident()
        if self._owner == thread:
            raise RuntimeError("a writing block inside a writing block: pass the first one's statements on instead")
        self.lock.acquire(cancel_token)
        if self._closed:
            self.lock.release()
            raise store_error("closed")
        self._owner = thread

    def release(self) -> None:
        self._owner = 0
        self.lock.release()

    def close(self) -> None:
        """Wait a moment for the block that writes now, then interrupt it. What was committed is kept either way."""
        self._closed = True
        with suppress(Unavailable):
            try:
                self.lock.acquire(wait=_CLOSE_WAIT)
            except Unavailable:
                self.connection.interrupt()
                self.lock.acquire(wait=_CLOSE_WAIT)
            self.connection.close()
            self.lock.release()


class SqliteWriting(_SqliteBlock):
    __slots__ = ("_failed", "_writer")

    def __init__(self, writer: SqliteWriter, cancel_token: CancelToken | None) -> None:
        super().__init__(cancel_token)
        self._writer = writer
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        self._writer.acquire(self._cancel_token)
        connection = self._writer.connection
        try:
            # IMMEDIATE: a transaction that first reads and then writes would fail if another one writes in between.
            self._begin(connection, "begin immediate")
        except BaseException as error:
            refusal = connection.to_refusal(error) if isinstance(error, apsw.Error) else error
            self._leave()
            raise_refusal(refusal, error)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._detach()  # a commit is not interrupted, so that its outcome is known
            if error is None:
                self._commit()
        finally:
            self._leave()

    def _commit(self) -> None:
        if self._failed is not None:
            raise self._failed
        self._check_cancelled()
        try:
            self._connection.end_transaction("commit")
        except apsw.Error as error:
            raise self._connection.to_refusal(error) from error

    def _leave(self) -> None:
        self._detach()
        connection = self._connection
        del self._connection
        try:
            connection.end_transaction("rollback")
        except apsw.Error as error:
            raise connection.to_refusal(error) from error
        finally:
            connection.cancel_token = None
            self._writer.release()

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check(params)
        try:
            return self._connection.execute(_translate(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def run(self, sql: str, /, **params: Any) -> int:
        connection = self._connection.raw
        before = connection.total_changes()
        self.rows(sql, **params)
        # `changes` keeps the number of an earlier statement when this one changed nothing.
        return connection.changes() if connection.total_changes() != before else 0

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        self._check(*params)
        try:
            self._connection.executemany(_translate(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def _check(self, *params: Mapping[str, Any]) -> None:
        if self._failed is not None:
            raise self._failed
        self._check_cancelled()
        if any(map(contains_nul, params)):
            self._failed = store_error("text")
            raise self._failed

    def _fail(self, error: Exception) -> NoReturn:
        # PostgreSQL refuses every statement after an error; the same here, or code would work on one database only.
        self._failed = self._connection.to_refusal(error)
        raise_refusal(self._failed, error)
