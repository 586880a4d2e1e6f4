"""Writing to SQLite: one connection a process, one writer at a time, in the order in which they came."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import apsw

from tokonoma.core.cancellation import Stop
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable
from tokonoma.store import errors as refusals
from tokonoma.store.dialect import SQLITE
from tokonoma.store.fair_lock import Turn
from tokonoma.store.sqlite.connection import Link

_translated = SQLITE.sql


class Writer:
    __slots__ = ("_closed", "_owner", "link", "turn")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.turn = Turn()
        self._owner = 0
        self._closed = False

    def take(self, stop: Stop | None) -> None:
        me = threading.get_ident()
        if self._owner == me:
            raise RuntimeError("a writing block inside a writing block: pass the first one's statements on instead")
        self.turn.take(stop)
        if self._closed:
            self.turn.leave()
            raise refusals.closed()
        self._owner = me

    def leave(self) -> None:
        self._owner = 0
        self.turn.leave()

    def close(self) -> None:
        """Let the block that writes now end; after a second, make it end. What was committed is kept either way."""
        self._closed = True
        try:
            self.turn.take(wait=1.0)
        except Unavailable:
            self.link.interrupt()
            with suppress(Unavailable):
                self.turn.take(wait=1.0)
                self._end()
            return
        self._end()

    def _end(self) -> None:
        self.link.close()
        self.turn.leave()


class Writing:
    __slots__ = ("_failed", "_hooked", "_link", "_stop", "_writer")

    def __init__(self, writer: Writer, stop: Stop | None) -> None:
        self._writer = writer
        self._stop = stop
        self._hooked = False
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        self._writer.take(self._stop)
        link = self._link = self._writer.link
        try:
            if self._stop is not None:
                link.stop = self._stop
                self._stop.attach(link.interrupt)
                self._hooked = True
            # IMMEDIATE: a transaction that starts by reading and then writes loses against one that was quicker.
            link.execute("begin immediate")
        except apsw.Error as error:
            refusal = link.refusal(error)
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
            self._link.end("commit")
        except apsw.Error as error:
            raise self._link.refusal(error) from error

    def _unhook(self) -> None:
        if self._hooked and self._stop is not None:
            self._stop.detach(self._link.interrupt)
            self._hooked = False

    def _leave(self) -> None:
        self._unhook()
        link = self._link
        del self._link
        try:
            link.end("rollback")
        except apsw.Error as error:
            raise link.refusal(error) from error
        finally:
            link.stop = None
            self._writer.leave()

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        self._check(params)
        try:
            return self._link.execute(_translated(sql), params).fetchall()
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

    def many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        self._check(*params)
        try:
            self._link.executemany(_translated(sql), params).fetchall()
        except Exception as error:
            self._fail(error)

    def _check(self, *params: Mapping[str, Any]) -> None:
        if self._failed is not None:
            raise self._failed
        if self._stop is not None and self._stop.reason:
            raise self._stop.error()
        for each in params:
            if refusals.holds_nul(each):
                self._failed = refusals.unstorable_text()
                raise self._failed

    def _fail(self, error: Exception) -> NoReturn:
        # PostgreSQL takes nothing more after an error; the same here, or code would work on one database only.
        refusal = self._failed = self._link.refusal(error)
        if refusal is error:
            raise error
        raise refusal from error
