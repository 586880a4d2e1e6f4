"""The shared index over all modules: a row for every record, its terms and its facts, written with the record.

The index is written in the transaction of the module's own rows: what is saved can be found at once, and what is not
saved cannot be found. Only vectors come later, from a queue that is filled in the same transaction too.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, parse_address
from tokonoma.core.policy import DocumentScan
from tokonoma.core.query import Hits, Query, SearchFilter, SearchScope
from tokonoma.search.filters import MAX_FACTS, to_cells, to_indexed_key
from tokonoma.search.find import SearchContext, find
from tokonoma.search.text.term_index import (
    PostgresTermIndex,
    SqliteTermIndex,
    TermFrequencies,
    TermIndex,
    build_location_tags,
    to_title_tag,
    update_corpus,
)
from tokonoma.search.text.tokenize import FORMAT_VERSION, PRIVATE, TermCounts, count_terms
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.dialect import DatabaseKind

OnDocumentChanged = Callable[[Statements, int], None]

_COMPARED = (
    "module", "space", "label", "title", "thread", "at", "expires_at", "declared", "kinds", "detectors", "author",
    "masked",
)  # fmt: skip
_OLD = f"""select id, digest, form, length, {", ".join(_COMPARED)} from document
where address = :address {{for_update}}"""  # noqa: S608 - our own names
_DIGEST, _LABEL, _AT, _DECLARED, _AUTHOR, _MASKED = 1, 6, 9, 11, 14, 15  # where _OLD has them
_INSERT = """insert into document
    (address, module, space, label, title, digest, changed_at, at, expires_at, thread, place, length, form, declared,
    kinds, detectors, author, masked)
values (:address, :module, :space, :label, :title, :digest, :changed_at, :at, :expires_at, :thread, :at, :length, :form,
    :declared, :kinds, :detectors, :author, :masked)
on conflict (address) do nothing returning id"""
_UPDATE = """update document set space = :space, label = :label, title = :title, digest = :digest,
    changed_at = :changed_at, at = :at, expires_at = :expires_at, thread = :thread,
    place = case when form = 0 then :at else place end, length = :length, form = :form,
    declared = :declared, kinds = :kinds, detectors = :detectors, author = :author, masked = :masked
where id = :id"""
_TERMS = """insert into terms (document, data) values (:id, :data)
on conflict (document) do update set data = excluded.data"""
_FACT = "insert into fact (document, key, text, number) values (:id, :key, :text, :number)"
_PAGE = "select address from document where module = :module and address > :after"


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
        return vectors.embed_query(query.text)

    def find(
        self, rows: Rows, query: Query, where: SearchFilter, scope: SearchScope, vector: QueryVector | None = None
    ) -> Hits:
        return find(self._context, rows, query, where, scope, vector)

    def put(
        self,
        statements: Statements,
        document: Document,
        mark: Classification | DocumentScan,
        author: str | None = None,
        *,
        rewrite: bool = False,
    ) -> Classification:
        """Write what has changed, and with `rewrite` the terms in any case. Without an author, a text that is as it was
        keeps the one that it has. Returns the document's class."""
        old = statements.row(_OLD, address=document.address)
        shown = _ShownDocument.build(document, mark)
        row = _build_row(document, mark, old, author)
        if old is None:
            old = self._insert(statements, shown, row)
            if old is None:
                return row["label"]
            row = _build_row(document, mark, old, author)
        self._update(statements, document, shown, row, old, rewrite)
        return row["label"]

    def _insert(self, statements: Statements, shown: "_ShownDocument", row: dict[str, Any]) -> Row | None:
        """None if it is done; else the row that another transaction put at the same moment."""
        terms = shown.count_terms()
        inserted = statements.row(_INSERT, **row, length=terms.length, form=FORMAT_VERSION)
        if inserted is None:
            return statements.row(_OLD, address=row["address"])
        number: int = inserted[0]
        self._write_terms(statements, number, row, terms, new=True)
        _write_facts(statements, number, shown.facts, [])
        update_corpus(self.kind, statements, number, 1, terms.length)
        if self._enqueue is not None:
            self._enqueue(statements, number)
        return None

    def _update(
        self,
        statements: Statements,
        document: Document,
        shown: "_ShownDocument",
        row: dict[str, Any],
        old: Row,
        rewrite: bool,
    ) -> None:
        number, digest, form, length, _module, namespace, *_ = old
        has_new_text = digest != row["digest"] or old[_MASKED] != row["masked"]
        if not document.at and not has_new_text:
            row["at"] = old[_AT]
        if has_new_text or form != FORMAT_VERSION or rewrite or namespace != document.namespace:
            terms = shown.count_terms()
            self._write_terms(statements, number, row, terms, new=form == 0)
            update_corpus(self.kind, statements, number, 1 if form == 0 else 0, terms.length - length)
            length = terms.length
        if tuple(old[1:]) != (row["digest"], FORMAT_VERSION, length, *(row[name] for name in _COMPARED)):
            changes = {name: value for name, value in row.items() if name not in ("address", "module")}
            statements.run(_UPDATE, **changes, id=number, length=length, form=FORMAT_VERSION)
        old_facts = statements.rows("select key, text, number from fact where document = :id", id=number)
        _write_facts(statements, number, shown.facts, old_facts)
        if has_new_text and self._enqueue is not None:
            self._enqueue(statements, number)

    def _write_terms(
        self, statements: Statements, number: int, row: dict[str, Any], terms: TermCounts, *, new: bool
    ) -> None:
        tags = [*build_location_tags(row["module"], row["space"]), *map(to_title_tag, terms.title)]
        self.term_index.write(statements, number, terms.counts, tags, new=new)
        statements.run(_TERMS, id=number, data=terms.packed)

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
        """Lock the rows of a page of a module, except those that another transaction has locked. Returns the locked
        addresses, and those of `seen` that the index lacked: they have a row now, without terms."""
        upto = "" if last is None else " and address <= :last"
        sql = f"{_PAGE}{upto} order by address {{for_update_free}}"
        held = {row[0] for row in statements.rows(sql, module=module, after=after, last=last)}
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


@dataclass(frozen=True, slots=True)
class _ShownDocument:
    """What the index holds of a document: what every caller may see, and what only some may search by."""

    shown: Document
    private: Document | None

    @classmethod
    def build(cls, document: Document, mark: Classification | DocumentScan) -> "_ShownDocument":
        return cls(mark.shown, mark.private) if isinstance(mark, DocumentScan) else cls(document, None)

    def count_terms(self) -> TermCounts:
        private = self.private and (self.private.text, self.private.title)
        return count_terms(self.shown.text, self.shown.title, private)

    @property
    def facts(self) -> set[tuple[str, str | None, float | None]]:
        facts = {(to_indexed_key(key), *to_cells(value)) for key, value in self.shown.facts[:MAX_FACTS]}
        more = self.private.facts if self.private is not None else ()
        own = {(to_indexed_key(key), *to_cells(value)) for key, value in more[:MAX_FACTS]} - facts
        return facts | {(PRIVATE + key, text, number) for key, text, number in own}


def _write_facts(
    statements: Statements, number: int, facts: set[tuple[str, str | None, float | None]], old: Sequence[Row]
) -> None:
    if len(facts) == len(old) and facts == set(old):
        return
    if old:
        statements.run("delete from fact where document = :id", id=number)
    if facts:
        ordered = sorted(facts, key=lambda fact: (fact[0], fact[1] or "", fact[2] or 0.0))
        params = [{"id": number, "key": key, "text": text, "number": value} for key, text, value in ordered]
        statements.run_many(_FACT, params)


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
        "changed_at": at,
        "at": document.at or at,
        "expires_at": document.expires_at,
        "thread": document.thread,
        "declared": declared if is_scan else "",
        "kinds": mark.kinds if is_scan else "",
        "detectors": mark.detectors_version if is_scan else "",
        "author": author,
        "masked": mark.masked if is_scan else "",
    }
