"""What desks are made from, and their transactions."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tokonoma.core.addresses import Addresses
from tokonoma.core.call import Call
from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, SourceText, Statements, Tx
from tokonoma.core.module import ServerInfo
from tokonoma.core.policy import DeskPolicy, Policy
from tokonoma.core.query import Hits, LikeRecord, Query, SearchFilter
from tokonoma.core.service import ServiceClient
from tokonoma.core.tracing import Tracer
from tokonoma.pipeline.row_filter import RowFilter
from tokonoma.policy.cursors import CursorSealer
from tokonoma.store.database import Database


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
    index_documents: Callable[[Statements, Sequence[tuple[Document, str | None]], Policy], list[Classification]]
    unindex_document: Callable[[Statements, str], None]
    # Takes the documents at these addresses out of the queue of those to be embedded; puts such documents back into it.
    hold_vectors: Callable[[Statements, Sequence[str]], list[int]]
    queue_vectors: Callable[[Statements, Sequence[int]], None]
    # Inside the root and the classifications of the call's principal.
    find: Callable[[Call, Query, SearchFilter, tuple[Classification, ...]], Hits]
    find_near: Callable[
        [Call, Sequence[str], SearchFilter, tuple[Classification, ...], float, int],
        Mapping[str, Mapping[str, float]] | None,
    ]
    find_successors: Callable[[Call, Sequence[str], tuple[Classification, ...]], Mapping[str, str]]
    find_like: Callable[[Call, str, str, SearchFilter, tuple[Classification, ...], float, int], Sequence[LikeRecord]]
    compare: Callable[[Sequence[tuple[str, Sequence[str]]]], list[list[float]] | None]
    lock_policy: Callable[[Statements], Policy]  # the policy that holds until this transaction ends
    build_policy: Callable[[Call], DeskPolicy]
    cursors: CursorSealer
    start_job: Callable[[str, Callable[[], float | None], Callable[[], object]], None]
    connect: Callable[[Call, str | None], ServiceClient]  # the account that the call names, or that is meant
    now: Callable[[], int] = now
    spans: Tracer | None = None


class DeskTx:
    """The statements of one transaction, filtered like every other reading of the desk, with the index beside them."""

    __slots__ = ("_author", "_call", "_filter", "_parts", "_policy", "_put", "statements")

    def __init__(
        self, statements: Statements, filter: RowFilter, rooms: DeskParts, call: Call, author: str | None = None
    ) -> None:
        """`author`: who writes; None for upkeep, which writes no text of its own."""
        self.statements, self._filter, self._parts, self._call = statements, filter, rooms, call
        self._author = author
        self._policy: Policy | None = None
        self._put: list[str] = []  # addresses

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
        self._note_put(document, author)
        return label

    def put_all(self, documents: Sequence[Document]) -> list[Classification]:
        written = [(each, self._author if each.author is None else each.author) for each in documents]
        labels = self._parts.index_documents(self.statements, written, self._lock_policy())
        for document, author in written:
            self._note_put(document, author)
        return labels

    def _note_put(self, document: Document, author: str | None) -> None:
        self._put.append(document.address)
        if author is not None and self._author is not None:  # an answer about it need not read who wrote it
            self._call.sources[document.address] = author

    def drop(self, address: str) -> None:
        self._parts.unindex_document(self.statements, address)

    def hold_vectors(self) -> list[int]:
        return self._parts.hold_vectors(self.statements, self._put)

    def queue_vectors(self, held: Sequence[int]) -> None:
        self._parts.queue_vectors(self.statements, held)

    def classify(self, label: Classification, space: str, *texts: str) -> Classification:
        return self._lock_policy().classify(label, self._call.module, space, texts)

    @property
    def masks_key(self) -> str:
        return self._lock_policy().masks_key

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        return self._lock_policy().mask_for_index(text, address, namespace)

    def find_change(self, before: str, source: SourceText) -> int:
        return self._lock_policy().find_change(before, source)

    def _lock_policy(self) -> Policy:
        if self._policy is None:
            self._policy = self._parts.lock_policy(self.statements)
        return self._policy


def get_statements(tx: Tx) -> Statements:
    """The statements of a desk's transaction, without the row filter."""
    assert isinstance(tx, DeskTx)
    return tx.statements
