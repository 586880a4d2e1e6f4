"""Rebuilding the index from what the modules hold: page by page, while everybody goes on reading and writing.

A page is one transaction, and with it is kept how far we are: whoever interrupts us, or kills us, goes on there the
next time. Old rows stay until they are replaced; those of records that are no longer there go with their page.

On PostgreSQL a record may be saved while its page is being rebuilt. So the page's rows are locked first and the records
are read again: what was saved before is then seen, and what is saved later waits for us and replaces our row. Rows that
somebody else has locked are left to them, for they are being written anew anyway; so nobody waits for us in a circle.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Classification, Document, Statements
from tokonoma.core.module import ListDocuments, Module
from tokonoma.core.policy import DocumentScan
from tokonoma.search.index import SearchIndex
from tokonoma.store.database import Database

PAGE = 50
"""Documents a transaction: others wait for it on SQLite."""

_LEFT = "select after, done from progress where module = :module"
_KEEP = """insert into progress (module, after, done) values (:module, :after, :done)
on conflict (module) do update set after = excluded.after, done = excluded.done"""
_FORGET = "delete from progress where module = :module"
_COUNT = "select count(*) from document where module = :module"


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How far it has come. `total` is what the index held before, since only reading everything would tell the rest."""

    module: str
    done: int
    total: int
    finished: bool = False


def reindex(
    database: Database,
    index: SearchIndex,
    modules: Sequence[Module],
    mark: Callable[[Document], Classification | DocumentScan],
    stop: CancelToken,
) -> Iterator[ReindexProgress]:
    """Every step was kept before it is told. Raises what `stop` says if it is asked to end."""
    for module in modules:
        if module.documents is None:
            continue
        finished = False
        while not finished:
            stop.check()
            with database.writing(stop) as tx:
                step = _reindex_page(tx, index, module.name, module.documents, mark)
            finished = step.finished
            yield step


def restart_reindex(database: Database, modules: Sequence[Module]) -> None:
    """Begin at the first record again."""
    with database.writing() as tx:
        for module in modules:
            tx.run(_FORGET, module=module.name)


def _reindex_page(
    tx: Statements,
    index: SearchIndex,
    module: str,
    listing: ListDocuments,
    mark: Callable[[Document], Classification | DocumentScan],
) -> ReindexProgress:
    row = tx.row(_LEFT, module=module)
    after, done = (row[0], row[1]) if row is not None else ("", 0)
    seen = [each.address for each in listing(tx, after or None, PAGE)]
    held, lacked = index.lock_page(tx, module, after, seen[-1] if len(seen) == PAGE else None, seen)
    page = listing(tx, after or None, PAGE)
    last = page[-1].address if len(page) == PAGE else None
    for document in page:
        if document.address in held or document.address in lacked:
            index.put(tx, document, mark(document), anew=True)
    there = {document.address for document in page}
    gone = {address for address in held - there if last is None or address <= last}
    for address in gone | (lacked - there):
        index.drop(tx, address)
    done += len(page)
    if last is None:
        tx.run(_FORGET, module=module)
    else:
        tx.run(_KEEP, module=module, after=last, done=done)
    total = tx.row(_COUNT, module=module)
    assert total is not None
    return ReindexProgress(module, done, max(total[0], done), finished=last is None)
