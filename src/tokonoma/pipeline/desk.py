"""The desk that a tool receives, made anew for each call."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from tokonoma.catalogue.registry import GATEWAY
from tokonoma.core.call import Call, Principal
from tokonoma.core.desk import (
    Classification,
    FoundPlace,
    Record,
    Row,
    Rows,
    Statements,
    Tx,
    format_address,
    parse_address,
)
from tokonoma.core.errors import Missing
from tokonoma.core.module import ServerInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.policy import DeskPolicy
from tokonoma.core.query import Hit, Hits, LikeRecord, Query, SearchFilter
from tokonoma.core.tracing import format_traceparent, record_span
from tokonoma.pipeline.authors import read_authors
from tokonoma.pipeline.desk_tx import DeskParts, DeskTx
from tokonoma.pipeline.row_filter import CallerRowFilter, NoRowFilter

T = TypeVar("T")


class CallDesk:
    __slots__ = ("_filter", "_parts", "_policy", "call")

    def __init__(self, parts: DeskParts, call: Call, module: str = "") -> None:
        """`module`: whose code uses it, if not the tool's own."""
        self._parts = parts
        tables = parts.record_tables, parts.textless_tables, parts.unclassified_tables
        self._filter = CallerRowFilter(call, *tables, module=module)
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
        # A module that is not visible is not even loaded.
        module = addresses.find_owner(address) if self._is_seen(address) else None
        if module is not None and module.refresh is not None:  # its source may have changed
            module.refresh(self, address)
        found = self.read_all([address])
        if not found:
            raise Missing(f"There is no record at {address}.", address=address)
        self.cite(address, found[address].author)
        return found[address]

    def read_all(self, addresses: Sequence[str]) -> dict[str, Record]:
        known, found = self._parts.addresses, dict[str, Record]()
        with self._open_read() as rows:
            for address in addresses:
                record = known.read_record(rows, address) if self._is_seen(address) else None
                if record is not None and self._may_read(rows, address, record):
                    found[address] = self.call.record_masks.mask_record(record)
        return found

    def _is_seen(self, address: str) -> bool:
        """Whether the caller may be shown records of this module. Who may only write there is shown none by the tools
        of other modules; the meta-tools decide it by the tools that they stand for."""
        addresses, module, tool = self._parts.addresses, parse_address(address)[0], self.call.chosen_tool
        if tool.module in (module, GATEWAY):
            return addresses.is_visible(self.principal, address)
        return addresses.is_readable(self.principal, module)

    def _may_read(self, rows: Rows, address: str, record: Record) -> bool:
        # The index knows the class also where a plugin has not updated its own row.
        indexed = rows.rows("select label from document where address = :address", address=address)
        classes = {record.classification, *record.part_classifications, *(label for (label,) in indexed)}
        is_readable = classes.issubset(self.call.granted_view.classifications)
        return is_readable and is_inside(record.namespace, self.principal.root)

    def as_module(self, name: str) -> "CallDesk":
        return CallDesk(self._parts, self.call, name)

    def mark_used(self, address: str, trace_id: str) -> None:
        if (module := self._parts.addresses.find_owner(address)) and module.on_used:
            module.on_used(self, address, trace_id)

    def list_found(self, module: str, trace_id: str) -> Sequence[FoundPlace] | None:
        address, addresses = format_address(module, trace_id), self._parts.addresses
        found = addresses.find_owner(address) if self._is_seen(address) else None
        return found.list_found(self, trace_id) if found and found.list_found else None

    def find(self, query: Query, where: SearchFilter) -> Hits:
        seen, view = self._limit_modules(where), self.call.granted_view
        wanted = where.classifications
        labels: list[Classification] = [label for label in view.classifications if wanted is None or label in wanted]
        if seen is None or not labels:
            return Hits([], query.mode)
        hits = self._parts.find(self.call, query, seen, tuple(labels))
        self.call.found += [hit.address for hit in hits.items]
        return replace(hits, items=[self._mask_title(hit) for hit in hits.items])

    def find_near(
        self, addresses: Sequence[str], where: SearchFilter, least: float, most: int
    ) -> Mapping[str, Mapping[str, float]] | None:
        seen, labels = self._limit_modules(where), self.call.granted_view.classifications
        if seen is None or not labels:
            return {}
        return self._parts.find_near(self.call, addresses, seen, labels, least, most)

    def find_successors(self, addresses: Sequence[str]) -> Mapping[str, str]:
        labels = self.call.granted_view.classifications
        return self._parts.find_successors(self.call, addresses, labels) if addresses and labels else {}

    def find_like(self, address: str, text: str, where: SearchFilter, least: float, most: int) -> Sequence[LikeRecord]:
        seen, labels = self._limit_modules(where), self.call.granted_view.classifications
        if seen is None or not labels:
            return ()
        return self._parts.find_like(self.call, address, text, seen, labels, least, most)

    def compare_texts(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]] | None:
        masked = {each: self.policy.redact(each)[0] for text, others in pairs for each in (text, *others)}
        return self._parts.compare([(masked[text], [masked[other] for other in others]) for text, others in pairs])

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
