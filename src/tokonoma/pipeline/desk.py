"""The desk that a tool receives, made anew for each call."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tokonoma.core.call import Call, Principal
from tokonoma.core.clock import now
from tokonoma.core.desk import Addresses, Classification, Document, Record, Row, Rows, Statements, Tx, parse_address
from tokonoma.core.errors import Missing
from tokonoma.core.module import ServerInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.policy import DeskPolicy, Policy
from tokonoma.core.query import Hit, Hits, Query, SearchFilter
from tokonoma.core.tracing import Tracer, format_traceparent, record_span
from tokonoma.pipeline.authors import read_authors
from tokonoma.pipeline.row_filter import CallerRowFilter, NoRowFilter, RowFilter
from tokonoma.policy.cursors import CursorSealer
from tokonoma.store.database import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DeskParts:
    """What every desk is made from; `app` hands it in."""

    server: ServerInfo
    addresses: Addresses
    record_tables: Callable[[], frozenset[str]]
    textless_tables: Callable[[], frozenset[str]]
    unclassified_tables: Callable[[], frozenset[str]]
    database: Database
    # Stores the call's journal entry before the commit.
    open_write: Callable[[Call], AbstractContextManager[Statements]]
    index_document: Callable[[Statements, Document, Policy, str | None], Classification]
    unindex_document: Callable[[Statements, str], None]
    # Inside the root and the classifications of the call's principal.
    find: Callable[[Call, Query, SearchFilter, tuple[Classification, ...]], Hits]
    lock_policy: Callable[[Statements], Policy]  # the policy that holds until this transaction ends
    build_policy: Callable[[Call], DeskPolicy]
    cursors: CursorSealer
    start_job: Callable[[str, Callable[[], float | None], Callable[[], object]], None]
    now: Callable[[], int] = now
    spans: Tracer | None = None


class CallDesk:
    __slots__ = ("_filter", "_parts", "_policy", "call")

    def __init__(self, parts: DeskParts, call: Call) -> None:
        self._parts = parts
        self._filter = CallerRowFilter(call, parts.record_tables, parts.textless_tables, parts.unclassified_tables)
        self._policy: DeskPolicy | None = None
        self.call = call

    @property
    def principal(self) -> Principal:
        return self.call.principal

    @property
    def server(self) -> ServerInfo:
        return self._parts.server

    @property
    def policy(self) -> DeskPolicy:
        if self._policy is None:
            self._policy = self._parts.build_policy(self.call)
        return self._policy

    def now(self) -> int:
        return self._parts.now()

    def start_job(self, name: str, step: Callable[[], float | None], on_stop: Callable[[], object]) -> None:
        self._parts.start_job(name, step, on_stop)

    def _open_read(self) -> AbstractContextManager[Rows]:
        opened = self._parts.database.reading(self.call.cancel_token)
        return opened if self._parts.spans is None else self._time("database read", opened)

    def _open_write(self) -> AbstractContextManager[Statements]:
        opened = self._parts.open_write(self.call)
        return opened if self._parts.spans is None else self._time("database write", opened)

    @contextmanager
    def _time(self, name: str, opened: AbstractContextManager[T]) -> Generator[T]:
        assert self._parts.spans is not None
        with (
            record_span(self._parts.spans, name, format_traceparent(self.call.trace_id, self.call.span_id)),
            opened as inner,
        ):
            yield inner

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        with self._open_read() as rows:
            return self._filter.rows(rows, sql, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        with self._open_read() as rows:
            return self._filter.row(rows, sql, params)

    @property
    def may_write(self) -> bool:
        tool = self.call.chosen_tool
        return tool.effect != "read" or (tool.keeps_log and self.principal.reach.may_write(tool.module))

    @contextmanager
    def write(self) -> Generator[Tx]:
        if not self.may_write:
            # Clients and masks trust the mark of a tool, so it must not be possible for one to be wrong.
            raise RuntimeError(f"{self.call.chosen_tool.path} is marked as reading: give it an effect, or keeps_log")
        if self.call.journaled:
            raise RuntimeError("a call writes once: put everything into one `with desk.write()`")
        if self.call.chosen_tool.effect != "destroy":
            self._parts.database.check_room()  # on a full disk, what is left is for deletions
        with self._open_write() as statements:
            yield DeskTx(statements, self._filter.for_changes(), self._parts, self.call, self.principal.name)
        self.call.journaled = True
        self.call.cancel_token.outcome = "what it had saved by then stays"

    @contextmanager
    def write_derived(self) -> Generator[Tx]:
        with self._parts.database.writing() as statements:
            yield DeskTx(statements, NoRowFilter(), self._parts, self.call)

    def read(self, address: str) -> Record:
        addresses = self._parts.addresses
        record, indexed = None, list[Row]()
        if addresses.is_visible(self.principal, address):  # a module that is not visible is not even loaded
            addresses.refresh(self, address)
            with self._open_read() as rows:
                record = addresses.read_record(rows, address)
                # The index knows the class also where a plugin has not updated its own row.
                indexed = rows.rows("select label from document where address = :address", address=address)
        view = self.call.granted_view
        classes: set[Classification] = set()
        if record is not None:
            classes = {record.classification, *record.part_classifications, *(label for (label,) in indexed)}
        if (
            record is None
            or not classes.issubset(view.classifications)
            or not is_inside(record.namespace, self.principal.root)
        ):
            raise Missing(f"There is no record at {address}.", address=address)
        self.cite(address, record.author)
        return self.call.record_masks.mask_record(record)

    def mark_used(self, address: str, trace_id: str) -> None:
        self._parts.addresses.mark_used(self, address, trace_id)

    def find(self, query: Query, where: SearchFilter) -> Hits:
        seen, view = self._limit_modules(where), self.call.granted_view
        wanted = where.classifications
        labels: list[Classification] = [label for label in view.classifications if wanted is None or label in wanted]
        if seen is None or not labels:
            return Hits([], query.mode)
        hits = self._parts.find(self.call, query, seen, tuple(labels))
        self.call.found += [hit.address for hit in hits.items]
        return replace(hits, items=[self._mask_title(hit) for hit in hits.items])

    def _mask_title(self, hit: Hit) -> Hit:
        masks = self.call.record_masks
        if not hit.title or not masks.covers(hit.module):
            return hit
        title = masks.mask_text(hit.title, hit.module, hit.namespace, parse_address(hit.address)[1])
        return replace(hit, title=title)

    def _limit_modules(self, where: SearchFilter) -> SearchFilter | None:
        """Modules that this credential must not see are not searched either; None if nothing is left."""
        who = self.principal
        if not who.reach.is_limited:
            return where
        seen = {shelf.name for shelf in self.server.visible_modules(who)}
        asked = tuple(sorted(seen.intersection(where.modules or seen)))
        return replace(where, modules=asked) if asked else None

    def cite(self, address: str, author: str | None = None) -> None:
        self.call.sources.setdefault(address, author)

    def read_authors(self, addresses: Sequence[str]) -> dict[str, str]:
        return read_authors(self._parts.database, self.call, addresses)

    def seal_cursor(self, kind: str, *position: Any) -> str:
        return self._parts.cursors.seal(self.principal, kind, position)

    def open_cursor(self, kind: str, cursor: str) -> list[Any]:
        return self._parts.cursors.open(self.principal, kind, cursor)

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.call.report(progress, total, message)

    def check(self) -> None:
        self.call.cancel_token.check()


class DeskTx:
    """The statements of one transaction, filtered like every other reading of the desk, with the index beside them."""

    __slots__ = ("_author", "_call", "_filter", "_parts", "_policy", "statements")

    def __init__(
        self, statements: Statements, filter: RowFilter, rooms: DeskParts, call: Call, author: str | None = None
    ) -> None:
        """`author`: who writes; None for upkeep, which writes no text of its own."""
        self.statements, self._filter, self._parts, self._call = statements, filter, rooms, call
        self._author = author
        self._policy: Policy | None = None

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        return self._filter.rows(self.statements, sql, params)

    def row(self, sql: str, /, **params: Any) -> Row | None:
        return self._filter.row(self.statements, sql, params)

    def run(self, sql: str, /, **params: Any) -> int:
        sql, extra = self._filter.expand(sql)
        return self.statements.run(sql, **params, **extra)

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        sql, extra = self._filter.expand(sql)
        self.statements.run_many(sql, [{**each, **extra} for each in params] if extra else params)

    def put(self, document: Document, *, same_text: bool = False) -> Classification:
        author = document.author if document.author is not None or same_text else self._author
        label = self._parts.index_document(self.statements, document, self._lock_policy(), author)
        if author is not None and self._author is not None:  # an answer about it need not read who wrote it
            self._call.sources[document.address] = author
        return label

    def drop(self, address: str) -> None:
        self._parts.unindex_document(self.statements, address)

    def classify(self, label: Classification, space: str, *texts: str) -> Classification:
        return self._lock_policy().classify(label, self._call.module, space, texts)

    @property
    def masks_key(self) -> str:
        return self._lock_policy().masks_key

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        return self._lock_policy().mask_for_index(text, address, namespace)

    def _lock_policy(self) -> Policy:
        if self._policy is None:
            self._policy = self._parts.lock_policy(self.statements)
        return self._policy


def get_statements(tx: Tx) -> Statements:
    """The statements of a desk's transaction, without the row filter."""
    assert isinstance(tx, DeskTx)
    return tx.statements
