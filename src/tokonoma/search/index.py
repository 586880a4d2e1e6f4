"""The shared index over all modules: a row for every record, its terms and its facts, written with the record.

The index is written in the transaction of the module's own rows: what is saved can be found at once, and what is not
saved cannot be found. Only vectors come later, from a queue that is filled in the same transaction too.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, parse_address
from tokonoma.core.module import ListDocuments, Module
from tokonoma.core.policy import DocumentScan
from tokonoma.core.query import Hits, Query, SearchFilter, SearchScope
from tokonoma.search.filters import to_cells, to_indexed_key
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
from tokonoma.search.text.tokenize import FORMAT_VERSION, TermCounts, count_terms
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.database import Database
from tokonoma.store.dialect import DatabaseKind

OnDocumentChanged = Callable[[Statements, int], None]
MarkDocument = Callable[[Document], Classification | DocumentScan]

_COMPARED = (
    "module", "space", "label", "title", "thread", "at", "expires_at", "declared", "kinds", "detectors", "author",
)  # fmt: skip
_OLD = f"""select id, digest, form, length, {", ".join(_COMPARED)} from document
where address = :address {{for_update}}"""  # noqa: S608 - our own names
_DIGEST, _LABEL, _AT, _DECLARED, _AUTHOR = 1, 6, 9, 11, 14  # where _OLD has them
_INSERT = """insert into document
    (address, module, space, label, title, digest, changed_at, at, expires_at, thread, place, length, form, declared,
    kinds, detectors, author)
values (:address, :module, :space, :label, :title, :digest, :changed_at, :at, :expires_at, :thread, :at, :length, :form,
    :declared, :kinds, :detectors, :author)
on conflict (address) do nothing returning id"""
_UPDATE = """update document set space = :space, label = :label, title = :title, digest = :digest,
    changed_at = :changed_at, at = :at, expires_at = :expires_at, thread = :thread,
    place = case when form = 0 then :at else place end, length = :length, form = :form,
    declared = :declared, kinds = :kinds, detectors = :detectors, author = :author
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
        row = _build_row(document, mark, old, author)
        if old is None:
            old = self._insert(statements, document, row)
            if old is None:
                return row["label"]
            row = _build_row(document, mark, old, author)
        self._update(statements, document, row, old, rewrite)
        return row["label"]

    def _insert(self, statements: Statements, document: Document, row: dict[str, Any]) -> Row | None:
        """None if it is done; else the row that another transaction put at the same moment."""
        terms = count_terms(document.text, document.title)
        inserted = statements.row(_INSERT, **row, length=terms.length, form=FORMAT_VERSION)
        if inserted is None:
            return statements.row(_OLD, address=document.address)
        number: int = inserted[0]
        self._write_terms(statements, number, row, terms, new=True)
        _write_facts(statements, number, document, [])
        update_corpus(self.kind, statements, number, 1, terms.length)
        if self._enqueue is not None:
            self._enqueue(statements, number)
        return None

    def _update(self, statements: Statements, document: Document, row: dict[str, Any], old: Row, rewrite: bool) -> None:
        number, digest, form, length, _module, namespace, *_ = old
        has_new_text = digest != row["digest"]
        if not document.at and not has_new_text:
            row["at"] = old[_AT]
        if has_new_text or form != FORMAT_VERSION or rewrite or namespace != document.namespace:
            terms = count_terms(document.text, document.title)
            self._write_terms(statements, number, row, terms, new=form == 0)
            update_corpus(self.kind, statements, number, 1 if form == 0 else 0, terms.length - length)
            length = terms.length
        if tuple(old[1:]) != (row["digest"], FORMAT_VERSION, length, *(row[name] for name in _COMPARED)):
            changes = {name: value for name, value in row.items() if name not in ("address", "module")}
            statements.run(_UPDATE, **changes, id=number, length=length, form=FORMAT_VERSION)
        old_facts = statements.rows("select key, text, number from fact where document = :id", id=number)
        _write_facts(statements, number, document, old_facts)
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


def _write_facts(statements: Statements, number: int, document: Document, old: Sequence[Row]) -> None:
    facts = {(to_indexed_key(key), *to_cells(value)) for key, value in document.facts}
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
    }


# Rebuilding the index from the records of the modules, page by page, while others read and write.
#
# A page is one transaction that also saves the progress, so an interrupted run continues there. Old rows stay until
# they are replaced; rows of records that no longer exist go with their page. On PostgreSQL a record may be saved while
# its page is rebuilt. So the rows of the page are locked first and the records are read again: a save from before is
# then seen, and a later one waits and replaces our row. Rows that are locked by others are skipped, since they are
# being written anyway; so there is no deadlock.

PAGE = 50  # documents per transaction: other writers wait for it on SQLite
_READ_PROGRESS = "select after, done from progress where module = :module"
_SAVE_PROGRESS = """insert into progress (module, after, done) values (:module, :after, :done)
on conflict (module) do update set after = excluded.after, done = excluded.done"""
_DELETE_PROGRESS = "delete from progress where module = :module"


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """`total` is what the index held before: only reading everything would tell how much there is."""

    module: str
    done: int
    total: int
    finished: bool = False


def reindex(
    database: Database, index: SearchIndex, modules: Sequence[Module], mark: MarkDocument, cancel_token: CancelToken
) -> Iterator[ReindexProgress]:
    """Yields every step after it was committed. Raises the error of `cancel_token` when it is cancelled."""
    for module in modules:
        if module.documents is None:
            continue
        finished = False
        while not finished:
            cancel_token.check()
            with database.writing(cancel_token) as tx:
                progress = _reindex_page(tx, index, module.name, module.documents, mark)
            finished = progress.finished
            yield progress


def restart_reindex(database: Database, modules: Sequence[Module]) -> None:
    """Begin at the first record again."""
    with database.writing() as tx:
        for module in modules:
            tx.run(_DELETE_PROGRESS, module=module.name)


def _reindex_page(
    tx: Statements, index: SearchIndex, module: str, list_documents: ListDocuments, mark: MarkDocument
) -> ReindexProgress:
    row = tx.row(_READ_PROGRESS, module=module)
    after, done = (row[0], row[1]) if row is not None else ("", 0)
    seen = [each.address for each in list_documents(tx, after or None, PAGE)]
    held, lacked = index.lock_page(tx, module, after, seen[-1] if len(seen) == PAGE else None, seen)
    page = list_documents(tx, after or None, PAGE)
    last = page[-1].address if len(page) == PAGE else None
    for document in page:
        if document.address in held or document.address in lacked:
            index.put(tx, document, mark(document), document.author, rewrite=True)
    present = {document.address for document in page}
    gone = {address for address in held - present if last is None or address <= last}
    for address in gone | (lacked - present):
        index.drop(tx, address)
    done += len(page)
    if last is None:
        tx.run(_DELETE_PROGRESS, module=module)
    else:
        tx.run(_SAVE_PROGRESS, module=module, after=last, done=done)
    total = tx.rows("select count(*) from document where module = :module", module=module)[0][0]
    return ReindexProgress(module, done, max(total, done), finished=last is None)
