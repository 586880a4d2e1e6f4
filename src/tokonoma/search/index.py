"""The shared index over all modules: a row for every record, its terms and its facts, written with the record.

The index is written in the transaction of the module's own rows: what is saved can be found at once, and what is not
saved cannot be found. Only vectors come later, from a queue that is filled in the same transaction too.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, format_address, parse_address
from tokonoma.core.embedding import StoredModel
from tokonoma.core.policy import DocumentScan
from tokonoma.core.query import Hits, LikeRecord, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.facts import read_facts, write_facts
from tokonoma.search.filters import compile_filter
from tokonoma.search.find import SearchContext, find
from tokonoma.search.like import ComparedRecord, find_like
from tokonoma.search.marks import find_last, read_successors, write_supersedes
from tokonoma.search.prepared import PreparedDocument
from tokonoma.search.text.term_index import (
    PostgresTermIndex,
    SqliteTermIndex,
    TermEntry,
    TermFrequencies,
    TermIndex,
    build_location_tags,
    to_title_tag,
    update_corpus,
)
from tokonoma.search.text.tokenize import FORMAT_VERSION, TermCounts
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector, VectorMatch
from tokonoma.store.dialect import DatabaseKind

OnDocumentChanged = Callable[[Statements, int, bool], None]
"""A document whose text is new; true: one of many, whose vector may be made later than that of what a caller saves."""

_COMPARED = (
    "module", "space", "label", "title", "thread", "at", "expires_at", "declared", "kinds", "detectors", "author",
    "masked", "changed_at", "valid_from", "valid_until",
)  # fmt: skip
_HELD = f"select id, digest, form, length, {', '.join(_COMPARED)}, address from document"  # noqa: S608 - our own names
_OLD = f"{_HELD} where address = :address {{for_update}}"
_OLD_PAGE = f"{_HELD} where address in ({{texts}})"
_DIGEST, _LABEL, _AT, _DECLARED, _AUTHOR, _MASKED = 1, 6, 9, 11, 14, 15  # where _HELD has them
_INSERT = """insert into document
    (address, module, space, label, title, digest, changed_at, at, expires_at, thread, place, length, form, declared,
    kinds, detectors, author, masked, valid_from, valid_until)
values (:address, :module, :space, :label, :title, :digest, :changed_at, :at, :expires_at, :thread, :at, :length, :form,
    :declared, :kinds, :detectors, :author, :masked, :valid_from, :valid_until)
on conflict (address) do nothing returning id"""
_UPDATE = """update document set space = :space, label = :label, title = :title, digest = :digest,
    changed_at = :changed_at, at = :at, expires_at = :expires_at, thread = :thread,
    place = case when form = 0 then :at else place end, length = :length, form = :form,
    declared = :declared, kinds = :kinds, detectors = :detectors, author = :author, masked = :masked,
    valid_from = :valid_from, valid_until = :valid_until
where id = :id"""
_TERMS = """insert into terms (document, data) values (:id, :data)
on conflict (document) do update set data = excluded.data where terms.data <> excluded.data"""
# By the address alone: with a condition on the module, SQLite would read and sort all rows of the module.
_PAGE = "select address from document where address > :after and address {upto} :last order by address"


class SearchIndex:
    """One per process. `enqueue` is called for every document whose text is new."""

    def __init__(
        self, kind: DatabaseKind, vectors: VectorSearch | None = None, enqueue: OnDocumentChanged | None = None
    ) -> None:
        self.kind: DatabaseKind = kind
        self.term_index: TermIndex = SqliteTermIndex() if kind == "sqlite" else PostgresTermIndex()
        self._enqueue = enqueue
        frequencies = TermFrequencies(self.term_index.count_documents)
        self._context = SearchContext(kind, self.term_index, frequencies, vectors)

    def embed_query(self, query: Query) -> QueryVector | None:
        """The query as a vector. This may call a remote provider: do it before a transaction begins."""
        vectors = self._context.vectors
        if query.mode == "text" or not query.text.strip() or query.pivot is not None or vectors is None:
            return None
        text = query.text
        if query.boost_dates and query.mode != "vector":  # that it is of last week, a text does not say
            from tokonoma.search.times import read_times  # late: not every process searches

            text = read_times(text, now()).rest
        return vectors.embed_query(text)

    def find(
        self, rows: Rows, query: Query, where: SearchFilter, scope: SearchScope, vector: QueryVector | None = None
    ) -> Hits:
        return find(self._context, rows, query, where, scope, vector)

    def find_successors(self, rows: Rows, addresses: Sequence[str], scope: SearchScope) -> dict[str, str]:
        """Of these records, those that were replaced, each with what stands in its place now."""
        return find_last(read_successors(rows, addresses, compile_filter(SearchFilter(), scope)), addresses)

    def find_like(
        self,
        rows: Rows,
        address: str,
        found: tuple[StoredModel, QueryVector],
        language: str,
        waiting: Mapping[str, VectorMatch],
        where: SearchFilter,
        scope: SearchScope,
        least: float,
        most: int,
    ) -> list[LikeRecord]:
        """See like.py. `found`: the model and the vector of the record at this address, which is in this language.
        `waiting`: records whose own vectors are not stored yet."""
        assert self._context.vectors is not None
        pool = CandidatePool(self.kind, rows, compile_filter(where, scope))
        near = self._context.vectors.find_like(rows, *found, pool.filter, TUNING.like_proposed)
        farthest = min(each.similarity for each in near.values()) if len(near) >= TUNING.like_proposed else 0.0
        recent = {other: match for other, match in waiting.items() if match.similarity >= farthest}
        record = ComparedRecord(address, where.namespace, language)
        return find_like(pool, scope, record, near, recent, least, most)

    def put(
        self,
        statements: Statements,
        document: Document,
        mark: Classification | DocumentScan,
        author: str | None = None,
    ) -> Classification:
        """Write what has changed. Without an author, a text that is as it was keeps the one that it has. Returns the
        document's class."""
        prepared = PreparedDocument(document, mark)
        old = statements.row(_OLD, address=document.address)
        row = _build_row(document, mark, old, author)
        if old is None:
            old = self._insert(statements, prepared, row)
            if old is None:
                return row["label"]
            row = _build_row(document, mark, old, author)
        self._update(statements, [_RowUpdate(prepared, row, old)])
        return row["label"]

    def rewrite(self, statements: Statements, page: Sequence[PreparedDocument]) -> None:
        """Write documents that have rows, also the terms of those that are as they were."""
        addresses = json.dumps([each.document.address for each in page])
        held = {row[-1]: row for row in statements.rows(_OLD_PAGE, texts=addresses)}
        updates: list[_RowUpdate] = []
        for each in page:
            old = held[each.document.address]
            row = _build_row(each.document, each.mark, old, each.document.author)
            updates.append(_RowUpdate(each, row, old))
        self._update(statements, updates, rewrite=True)

    def _insert(self, statements: Statements, prepared: PreparedDocument, row: dict[str, Any]) -> Row | None:
        """None if it is done; else the row that another transaction put at the same moment."""
        terms = prepared.terms
        inserted = statements.row(_INSERT, **row, length=terms.length, form=FORMAT_VERSION)
        if inserted is None:
            return statements.row(_OLD, address=row["address"])
        number: int = inserted[0]
        write_facts(statements, {number: prepared.facts}, {})
        write_supersedes(statements, number, prepared.document.supersedes, new=True)
        if self._enqueue is not None:
            self._enqueue(statements, number, prepared.is_part)
        self._write_terms(statements, [_build_entry(number, row, terms, new=True)], [terms], 1, terms.length)
        return None

    def _update(self, statements: Statements, updates: Sequence["_RowUpdate"], *, rewrite: bool = False) -> None:
        changed: list[dict[str, Any]] = []
        entries: list[TermEntry] = []
        terms: list[TermCounts] = []
        new_texts: list[tuple[int, bool]] = []
        longer = 0
        for prepared, row, old in updates:
            number, digest, form, length, _module, namespace, *_ = old
            if not prepared.document.at and digest == row["digest"]:
                row["at"] = old[_AT]
            row["changed_at"] = prepared.document.changed_at or row["at"]
            has_new_text = digest != row["digest"] or old[_MASKED] != row["masked"]
            if has_new_text:
                new_texts.append((number, prepared.is_part or digest == row["digest"]))  # masked anew
            if has_new_text or form != FORMAT_VERSION or rewrite or namespace != row["space"]:
                terms.append(prepared.terms)
                entries.append(_build_entry(number, row, prepared.terms, new=form == 0))
                longer += prepared.terms.length - length
                length = prepared.terms.length
            if old[1:-1] != (row["digest"], FORMAT_VERSION, length, *(row[name] for name in _COMPARED)):
                values = {name: value for name, value in row.items() if name not in ("address", "module")}
                changed.append({**values, "id": number, "length": length, "form": FORMAT_VERSION})
        statements.run_many(_UPDATE, changed)
        facts = {each.old[0]: each.prepared.facts for each in updates}
        write_facts(statements, facts, read_facts(statements, list(facts)))
        for each in updates:
            write_supersedes(statements, each.old[0], each.prepared.document.supersedes, new=False)
        if self._enqueue is not None:
            for number, later in new_texts:
                self._enqueue(statements, number, later)
        if entries:
            self._write_terms(statements, entries, terms, sum(each.new for each in entries), longer)

    def _write_terms(
        self, statements: Statements, entries: Sequence[TermEntry], terms: Sequence[TermCounts], more: int, longer: int
    ) -> None:
        """The last that is written: a change of another table would make FTS5 write what it has collected to disk."""
        packed = [{"id": entry.document, "data": each.packed} for entry, each in zip(entries, terms, strict=True)]
        statements.run_many(_TERMS, packed)
        update_corpus(self.kind, statements, [entry.document for entry in entries], more, longer)
        self.term_index.write(statements, entries)

    def drop(self, statements: Statements, address: str) -> None:
        old = statements.row(_OLD, address=address)
        if old is None:
            return
        number, _, form, length, *_ = old
        if form:
            self.term_index.erase(statements, number)
            update_corpus(self.kind, statements, [number], -1, -length)
        statements.run("delete from document where id = :id", id=number)

    def lock_page(
        self, statements: Statements, module: str, after: str, last: str | None, seen: Sequence[str]
    ) -> tuple[set[str], set[str]]:
        """Lock the rows of a page of a module, except those that another transaction has locked. Returns the locked
        addresses, and those of `seen` that the index lacked: they have a row now, without terms."""
        prefix = format_address(module, "")
        sql = _PAGE.replace("{upto}", "<" if last is None else "<=")
        bounds = {"after": after or prefix, "last": last or f"{prefix[:-1]}0"}  # 0 is the letter after /
        held = {row[0] for row in statements.rows(f"{sql} {{for_update_free}}", **bounds)}
        blank = [
            _build_row(Document(address, "/", ""), "secret", None, None) for address in seen if address not in held
        ]
        return held, {
            row["address"] for row in blank if statements.rows(_INSERT, **{**row, "digest": ""}, length=0, form=0)
        }


def count_by_module(rows: Rows) -> dict[str, int]:
    return dict(rows.rows("select module, count(*) from document group by module order by module"))


def count_outdated(rows: Rows) -> int:
    """Records whose terms were written by an earlier version of this program. They are found, but not as well."""
    return rows.rows("select count(*) from document where form <> :form", form=FORMAT_VERSION)[0][0]


class _RowUpdate(NamedTuple):
    prepared: PreparedDocument
    row: dict[str, Any]  # as it is to be
    old: Row  # as _HELD reads it


def _build_entry(number: int, row: dict[str, Any], terms: TermCounts, *, new: bool) -> TermEntry:
    tags = [*build_location_tags(row["module"], row["space"]), *map(to_title_tag, terms.title)]
    return TermEntry(number, terms.counts, tags, new)


def _build_row(
    document: Document, mark: Classification | DocumentScan, old: Row | None, author: str | None
) -> dict[str, Any]:
    at = now()
    # A module that stores the class it was given repeats it with the next change: that declares nothing new.
    repeated = old is not None and old[_DECLARED] and old[_LABEL] == document.classification
    declared = old[_DECLARED] if old is not None and repeated else document.classification
    is_scan = isinstance(mark, DocumentScan)
    content = f"{document.title}\0{document.text}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(content).hexdigest()
    if author is None:
        author = old[_AUTHOR] if old is not None and old[_DIGEST] == digest else ""
    return {
        "address": document.address,
        "module": parse_address(document.address)[0],
        "space": document.namespace,
        "label": mark.classify(declared) if is_scan else mark,
        "title": document.title,
        "digest": digest,
        "changed_at": document.changed_at or document.at or at,
        "at": document.at or at,
        "expires_at": document.expires_at,
        "thread": document.thread,
        "declared": declared if is_scan else "",
        "kinds": mark.kinds if is_scan else "",
        "detectors": mark.detectors_version if is_scan else "",
        "author": author,
        "masked": mark.masked if is_scan else "",
        "valid_from": document.valid_from,
        "valid_until": document.valid_until,
    }
