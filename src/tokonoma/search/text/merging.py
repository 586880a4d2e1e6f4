"""Merging the parts of FTS5's index while all terms are written again. SQLite only; PostgreSQL needs nothing.

FTS5 merges inside the transactions that write, also those of others, and reads through what was deleted there without a
limit. So during a rebuild it does not merge by itself: it is done here, in small steps, each in a transaction of its
own. If the rebuild is interrupted, that stays so until the next one: the rest would else be merged by somebody's save.
"""

from dataclasses import dataclass

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Statements
from tokonoma.store.database import Database

_STEP = 50  # pages that one transaction writes
_SET = "insert into words (words, rank) values (:name, :value)"
_PARTS = "select block from words_data where id = 10"  # the list of the parts that the index consists of
_DEFAULTS = {"automerge": 4, "deletemerge": 10}  # FTS5's own


@dataclass(frozen=True, slots=True)
class TermMerging:
    database: Database
    cancel_token: CancelToken

    def begin(self) -> None:
        self._configure(dict.fromkeys(_DEFAULTS, 0))

    def run_steps(self, first: int = _STEP) -> None:
        """Until no size has more than three parts."""
        pages = first
        while self.database.kind == "sqlite":
            with self.database.writing(self.cancel_token) as tx:
                if not _merge(tx, pages):
                    return
            pages = _STEP

    def finish(self) -> None:
        """Merge all: what was deleted takes room and time until then."""
        self.run_steps(-_STEP)
        self._configure(_DEFAULTS)

    def _configure(self, settings: dict[str, int]) -> None:
        if self.database.kind == "sqlite":
            with self.database.writing(self.cancel_token) as tx:
                tx.run_many(_SET, [{"name": name, "value": value} for name, value in settings.items()])


def _merge(statements: Statements, pages: int) -> bool:
    """False if there was nothing to merge. A negative number begins to merge all parts into one."""
    before = statements.row(_PARTS)
    statements.run(_SET, name="merge", value=pages)
    return statements.row(_PARTS) != before
