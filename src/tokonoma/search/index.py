"""The one shared index over all modules: a row for every record, its words and its facts, written with the record.

Whatever is put here is in the same transaction as the module's own rows: what is saved can be found at once, and what
is not saved cannot be found. Only vectors come later, from a queue that is filled in the same transaction too.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, parse_address
from tokonoma.core.policy import DocumentScan
from tokonoma.core.query import Hits, Query, SearchFilter, SearchScope
from tokonoma.search.facts import build_fact_rows
from tokonoma.search.find import SearchContext, embed_query, find
from tokonoma.search.fusion import FusionWeights
from tokonoma.search.statistics import TermFrequencies, update_corpus
from tokonoma.search.term_counts import FORMAT_VERSION, TermCounts, count_terms
from tokonoma.search.term_index import TermIndex, build_location_tags, to_title_tag
from tokonoma.search.term_index_postgres import PostgresTermIndex
from tokonoma.search.term_index_sqlite import SqliteTermIndex
from tokonoma.search.vector_leg import Vector, VectorSearcher
from tokonoma.store.dialect import DatabaseKind

OnDocumentChanged = Callable[[Statements, int], None]

_OLD = """select id, digest, form, length, module, space, label, title, thread, at, expires_at, declared, kinds,
    detectors from document where address = :address {for_update}"""
_INSERT = """insert into document
    (address, module, space, label, title, digest, changed_at, at, expires_at, thread, place, length, form, declared,
    kinds, detectors)
values (:address, :module, :space, :label, :title, :digest, :changed_at, :at, :expires_at, :thread, :at, :length, :form,
    :declared, :kinds, :detectors)
on conflict (address) do nothing returning id"""
_UPDATE = """update document set space = :space, label = :label, title = :title, digest = :digest,
    changed_at = :changed_at, at = :at, expires_at = :expires_at, thread = :thread,
    place = case when form = 0 then :at else place end, length = :length, form = :form,
    declared = :declared, kinds = :kinds, detectors = :detectors
where id = :id"""
_TERMS = """insert into terms (document, data) values (:id, :data)
on conflict (document) do update set data = excluded.data"""
_FACTS = "select key, text, number from fact where document = :id"
_FORGET_FACTS = "delete from fact where document = :id"
_FACT = "insert into fact (document, key, text, number) values (:id, :key, :text, :number)"
_PAGE = "select address from document where module = :module and address > :after"
_COUNTS = "select module, count(*) from document group by module order by module"


class SearchIndex:
    """One a process. `enqueue` is told of every document whose text is new."""

    def __init__(
        self,
        kind: DatabaseKind,
        vectors: VectorSearcher | None = None,
        enqueue: OnDocumentChanged | None = None,
        weights: FusionWeights | None = None,
    ) -> None:
        self.kind: DatabaseKind = kind
        self.term_index: TermIndex = SqliteTermIndex() if kind == "sqlite" else PostgresTermIndex()
        self._enqueue = enqueue
        self._context = SearchContext(
            kind, self.term_index, TermFrequencies(self.term_index.count_documents), vectors, weights or FusionWeights()
        )

    def embed_query(self, query: Query) -> Vector | None:
        """The question as a vector, to be had before a transaction is begun, for it may come from afar."""
        return embed_query(self._context, query)

    def find(
        self, rows: Rows, query: Query, where: SearchFilter, reach: SearchScope, vector: Vector | None = None
    ) -> Hits:
        return find(self._context, rows, query, where, reach, vector)

    def put(
        self, statements: Statements, document: Document, mark: Classification | DocumentScan, *, anew: bool = False
    ) -> Classification:
        """Only what has changed is written; `anew` writes the words again all the same. Returns its class."""
        old = statements.row(_OLD, address=document.address)
        row = _build_row(document, mark, old)
        if old is None:
            old = self._insert(statements, document, row)
            if old is None:
                return row["label"]
            row = _build_row(document, mark, old)
        self._update(statements, document, row, old, anew)
        return row["label"]

    def _insert(self, statements: Statements, document: Document, row: dict[str, Any]) -> Row | None:
        """None if it is done; else the row that somebody put at the same moment."""
        words = count_terms(document.text, document.title)
        made = statements.row(_INSERT, **row, length=words.length, form=FORMAT_VERSION)
        if made is None:
            return statements.row(_OLD, address=document.address)
        number: int = made[0]
        self.term_index.write(statements, number, words.counts, _build_tags(row, words), new=True)
        statements.run(_TERMS, id=number, data=words.packed)
        self._write_facts(statements, number, document, [])
        update_corpus(self.kind, statements, number, 1, words.length)
        if self._enqueue is not None:
            self._enqueue(statements, number)
        return None

    def _update(self, statements: Statements, document: Document, row: dict[str, Any], old: Row, anew: bool) -> None:
        number, digest, form, length, _module, space, *_ = old
        said = digest != row["digest"]
        if not document.at and not said:
            row["at"] = old[9]
        if said or form != FORMAT_VERSION or anew or space != document.namespace:
            words = count_terms(document.text, document.title)
            self.term_index.write(statements, number, words.counts, _build_tags(row, words), new=form == 0)
            statements.run(_TERMS, id=number, data=words.packed)
            update_corpus(self.kind, statements, number, 1 if form == 0 else 0, words.length - length)
            length = words.length
        fresh = (row["digest"], FORMAT_VERSION, length, *(row[name] for name in _COMPARED))
        if fresh != tuple(old[1:]):
            statements.run(_UPDATE, **_without(row, "address", "module"), id=number, length=length, form=FORMAT_VERSION)
        self._write_facts(statements, number, document, statements.rows(_FACTS, id=number))
        if said and self._enqueue is not None:
            self._enqueue(statements, number)

    def _write_facts(self, statements: Statements, number: int, document: Document, old: Sequence[Row]) -> None:
        facts = build_fact_rows(document)
        if len(facts) == len(old) and set(facts) == set(old):
            return
        if old:
            statements.run(_FORGET_FACTS, id=number)
        if facts:
            params = [{"id": number, "key": key, "text": text, "number": value} for key, text, value in facts]
            statements.run_many(_FACT, params)

    def drop(self, statements: Statements, address: str) -> None:
        old = statements.row(_OLD, address=address)
        if old is None:
            return
        number, _, form, length, *_ = old
        if form:
            self.term_index.erase(statements, number)
            update_corpus(self.kind, statements, number, -1, -length)
        statements.run("delete from document where id = :id", id=number)

    def lock_page(
        self, statements: Statements, module: str, after: str, last: str | None, seen: Sequence[str]
    ) -> tuple[set[str], set[str]]:
        """The rows of a page of a module, which nobody else writes until we are done; whatever somebody writes just now
        is left to them. Then those of `seen` that the index lacked: they have a row now, without words."""
        upto = "" if last is None else " and address <= :last"
        sql = f"{_PAGE}{upto} order by address {{for_update_free}}"
        held = {row[0] for row in statements.rows(sql, module=module, after=after, last=last)}
        lacked: set[str] = set()
        for address in seen:
            if address not in held:
                row = _build_row(Document(address, "/", ""), "secret", None)
                if statements.rows(_INSERT, **{**row, "digest": ""}, length=0, form=0):
                    lacked.add(address)
        return held, lacked


_COMPARED = ("module", "space", "label", "title", "thread", "at", "expires_at", "declared", "kinds", "detectors")
_LABEL, _DECLARED = 6, 11  # where _OLD has them


def count_by_module(rows: Rows) -> dict[str, int]:
    """Records by module."""
    return dict(rows.rows(_COUNTS))


def count_outdated(rows: Rows) -> int:
    """Records whose words were cut by an earlier version of this program. They are found, but not as well."""
    row = rows.row("select count(*) from document where form <> :form", form=FORMAT_VERSION)
    return 0 if row is None else row[0]


def _build_tags(row: dict[str, Any], words: TermCounts) -> list[str]:
    return [*build_location_tags(row["module"], row["space"]), *map(to_title_tag, words.title)]


def _build_row(document: Document, mark: Classification | DocumentScan, old: Row | None) -> dict[str, Any]:
    at = now()
    declared = _resolve_declared(document, old)
    said = f"{document.title}\0{document.text}".encode("utf-8", "surrogatepass")
    return {
        "address": document.address,
        "module": parse_address(document.address)[0],
        "space": document.namespace,
        "label": mark.classify(declared) if isinstance(mark, DocumentScan) else mark,
        "title": document.title,
        "digest": hashlib.sha256(said).hexdigest(),
        "changed_at": at,
        "at": document.at or at,
        "expires_at": document.expires_at,
        "thread": document.thread,
        "declared": declared if isinstance(mark, DocumentScan) else "",
        "kinds": mark.kinds if isinstance(mark, DocumentScan) else "",
        "detectors": mark.detectors_version if isinstance(mark, DocumentScan) else "",
    }


def _resolve_declared(document: Document, old: Row | None) -> Classification:
    """A module that stores the class it was given says it again with the next change: it has said nothing new."""
    if old is not None and old[_DECLARED] and old[_LABEL] == document.classification:
        return old[_DECLARED]
    return document.classification


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}
