"""Rebuilding the index from the records of the modules, page by page, while others read and write.

A page is one transaction that also saves the progress, so an interrupted run continues there. Old rows stay until
they are replaced; rows of records that no longer exist go with their page. On PostgreSQL a record may be saved while
its page is rebuilt. So the rows of the page are locked first and the records are read again: a save from before is
then seen, and a later one waits and replaces our row. Rows that are locked by others are skipped, since they are
being written anyway; so there is no deadlock.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Classification, Document, Statements
from tokonoma.core.module import ListDocuments, Module
from tokonoma.core.policy import DocumentScan
from tokonoma.search.index import SearchIndex
from tokonoma.store.database import Database

MarkDocument = Callable[[Document], Classification | DocumentScan]

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
