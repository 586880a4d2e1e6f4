"""The shared index over all modules: a row for every record, its terms and its facts, written with the record.

The index is written in the transaction of the module's own rows: what is saved can be found at once, and what is not
saved cannot be found. Only vectors come later, from a queue that is filled in the same transaction too.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, format_address
from tokonoma.core.embedding import StoredModel
from tokonoma.core.policy import DocumentScan
from tokonoma.core.query import Hits, LikeRecord, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.document_rows import AT, COMPARED, HELD, MASKED, build_entry, build_row, reserve_numbers
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
    update_corpus,
)
from tokonoma.search.text.tokenize import FORMAT_VERSION, TermCounts
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector, VectorMatch
from tokonoma.store.dialect import DatabaseKind

OnDocumentsChanged = Callable[[Statements, Sequence[int], bool], None]
"""Documents whose texts are new; true: of many, whose vectors may be made later than those of what a caller saves."""

_OLD = f"{HELD} where address = :address {{for_update}}"
_OLD_PAGE = f"{HELD} where address in ({{texts}})"
_INSERT = """insert into document
    (address, module, space, label, title, digest, changed_at, at, expires_at, thread, place, length, form, declared,
    kinds, detectors, author, masked, valid_from, valid_until)
values (:address, :module, :space, :label, :title, :digest, :changed_at, :at, :expires_at, :thread, :at, :length, :form,
    :declared, :kinds, :detectors, :author, :masked, :valid_from, :valid_until)
on conflict (address) do nothing returning id"""
_INSERT_NUMBERED = (
    _INSERT.replace("(address,", "(id, address,").replace("(:address,", "(:id, :address,").removesuffix(" returning id")
)
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


class MarkedDocument(NamedTuple):
    """A document, what the policy says of it, and who wrote it; None: see `SearchIndex.put`."""

    document: Document
    mark: Classification | DocumentScan
    author: str | None = None


class SearchIndex:
    """One per process. `enqueue` is called for documents whose texts are new."""

    def __init__(
        self, kind: DatabaseKind, vectors: VectorSearch | None = None, enqueue: OnDocumentsChanged | None = None
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
        row = build_row(document, mark, old, author)
        if old is None:
            old = self._insert(statements, prepared, row)
            if old is None:
                return row["label"]
            row = build_row(document, mark, old, author)
        self._update(statements, [_RowUpdate(prepared, row, old)])
        return row["label"]

    def put_all(
        self,
        statements: Statements,
        documents: Sequence[tuple[Document, Classification | DocumentScan, str | None]],
    ) -> list[Classification]:
        """The same for many documents, each at an address of its own. Those that are new are written together."""
        marked = [MarkedDocument(*each) for each in documents]
        addresses = json.dumps([each.document.address for each in marked])
        held = {row[-1] for row in statements.rows(f"{_OLD_PAGE} {{for_update}}", texts=addresses)}
        new = [each for each in marked if each.document.address not in held]
        labels = self._insert_all(statements, new)
        return [labels.get(each.document.address) or self.put(statements, *each) for each in marked]

    def _insert_all(self, statements: Statements, new: Sequence[MarkedDocument]) -> dict[str, Classification]:
        """Returns the classes by address; without those that another transaction put at the same moment."""
        prepared = [PreparedDocument(each.document, each.mark) for each in new]
        made = {
            number: (each, build_row(each.document, each.mark, None, of.author))
            for number, each, of in zip(reserve_numbers(self.kind, statements, len(new)), prepared, new, strict=True)
        }
        statements.run_many(
            _INSERT_NUMBERED,
            [
                {**row, "id": number, "length": each.terms.length, "form": FORMAT_VERSION}
                for number, (each, row) in made.items()
            ],
        )
        stored = statements.rows("select id from document where id in ({numbers})", numbers=json.dumps([*made]))
        ours = {number: made[number] for (number,) in stored}
        write_facts(statements, {number: each.facts for number, (each, _) in ours.items()}, {})
        for number, (each, _) in ours.items():
            if each.document.supersedes:
                write_supersedes(statements, number, each.document.supersedes, new=True)
        self._enqueue_all(statements, [(number, each.is_part) for number, (each, _) in ours.items()])
        entries = [build_entry(number, row, each.terms, new=True) for number, (each, row) in ours.items()]
        terms = [each.terms for each, _ in ours.values()]
        if entries:
            self._write_terms(statements, entries, terms, len(entries), sum(each.length for each in terms))
        return {row["address"]: row["label"] for _, row in ours.values()}

    def _enqueue_all(self, statements: Statements, new_texts: Sequence[tuple[int, bool]]) -> None:
        """Documents with new texts, and whether their vectors may be made later."""
        for later in (False, True):
            numbers = [number for number, is_later in new_texts if is_later == later]
            if numbers and self._enqueue is not None:
                self._enqueue(statements, numbers, later)

    def rewrite(self, statements: Statements, page: Sequence[PreparedDocument]) -> None:
        """Write documents that have rows, also the terms of those that are as they were."""
        addresses = json.dumps([each.document.address for each in page])
        held = {row[-1]: row for row in statements.rows(_OLD_PAGE, texts=addresses)}
        updates: list[_RowUpdate] = []
        for each in page:
            old = held[each.document.address]
            row = build_row(each.document, each.mark, old, each.document.author)
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
            self._enqueue(statements, [number], prepared.is_part)
        self._write_terms(statements, [build_entry(number, row, terms, new=True)], [terms], 1, terms.length)
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
                row["at"] = old[AT]
            row["changed_at"] = prepared.document.changed_at or row["at"]
            has_new_text = digest != row["digest"] or old[MASKED] != row["masked"]
            if has_new_text:
                new_texts.append((number, prepared.is_part or digest == row["digest"]))  # masked anew
            if has_new_text or form != FORMAT_VERSION or rewrite or namespace != row["space"]:
                terms.append(prepared.terms)
                entries.append(build_entry(number, row, prepared.terms, new=form == 0))
                longer += prepared.terms.length - length
                length = prepared.terms.length
            if old[1:-1] != (row["digest"], FORMAT_VERSION, length, *(row[name] for name in COMPARED)):
                values = {name: value for name, value in row.items() if name not in ("address", "module")}
                changed.append({**values, "id": number, "length": length, "form": FORMAT_VERSION})
        statements.run_many(_UPDATE, changed)
        facts = {each.old[0]: each.prepared.facts for each in updates}
        write_facts(statements, facts, read_facts(statements, list(facts)))
        for each in updates:
            write_supersedes(statements, each.old[0], each.prepared.document.supersedes, new=False)
        self._enqueue_all(statements, new_texts)
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
        blank = [build_row(Document(address, "/", ""), "secret", None, None) for address in seen if address not in held]
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
    old: Row  # as HELD reads it
