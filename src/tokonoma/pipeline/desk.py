"""The desk that a tool receives, made anew for each call."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tokonoma.core.addresses import Directory
from tokonoma.core.call import Call, Principal
from tokonoma.core.desk import Document, Label, Record, Row, Rows, Statements, Tx
from tokonoma.core.errors import Missing
from tokonoma.core.namespaces import inside
from tokonoma.core.policy import Policy
from tokonoma.core.policy_api import Boundary
from tokonoma.core.query import Hits, Query, Where
from tokonoma.core.server_info import House
from tokonoma.pipeline.row_filter import Filter, Filtered, Unfiltered


@dataclass(frozen=True, slots=True)
class Rooms:
    """What desks are joined from; the composition root hands it in."""

    house: House
    directory: Directory
    guarded: Callable[[], frozenset[str]]
    unlabelled: Callable[[], frozenset[str]]
    reading: Callable[[Call], AbstractContextManager[Rows]]
    writing: Callable[[Call], AbstractContextManager[Statements]]  # stores the call's journal entry before the commit
    upkeep: Callable[[], AbstractContextManager[Statements]]  # without an entry, and not interrupted
    put: Callable[[Statements, Document, Policy], Label]
    drop: Callable[[Statements, str], None]
    find: Callable[[Call, Query, Where, tuple[Label, ...]], Hits]  # inside the walls around the call's principal
    fresh: Callable[[Statements], Policy]  # the policy that this transaction is bound by
    boundary: Callable[[Call], Boundary]


class CallDesk:
    __slots__ = ("_filter", "_rooms", "call")

    def __init__(self, rooms: Rooms, call: Call) -> None:
        self._rooms = rooms
        self._filter = Filtered(call, rooms.guarded, rooms.unlabelled)
        self.call = call

    @property
    def principal(self) -> Principal:
        return self.call.who

    @property
    def house(self) -> House:
        return self._rooms.house

    @property
    def boundary(self) -> Boundary:
        return self._rooms.boundary(self.call)

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        with self._rooms.reading(self.call) as rows:
            return self._filter.rows(rows, sql, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        with self._rooms.reading(self.call) as rows:
            return self._filter.row(rows, sql, params)

    @contextmanager
    def write(self) -> Generator[Tx]:
        if self.call.journaled:
            raise RuntimeError("a call writes once: put everything into one `with desk.write()`")
        with self._rooms.writing(self.call) as statements:
            yield DeskTx(statements, self._filter, self._rooms, self.call)
        self.call.journaled = True

    @contextmanager
    def upkeep(self) -> Generator[Tx]:
        with self._rooms.upkeep() as statements:
            yield DeskTx(statements, Unfiltered(), self._rooms, self.call)

    def read(self, address: str) -> Record:
        self._rooms.directory.fresh(self, address)
        with self._rooms.reading(self.call) as rows:
            record = self._rooms.directory.record(rows, address)
        view = self.call.seen
        classes: set[Label] = set() if record is None else {record.label, *record.holds}
        if record is None or not classes.issubset(view.labels) or not inside(record.space, self.principal.root):
            raise Missing(f"There is no record at {address}.", address=address)
        self.call.marked |= not classes.issubset(view.plain)
        return record

    def used(self, address: str, trace_id: str) -> None:
        self._rooms.directory.used(self, address, trace_id)

    def find(self, query: Query, where: Where) -> Hits:
        seen, view = self._seen(where), self.call.seen
        wanted = where.labels
        labels: list[Label] = [label for label in view.labels if wanted is None or label in wanted]
        if seen is None or not labels:
            return Hits([], query.mode)
        hits = self._rooms.find(self.call, query, seen, tuple(labels))
        if view.masks and not self.call.marked and hits.items:
            self.call.marked = self._any_masked([hit.address for hit in hits.items])
        return hits

    def _any_masked(self, addresses: Sequence[str]) -> bool:
        """Hits carry titles: whether one of these must be looked through on its way out."""
        view = self.call.seen
        names = {f"a{number}": address for number, address in enumerate(addresses)}
        listed = ", ".join(f":{name}" for name in names)
        plain = ", ".join(f"'{label}'" for label in view.plain) or "''"  # our own words
        sql = f"select 1 from document where address in ({listed}) and label not in ({plain}) limit 1"  # noqa: S608
        return self.row(sql, **names) is not None

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


class DeskTx:
    """The statements of one transaction, filtered like every other reading of the desk, with the index beside them."""

    __slots__ = ("_call", "_filter", "_policy", "_rooms", "statements")

    def __init__(self, statements: Statements, filter: Filter, rooms: Rooms, call: Call) -> None:
        self.statements, self._filter, self._rooms, self._call = statements, filter, rooms, call
        self._policy: Policy | None = None

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        return self._filter.rows(self.statements, sql, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        return self._filter.row(self.statements, sql, params)

    def run(self, sql: str, /, **params: Any) -> int:
        sql, extra = self._filter.expanded(sql)
        return self.statements.run(sql, **params, **extra)

    def many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        sql, extra = self._filter.expanded(sql)
        self.statements.many(sql, [{**each, **extra} for each in params] if extra else params)

    def put(self, document: Document) -> Label:
        label = self._rooms.put(self.statements, document, self._binding())
        # Who tells what was just written tells it as it will be read.
        self._call.marked |= label not in self._call.seen.plain
        return label

    def drop(self, address: str) -> None:
        self._rooms.drop(self.statements, address)

    def label(self, label: Label, space: str, *texts: str) -> Label:
        return self._binding().label(label, self._call.module, space, texts)

    def _binding(self) -> Policy:
        if self._policy is None:
            self._policy = self._rooms.fresh(self.statements)
        return self._policy
