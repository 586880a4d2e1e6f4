"""Reading from SQLite: a few connections kept warm, one borrowed for each block. A read costs a few microseconds."""

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import apsw

from tokonoma.core.cancellation import CancelToken
from tokonoma.core.desk import Row
from tokonoma.store import errors as refusals
from tokonoma.store.dialect import SQLITE
from tokonoma.store.sqlite.connection import SqliteConnection, extended_code

MAX_IDLE = 4
"""Idle connections that are kept; more are opened when more blocks read at once."""

_translate = SQLITE.sql


class ReaderPool:
    """The last one given back is the first one lent: its pages are still in memory."""

    __slots__ = ("_closed", "_idle", "_open")

    def __init__(self, open_link: Callable[[], SqliteConnection]) -> None:
        self._open = open_link
        self._idle: list[SqliteConnection] = []
        self._closed = False

    def acquire(self) -> SqliteConnection:
        if self._closed:
            raise refusals.closed_error()
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

    __slots__ = ("_hooked", "_link", "_readers", "_stop")

    def __init__(self, readers: ReaderPool, stop: CancelToken | None) -> None:
        self._readers = readers
        self._stop = stop
        self._hooked = False

    def __enter__(self) -> Self:
        link = self._link = self._readers.acquire()
        try:
            stop = self._stop
            if stop is not None:
                link.stop = stop
                stop.attach(link.interrupt)
                self._hooked = True
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
        if self._hooked and self._stop is not None:
            self._stop.detach(link.interrupt)
        del self._link  # a handle that is kept longer than its block must not reach the next block's connection
        link.stop = None
        try:
            link.end_transaction("rollback")
        except apsw.Error:
            link.close()
        else:
            self._readers.release(link)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        stop = self._stop
        if stop is not None and stop.reason:
            raise stop.to_error()
        if refusals.contains_nul(params):
            raise refusals.unstorable_text_error()
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
