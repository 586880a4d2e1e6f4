"""What scores are computed with: how many documents, how long they are, how many of them hold a term.

The first two are kept exactly, by the writers: one row on SQLite, where one writes at a time; on PostgreSQL a row for
each change, because a single one would make all writers wait for each other, folded into one now and then.

How many documents hold a term is asked of the database when it is needed and remembered by the process. To count it at
every save would mean a few hundred updates for a memo. What is remembered holds until one document in fifty has
changed; in a small store that is at once, and there asking costs next to nothing.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tokonoma.core.desk import Rows, Statements
from tokonoma.store.dialect import DatabaseKind

_READ = "select sum(documents), sum(length), sum(changes) from corpus"
_ADD = "update corpus set documents = documents + :documents, length = length + :length, changes = changes + 1"
_APPEND = "insert into corpus (documents, length, changes) values (:documents, :length, 1)"
# Rows that others are folding, or have not committed, are left alone: nobody waits, and nothing is counted twice.
_FOLD = """with gone as (
    delete from corpus where id in (select id from corpus order by id limit 1000 for update skip locked)
    returning documents, length, changes
) insert into corpus (documents, length, changes)
select coalesce(sum(documents), 0), coalesce(sum(length), 0), coalesce(sum(changes), 0) from gone"""
_FOLD_EVERY = 64  # documents

_SHARE = 50  # what is remembered holds until one document in so many has changed
_MOST = 50_000  # terms that a process remembers

CountDocuments = Callable[[Rows, Collection[str], int], Mapping[str, int]]
"""Of these terms; the number is that of all documents."""


@dataclass(frozen=True, slots=True)
class Corpus:
    documents: int
    length: int
    changes: int

    @property
    def average(self) -> float:
        return self.length / self.documents if self.documents and self.length else 1.0


def read_corpus(rows: Rows) -> Corpus:
    row = rows.row(_READ)
    assert row is not None
    return Corpus(*(int(each or 0) for each in row))


def update_corpus(kind: DatabaseKind, statements: Statements, document_id: int, documents: int, length: int) -> None:
    """So many documents more, and so many words; both may be negative."""
    if kind == "sqlite":
        statements.run(_ADD, documents=documents, length=length)
        return
    statements.run(_APPEND, documents=documents, length=length)
    if document_id % _FOLD_EVERY == 0:
        statements.run(_FOLD)


class TermFrequencies:
    """Shared by the threads of a process: entries are replaced as a whole."""

    def __init__(self, count: CountDocuments) -> None:
        self._count = count
        self._known: dict[str, tuple[int, int]] = {}

    def look_up(self, rows: Rows, terms: Collection[str], corpus: Corpus) -> dict[str, int]:
        """How many documents hold each term; 0 for one that none holds."""
        known, patience = self._known, corpus.documents // _SHARE
        found: dict[str, int] = {}
        unknown: list[str] = []
        for term in terms:
            entry = known.get(term)
            if entry is not None and abs(corpus.changes - entry[1]) <= patience:
                found[term] = entry[0]
            else:
                unknown.append(term)
        if unknown:
            counted = self._count(rows, unknown, corpus.documents)
            if len(known) > _MOST:
                known = self._known = {}
            for term in unknown:
                found[term] = counted.get(term, 0)
                known[term] = (found[term], corpus.changes)
        return found
