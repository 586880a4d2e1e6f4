"""Reading and writing blocks of SQLite: a pool of readers, and one writer per process, first come, first served."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import apsw

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import contains_nul, store_error
from tokonoma.store.dialect import SQLITE
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.sqlite.connection import SqliteConnection, extended_code

MAX_IDLE = 4
"""Idle connections that are kept; more are opened when more blocks read at once."""

_translate = SQLITE.translate


class ReaderPool:
    """The last one given back is the first one lent: its pages are still in memory."""

    __slots__ = ("_closed", "_idle", "_open")

    def __init__(self, open_link: Callable[[], SqliteConnection]) -> None:
        self._open = open_link
        self._idle: list[SqliteConnection] = []
        self._closed = False

    def acquire(self) -> SqliteConnection:
        if self._closed:
            raise store_error("closed")
        try:
            return self._idle.pop()  # popping and appending are atomic: no lock is needed
        except IndexError:
            return self._open()

    def release(self, link: SqliteConnection) -> None:
        if len(self._idle) >= MAX_IDLE:
            link.close()
            return
        self._idle.append(link)
        if self._closed:
            self.close()

    def close(self) -> None:
        self._closed = True
        with suppress(IndexError):
            while True:
                self._idle.pop().close()


class SqliteReading:
    """A block and its rows in one object, because a read is over sooner than two objects are made."""

    __slots__ = ("_attached", "_cancel_token", "_link", "_readers")

    def __init__(self, readers: ReaderPool, cancel_token: CancelToken | None) -> None:
        self._readers = readers
        self._cancel_token = cancel_token
        self._attached = False

    def __enter__(self) -> Self:
        link = self._link = self._readers.acquire()
        try:
            cancel_token = self._cancel_token
            if cancel_token is not None:
                link.cancel_token = cancel_token
                cancel_token.attach(link.interrupt)
                self._attached = True
            link.execute("begin")
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        link = self._link
        if self._attached and self._cancel_token is not None:
            self._cancel_token.detach(link.interrupt)
        del self._link  # a handle that is kept longer than its block must not reach the next block's connection
        link.cancel_token = None
        try:
            link.end_transaction("rollback")
        except apsw.Error:
            link.close()
        else:
            self._readers.release(link)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        cancel_token = self._cancel_token
        if cancel_token is not None and cancel_token.reason:
            raise cancel_token.to_error()
        if contains_nul(params):
            raise store_error("text")
        try:
            return self._link.execute(_translate(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None

    def _fail(self, error: Exception) -> NoReturn:
        if isinstance(error, apsw.ReadOnlyError) and extended_code(error) == apsw.SQLITE_READONLY:
            raise RuntimeError("a reading block cannot write") from error
        refusal = self._link.to_refusal(error)
        if refusal is error:
            raise error
        raise refusal from error


class SqliteWriter:
    __slots__ = ("_closed", "_owner", "link", "turn")

    def __init__(self, link: SqliteConnection) -> None:
        self.link = link
        self.turn = FairLock()
        self._owner = 0
        self._closed = False

    def acquire(self, cancel_token: CancelToken | None) -> None:
        me = threading.get_ident()
        if self._owner == me:
            raise RuntimeError("a writing block inside a writing block: pass the first one's statements on instead")
        self.turn.acquire(cancel_token)
        if self._closed:
            self.turn.release()
            raise store_error("closed")
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
    __slots__ = ("_attached", "_cancel_token", "_failed", "_link", "_writer")

    def __init__(self, writer: SqliteWriter, cancel_token: CancelToken | None) -> None:
        self._writer = writer
        self._cancel_token = cancel_token
        self._attached = False
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        self._writer.acquire(self._cancel_token)
        link = self._link = self._writer.link
        try:
            if self._cancel_token is not None:
                link.cancel_token = self._cancel_token
                self._cancel_token.attach(link.interrupt)
                self._attached = True
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
            self._detach()  # from here on the outcome is ours to know: nobody interrupts a commit
            if error is None:
                self._commit()
        finally:
            self._leave()

    def _commit(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._cancel_token is not None:
            self._cancel_token.check()
        try:
            self._link.end_transaction("commit")
        except apsw.Error as error:
            raise self._link.to_refusal(error) from error

    def _detach(self) -> None:
        if self._attached and self._cancel_token is not None:
            self._cancel_token.detach(self._link.interrupt)
            self._attached = False

    def _leave(self) -> None:
        self._detach()
        link = self._link
        del self._link
        try:
            link.end_transaction("rollback")
        except apsw.Error as error:
            raise link.to_refusal(error) from error
        finally:
            link.cancel_token = None
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
        if self._cancel_token is not None and self._cancel_token.reason:
            raise self._cancel_token.to_error()
        for each in params:
            if contains_nul(each):
                self._failed = store_error("text")
                raise self._failed

    def _fail(self, error: Exception) -> NoReturn:
        # PostgreSQL takes nothing more after an error; the same here, or code would work on one database only.
        refusal = self._failed = self._link.to_refusal(error)
        if refusal is error:
            raise error
        raise refusal from error
