"""The desk that a tool receives, made anew for each call."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tokonoma.core.call import Call, Principal
from tokonoma.core.desk import Document, Label, Record, Row, Rows, Statements, Tx
from tokonoma.core.directory import Directory
from tokonoma.core.errors import Missing
from tokonoma.core.house import House
from tokonoma.core.policy import Policy
from tokonoma.core.query import Hits, Query, Where
from tokonoma.core.spaces import inside
from tokonoma.pipeline.visible import expanded, unguarded


@dataclass(frozen=True, slots=True)
class Rooms:
    """What desks are joined from; the composition root hands it in."""

    house: House
    directory: Directory
    policy: Callable[[], Policy]
    guarded: Callable[[], frozenset[str]]
    reading: Callable[[Call], AbstractContextManager[Rows]]
    writing: Callable[[Call], AbstractContextManager[Statements]]  # stores the call's journal entry before the commit
    upkeep: Callable[[], AbstractContextManager[Statements]]  # without an entry, and not interrupted
    put: Callable[[Statements, Document, Label], None]
    drop: Callable[[Statements, str], None]
    find: Callable[[Call, Query, Where], Hits]  # inside the walls around the call's principal


class CallDesk:
    __slots__ = ("_rooms", "call")

    def __init__(self, rooms: Rooms, call: Call) -> None:
        self._rooms = rooms
        self.call = call

    @property
    def principal(self) -> Principal:
        return self.call.who

    @property
    def house(self) -> House:
        return self._rooms.house

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        sql, extra = self._filtered(sql)
        with self._rooms.reading(self.call) as rows:
            return rows.rows(sql, **params, **extra)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        sql, extra = self._filtered(sql)
        with self._rooms.reading(self.call) as rows:
            return rows.row(sql, **params, **extra)

    @contextmanager
    def write(self) -> Generator[Tx]:
        if self.call.journaled:
            raise RuntimeError("a call writes once: put everything into one `with desk.write()`")
        with self._rooms.writing(self.call) as statements:
            yield _DeskTx(statements, self._filtered, self._rooms)
        self.call.journaled = True

    @contextmanager
    def upkeep(self) -> Generator[Tx]:
        with self._rooms.upkeep() as statements:
            yield _DeskTx(statements, self._filtered, self._rooms)

    def read(self, address: str) -> Record:
        with self._rooms.reading(self.call) as rows:
            record = self._rooms.directory.record(rows, address)
        who, sees = self.principal, self._rooms.policy().sees(self.principal)
        if record is None or record.label not in sees or not inside(record.space, who.root):
            raise Missing(f"There is no record at {address}.", address=address)
        return record

    def find(self, query: Query, where: Where) -> Hits:
        seen = self._seen(where)
        return self._rooms.find(self.call, query, seen) if seen is not None else Hits([], query.mode)

    def _seen(self, where: Where) -> Where | None:
        """Modules that this credential must not see are not searched either; None if nothing is left."""
        who = self.principal
        if who.modules is None and not who.mask:
            return where
        seen = {shelf.name for shelf in self.house.shelves(who)}
        asked = tuple(sorted(seen.intersection(where.modules or seen)))
        return replace(where, modules=asked) if asked else None

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.call.report(progress, total, message)

    def check(self) -> None:
        self.call.stop.check()

    def _filtered(self, sql: str) -> tuple[str, dict[str, str | int]]:
        table = unguarded(sql, self._rooms.guarded())
        if table is not None:
            raise RuntimeError(f"SQL on the record table {table!r} without {{visible}}")
        return expanded(sql, self.principal, self._rooms.policy().sees(self.principal))


class _DeskTx:
    """The statements of one transaction, filtered like every other reading of the desk, with the index beside them."""

    __slots__ = ("_filtered", "_rooms", "_statements")

    def __init__(
        self, statements: Statements, filtered: Callable[[str], tuple[str, dict[str, str | int]]], rooms: Rooms
    ) -> None:
        self._statements, self._filtered, self._rooms = statements, filtered, rooms

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        sql, extra = self._filtered(sql)
        return self._statements.rows(sql, **params, **extra)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        sql, extra = self._filtered(sql)
        return self._statements.row(sql, **params, **extra)

    def run(self, sql: str, /, **params: Any) -> int:
        sql, extra = self._filtered(sql)
        return self._statements.run(sql, **params, **extra)

    def many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        sql, extra = self._filtered(sql)
        self._statements.many(sql, [{**each, **extra} for each in params] if extra else params)

    def put(self, document: Document) -> None:
        self._rooms.put(self._statements, document, self._rooms.policy().label(document))

    def drop(self, address: str) -> None:
        self._rooms.drop(self._statements, address)
