"""Rebuilding the index from the records of the modules, page by page, while others read and write.

A page is one transaction that also saves the progress, so an interrupted run continues there. Old rows stay until
they are replaced; rows of records that no longer exist go with their page.

On SQLite other writers wait for the transaction. So the records are read, scanned and split into terms before it
begins, and read again inside it: one that has changed since then is prepared again. The size of a page follows the time
that the last one took.

On PostgreSQL a record may be saved while its page is rebuilt. So the rows of the page are locked before the records are
read again: a save from before is then seen, and a later one waits and replaces our row. Rows that are locked by others
are skipped, since they are being written anyway; so there is no deadlock.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Classification, Document, Rows, Statements
from tokonoma.core.module import ListDocuments, Module
from tokonoma.core.policy import DocumentScan
from tokonoma.search.index import SearchIndex, count_by_module
from tokonoma.search.prepared import PreparedDocument
from tokonoma.search.text.merging import TermMerging
from tokonoma.store.database import Database

MarkDocument = Callable[[Document], Classification | DocumentScan]

FIRST, SMALLEST, LARGEST = 50, 10, 1_000  # documents of a page
_SECONDS = 0.02  # that its transaction should take: others' saves wait for it
_READ_PROGRESS = "select after, done from progress where module = :module"
_SAVE_PROGRESS = """insert into progress (module, after, done) values (:module, :after, :done)
on conflict (module) do update set after = excluded.after, done = excluded.done"""
_DELETE_PROGRESS = "delete from progress where module = :module"


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """`total` is how many records there were when the run began, or `done`, if that is more."""

    module: str
    done: int
    total: int
    finished: bool = False


def reindex(
    database: Database, index: SearchIndex, modules: Sequence[Module], mark: MarkDocument, cancel_token: CancelToken
) -> Iterator[ReindexProgress]:
    """Yields every step after it was committed. Raises the error of `cancel_token` when it is cancelled."""
    merging = TermMerging(database, cancel_token)
    merging.begin()
    for module in modules:
        if module.documents is None:
            continue
        rebuild = _ModuleRebuild(database, index, module.name, module.documents, mark, cancel_token)
        total, finished = _count_documents(database, module, cancel_token), False
        while not finished:
            cancel_token.check()
            done, finished = rebuild.run_page()
            merging.run_steps()
            yield ReindexProgress(module.name, done, max(total, done), finished)
    merging.finish()
    restart_reindex(database, modules)  # only now: until here an interrupted run resumes where it was


def _count_documents(database: Database, module: Module, cancel_token: CancelToken) -> int:
    with database.reading(cancel_token) as rows:
        count = module.count_documents
        return count_by_module(rows).get(module.name, 0) if count is None else count(rows)


def restart_reindex(database: Database, modules: Sequence[Module]) -> None:
    """Begin at the first record again."""
    with database.writing() as tx:
        for module in modules:
            tx.run(_DELETE_PROGRESS, module=module.name)


@dataclass(slots=True)
class _ModuleRebuild:
    database: Database
    index: SearchIndex
    module: str
    list_documents: ListDocuments
    mark: MarkDocument
    cancel_token: CancelToken
    size: int = 0

    def run_page(self) -> tuple[int, bool]:
        """How many documents are done, and whether these are all."""
        self.size = self.size or FIRST
        with self.database.reading(self.cancel_token) as rows:
            after, _ = self._read_progress(rows)
            found = self.list_documents(rows, after or None, self.size)
        prepared = {each.address: self._prepare(each) for each in found}
        with self.database.writing(self.cancel_token) as tx:
            began = time.monotonic()
            outcome = self._write_page(tx, after, prepared)
        self.size = _fit_size(self.size, time.monotonic() - began)
        return outcome

    def _write_page(self, tx: Statements, after: str, prepared: Mapping[str, PreparedDocument]) -> tuple[int, bool]:
        now_after, done = self._read_progress(tx)
        if now_after != after:  # another process rebuilds, too: go on where it is
            return done, False
        seen = list(prepared)
        upto = seen[-1] if len(seen) == self.size else None
        held, lacked = self.index.lock_page(tx, self.module, after, upto, seen)
        listed = self.list_documents(tx, after or None, self.size)
        ends = [each for each in (upto, listed[-1].address if len(listed) == self.size else None) if each is not None]
        end = min(ends, default=None)  # what lies behind it was not locked, or was not listed
        page = [each for each in listed if end is None or each.address <= end]
        present = {each.address for each in page}
        locked = [each for each in page if each.address in held or each.address in lacked]
        self.index.rewrite(tx, [self._reuse(each, prepared.get(each.address)) for each in locked])
        for address in (held | lacked) - present:
            if end is None or address <= end or address in lacked:
                self.index.drop(tx, address)
        done += len(page)
        tx.run(_SAVE_PROGRESS, module=self.module, after=end or max(present, default=after), done=done)
        return done, end is None

    def _read_progress(self, rows: Rows) -> tuple[str, int]:
        row = rows.row(_READ_PROGRESS, module=self.module)
        return ("", 0) if row is None else (row[0], row[1])

    def _prepare(self, document: Document) -> PreparedDocument:
        self.cancel_token.check()
        prepared = PreparedDocument(document, self.mark(document))
        _ = prepared.terms, prepared.facts
        return prepared

    def _reuse(self, document: Document, prepared: PreparedDocument | None) -> PreparedDocument:
        return prepared if prepared is not None and prepared.document == document else self._prepare(document)


def _fit_size(size: int, seconds: float) -> int:
    """The size of the next page, at most twice or half of this one: one page may have waited for the disk."""
    fitting = size * min(max(_SECONDS / max(seconds, 0.001), 0.5), 2.0)
    return min(max(round(fitting), SMALLEST), LARGEST)
