"""The statistics of SQLite's query planner. Without them it guesses, and may read a whole table where an index leads to
a few rows."""

import re
from typing import Protocol

from tokonoma.core.desk import Rows, Statements
from tokonoma.store.database import Database

_ROWS = 1000  # of each index that are looked at: enough to tell an index that helps from one that does not
# Of all tables, only say which: those without statistics, and those that have grown or shrunk tenfold.
_FIND = "pragma optimize = 0x10003"
_TABLE = re.compile(r'ANALYZE "main"\."((?:[^"]|"")+)"')


class StatisticsTarget(Database, Protocol):
    def drop_idle_readers(self) -> None: ...


def update_statistics(database: StatisticsTarget) -> int:
    with database.writing() as rows:  # the pragma needs it, also if it only tells
        names = _list_tables(rows)
    for name in names:
        # One transaction for each: other writers come in between.
        with database.writing() as statements:
            _analyze(statements, name)
    if names:
        database.drop_idle_readers()
    return len(names)


def _list_tables(rows: Rows) -> list[str]:
    """Of an empty table there is nothing to know, and SQLite would name it for ever."""
    found = (_TABLE.fullmatch(str(row[0])) for row in rows.rows(_FIND))
    names = [each[1] for each in found if each is not None]
    return [name for name in names if rows.row(f'select 1 from "main"."{name}" limit 1')]  # noqa: S608 - our own tables


def _analyze(statements: Statements, name: str) -> None:
    statements.rows(f"pragma analysis_limit = {_ROWS}")
    statements.run(f'analyze "main"."{name}"')
