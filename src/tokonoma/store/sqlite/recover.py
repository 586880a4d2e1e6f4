"""What can still be read of a damaged database file, row by row around the damage. The file itself is never opened by
SQLite: a copy is, because SQLite would move the log into the file."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from tokonoma.core.desk import Row
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.store.database import Database
from tokonoma.store.dialect import SQLITE
from tokonoma.store.migrate import MIGRATION_TABLE, quote_name

_BLOCK = 4096
_MAGIC = b"SQLite format 3\0"
_HEADER_SIZE = 100
_MAX_CUT = 1 << 34  # bytes; more than that is a damaged number
_LEAST, _MOST = -(2**63), 2**63 - 1
_MAX_FAILURES = 20_000  # attempts at one damaged range
_MAX_KEYS = 1_000  # of lost rows, by name
# Damaged text is no UTF-8, and a damaged number of a column may be out of every range.
_DAMAGE = (apsw.Error, UnicodeDecodeError, ValueError, OverflowError, MemoryError)


@dataclass(slots=True)
class RecoveredTable:
    """`lost` are rows that an index still names, `keys` their names; `refused` do not fit the table any more."""

    name: str
    rows: int = 0
    lost: int = 0
    refused: int = 0
    whole: bool = True  # no damage was met
    keys: list[str] = field(default_factory=list[str])


def copy_damaged(source: Path, target: Path) -> None:
    """Copy a file and its log. A block that the disk cannot read becomes zeros."""
    for end in ("", "-wal"):
        given = source.with_name(source.name + end)
        if given.exists():
            with given.open("rb", buffering=0) as old, target.with_name(target.name + end).open("wb") as new:
                size = os.fstat(old.fileno()).st_size
                for offset in range(0, size, _BLOCK):
                    wanted = min(_BLOCK, size - offset)
                    try:
                        block = os.pread(old.fileno(), wanted, offset)
                    except OSError:
                        block = b""
                    new.write(block.ljust(wanted, b"\0"))


def recover_database(copy: Path, target: Database, skip: Collection[str]) -> list[RecoveredTable]:
    """Fill the empty tables of `target` with what the damaged copy still has; `skip` are tables to leave empty."""
    with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as damaged:
        present = _list_tables(damaged)
        with target.reading() as rows:
            wanted = [name for (name,) in rows.rows(SQLITE.tables) if name not in {*skip, MIGRATION_TABLE}]
        found = [_recover_table(damaged, target, name) for name in wanted if name in present]
    _remove_orphans(target, {table.name: table for table in found})
    return found


def repair_header(copy: Path, sound: Path) -> None:
    """Let SQLite open the copy. Its first bytes are the same in every file of ours, and those of `sound`, which nobody
    has open, replace damaged ones. Pages that were cut off are replaced by empty ones."""
    with copy.open("r+b") as file:
        header, size = file.read(_HEADER_SIZE), file.seek(0, os.SEEK_END)
        if len(header) < _HEADER_SIZE:
            raise Invalid("The file is too short for a database.", reason="not_a_database")
        if header[:18] != _MAGIC + _BLOCK.to_bytes(2, "big"):
            fresh = sound.read_bytes()[:_HEADER_SIZE]
            # The number of pages; and no list of free ones.
            header = fresh[:28] + (-(-size // _BLOCK)).to_bytes(4, "big") + bytes(8) + fresh[40:]
            file.seek(0)
            file.write(header)
        pages = int.from_bytes(header[28:32], "big")
        if size < pages * _BLOCK <= size + _MAX_CUT:
            file.truncate(pages * _BLOCK)


def _list_tables(damaged: apsw.Connection) -> set[str]:
    found: set[str] = set()
    try:
        for (name,) in _select(damaged, "select name from sqlite_schema where type = 'table'"):
            found.add(name)
    except _DAMAGE as error:
        if not found:
            raise Unavailable(
                "The list of tables is damaged, so nothing can be read from this file. Restore a backup.",
                reason="corrupt",
            ) from error
    return found


def _recover_table(damaged: apsw.Connection, target: Database, name: str) -> RecoveredTable:
    table = RecoveredTable(name)
    columns = _shared_columns(damaged, target, name)
    reader = _RowReader(damaged, name, columns)
    writing = f"insert into {quote_name(name)} ({', '.join(map(quote_name, columns))}) values ({_marks(columns)})"  # noqa: S608
    with closing(apsw.Connection(target.location)) as connection:
        cursor: Any = connection.cursor()
        cursor.execute("pragma foreign_keys = off")
        cursor.execute("begin")
        for number, row in enumerate(reader.read_all()):
            if number == 0:
                cursor.execute(f"delete from {quote_name(name)}")  # noqa: S608 - what the migrations have put there
            try:
                cursor.execute(writing, row)
                table.rows += 1
            except _DAMAGE:
                table.refused += 1
        cursor.execute("commit")
    table.whole = reader.failures == 0
    table.lost, table.keys = reader.count_lost()
    return table


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _shared_columns(damaged: apsw.Connection, target: Database, name: str) -> list[str]:
    """Those of this version that the file has: an earlier version may have made it."""
    with target.reading() as rows:
        ours = [row[1] for row in rows.rows(f"pragma table_xinfo({quote_name(name)})") if row[6] == 0]
    theirs: set[str] = set()
    with suppress(*_DAMAGE):
        theirs = {row[1] for row in _select(damaged, f"pragma table_info({quote_name(name)})")}
    return [column for column in ours if column in theirs]


class _RowReader:
    """Reads a table from both ends, then the rows that its indexes name, then what may lie between."""

    def __init__(self, connection: apsw.Connection, name: str, columns: Sequence[str]) -> None:
        self._connection, self._name = connection, name
        listed = ", ".join(map(quote_name, columns))
        self._select = f"select rowid, {listed} from {quote_name(name)} not indexed where rowid"  # noqa: S608
        self._seen: set[int] = set()
        self._known: dict[int, str] = {}  # rowid → a key, from the indexes
        self.failures = 0

    def read_all(self) -> Iterator[Row]:
        first, last = _LEAST, _MOST
        for rowid, row in self._read(" >= ? order by rowid", _LEAST):
            first = rowid
            yield row
        if not self.failures:
            return
        for rowid, row in self._read(" <= ? order by rowid desc", _MOST):
            last = rowid
            yield row
        self._read_indexes()
        for rowid in sorted(self._known.keys() - self._seen):
            yield from (row for _, row in self._read(" = ?", rowid))
        if self._seen:
            yield from self._read_between(first + 1, last - 1)

    def count_lost(self) -> tuple[int, list[str]]:
        lost = sorted(self._known.keys() - self._seen)
        return len(lost), [self._known[rowid] for rowid in lost[:_MAX_KEYS]]

    def _read(self, condition: str, *values: int) -> Iterator[tuple[int, Row]]:
        """Rows that were not read before, until the first that cannot be read."""
        try:
            for rowid, *row in _select(self._connection, self._select + condition, values):
                if rowid in self._seen:
                    if "desc" in condition:
                        return  # the two ends have met
                    continue
                self._seen.add(rowid)
                yield rowid, tuple(row)
        except _DAMAGE:
            self.failures += 1

    def _read_between(self, low: int, high: int) -> Iterator[Row]:
        """Halve a range that cannot be read until what is left of it is one row."""
        ranges, least = [(low, high)], self.failures
        while ranges and self.failures - least < _MAX_FAILURES:
            low, high = ranges.pop(0)
            failures = self.failures
            for rowid, row in self._read(" between ? and ? order by rowid", low, high):
                low = rowid + 1
                yield row
            if self.failures > failures and low < high:
                middle = (low + high) // 2
                ranges += [(low, middle), (middle + 1, high)]

    def _read_indexes(self) -> None:
        indexes: list[str] = []
        with suppress(*_DAMAGE):
            indexes = [row[1] for row in _select(self._connection, f"pragma index_list({quote_name(self._name)})")]
        for index in indexes:
            with suppress(*_DAMAGE):  # also an index that holds a part of the rows only
                columns = [row[2] for row in _select(self._connection, f"pragma index_info({quote_name(index)})")]
                listed = ", ".join(quote_name(column) for column in columns if column is not None)
                sql = f"select rowid, {listed} from {quote_name(self._name)} indexed by {quote_name(index)}"  # noqa: S608
                for rowid, *key in _select(self._connection, sql):
                    self._known.setdefault(rowid, " ".join(map(str, key)))


def _remove_orphans(target: Database, tables: dict[str, RecoveredTable]) -> None:
    """Rows that refer to a row which is lost cannot be stored."""
    with closing(apsw.Connection(target.location)) as connection:
        while orphans := {(row[0], row[1]) for row in _select(connection, "pragma foreign_key_check")}:
            for name, rowid in orphans:
                _select(connection, f"delete from {quote_name(name)} where rowid = ?", (rowid,)).fetchall()  # noqa: S608
                if name in tables:
                    tables[name].rows -= 1
                    tables[name].refused += 1


def _select(connection: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    cursor: Any = connection.cursor()
    return cursor.execute(sql, values)
