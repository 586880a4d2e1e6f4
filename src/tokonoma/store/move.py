"""Copies everything from one database into an empty one of the other kind, row by row, and compares both.

All rows come from one snapshot of the source, which is only read. What is derived from other rows and stored in another
form on the other kind of database is left out; `tokonoma reindex` makes it again. A copy that was interrupted goes on
where it was: the target says of itself that it is an unfinished copy of this source.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tokonoma.core.desk import Row, Rows
from tokonoma.core.errors import Conflict, Unavailable, Unready
from tokonoma.store.database import Database
from tokonoma.store.dialect import DatabaseKind
from tokonoma.store.migrate import MIGRATION_TABLE, MigrationSets, check_order, migrate, quote_name, read_applied
from tokonoma.store.table_layout import (
    TableLayout,
    get_row_place,
    read_counters,
    read_layouts,
    sort_tables,
    write_counter,
)

DERIVED = frozenset({"words", "embedding_change", "embedding_block", "memo_count"})
"""Stored in another form, or not at all, on the other kind of database."""

PROGRESS = "move_progress"
_PAGE = 500
_CREATE = f"create table {PROGRESS} (name {{text}} not null primary key, last text not null, source text not null)"
_PUT = f"""insert into {PROGRESS} (name, last, source) values (:name, :last, :source)
on conflict (name) do update set last = excluded.last"""  # noqa: S608 - our own name

OnProgress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class MovedTable:
    name: str
    rows: int
    digest: str  # of all its rows, whatever their order


def move_database(source: Database, target: Database, sets: MigrationSets, on_progress: OnProgress) -> list[MovedTable]:
    """Copy and compare all tables; returns them. Nothing is changed in the source."""
    with source.reading() as rows:
        applied = read_applied(source, rows)
        _check_sets(applied, sets)
        _prepare_target(source, target, applied, sets)
        layouts, others = read_layouts(source.kind, rows), _read_target_layouts(target)
        names = sort_tables([each for each in layouts.values() if each.name not in (MIGRATION_TABLE, *DERIVED)])
        for name in names:
            _check_columns(layouts[name], others.get(name))
        moved = [_move_table(source.kind, rows, target, layouts[name], others[name], on_progress) for name in names]
        counters = [each for each in read_counters(source.kind, rows) if each[0] in names]
    with target.writing() as statements:
        for table, number in counters:
            write_counter(target.kind, statements, table, number)
    _finish(target)
    return moved


def _check_sets(applied: Mapping[str, Sequence[str]], sets: MigrationSets) -> None:
    """The source must be as this program would make it: it is not changed, so it is not migrated here."""
    if not applied:
        raise Unready("The database has no tables of Tokonoma yet: there is nothing to move.", reason="empty")
    for name, done in applied.items():
        if name not in sets:
            raise Unready(
                f"The database holds tables of `{name}`, which this program does not know. Install that module first.",
                reason="unknown_schema",
                set=name,
            )
        check_order(name, sets[name], done)
        if len(done) < len(sets[name]):
            raise Unready(
                f"The tables of `{name}` were made by an older version of Tokonoma. Start the server once, so that they"
                " are updated, and stop it. Then try again.",
                reason="older_schema",
                set=name,
            )


def _prepare_target(
    source: Database, target: Database, applied: Mapping[str, Sequence[str]], sets: MigrationSets
) -> None:
    """Make the tables of an empty target; Conflict if it holds anything but an unfinished copy of this source."""
    with target.reading() as rows:
        tables = {name for (name,) in rows.rows(target.dialect.tables)}
        owner = rows.row(f"select source from {PROGRESS} where name = ''") if PROGRESS in tables else None  # noqa: S608
    if tables and (owner is None or owner[0] != source.location):
        raise Conflict(
            f"{target.location} is not empty. Move into a new database, or drop its tables first. Nothing was changed.",
            reason="exists",
        )
    if not tables:
        with target.writing() as statements:
            statements.run(_CREATE)
            statements.run(_PUT, name="", last="", source=source.location)
    for name in (each for each in sets if each in applied):  # a set may refer to the tables of those before it
        migrate(target, name, sets[name], lambda _: None)


def _read_target_layouts(target: Database) -> dict[str, TableLayout]:
    with target.reading() as rows:
        return read_layouts(target.kind, rows)


def _check_columns(table: TableLayout, other: TableLayout | None) -> None:
    if other is None or set(table.columns) != set(other.columns):
        raise Unready(
            f"The table {table.name} does not exist in the target, or has other columns there.",
            reason="other_schema",
            table=table.name,
        )


def _move_table(
    kind: DatabaseKind, rows: Rows, target: Database, table: TableLayout, other: TableLayout, on_progress: OnProgress
) -> MovedTable:
    """Copy the rows that are not there yet, then compare all. A table that differs is copied again from its start."""
    wanted = _digest_table(kind, rows, table)
    insert = _build_insert(table)
    for _ in range(2):
        for page, last in _read_pages(kind, rows, table, _find_start(kind, rows, target, table)):
            with target.writing() as statements:
                statements.run_many(insert, [_convert(table, other, row) for row in page])
                statements.run(_PUT, name=table.name, last=last, source="")
            on_progress(table.name, len(page))
        with target.reading() as copied:
            if _digest_table(target.kind, copied, table) == wanted:
                return wanted
        _clear_table(target, table)
    raise Unavailable(f"The rows of {table.name} differ after they were copied twice. Check both disks.", reason="move")


def _find_start(kind: DatabaseKind, rows: Rows, target: Database, table: TableLayout) -> str:
    """After which row to go on. A part that is not what the source holds now is dropped."""
    with target.reading() as copied:
        noted = copied.row(f"select last from {PROGRESS} where name = :name", name=table.name)  # noqa: S608 - our own
        part = _digest_table(target.kind, copied, table)
    if noted is not None and _digest_table(kind, rows, table, until=noted[0]) == part:
        return noted[0]
    _clear_table(target, table)  # also the rows that a migration has put there
    return ""


def _clear_table(target: Database, table: TableLayout) -> None:
    with target.writing() as statements:
        statements.run(f"delete from {quote_name(table.name)}")  # noqa: S608 - our own names
        statements.run(f"delete from {PROGRESS} where name = :name", name=table.name)  # noqa: S608


def _read_pages(
    kind: DatabaseKind, rows: Rows, table: TableLayout, last: str, until: str | None = None
) -> Iterator[tuple[list[Row], str]]:
    """Pages of rows in the order in which they are stored, each with the place of its last one."""
    place = get_row_place(kind)
    columns = ", ".join(map(quote_name, table.columns))
    sql = f"""select {place.shown}, {columns} from {quote_name(table.name)}
        where {place.after} {f"and {place.until}" if until is not None else ""}
        order by {place.order} limit {_PAGE}"""  # noqa: S608 - our own names
    bounds = {} if until is None else {"until": until}
    while page := rows.rows(sql, last=last or place.first, **bounds):
        last = str(page[-1][0])
        yield [row[1:] for row in page], last


def _digest_table(kind: DatabaseKind, rows: Rows, table: TableLayout, until: str | None = None) -> MovedTable:
    """The number of rows and the sum of their hashes: every row counts, their order does not."""
    count = total = 0
    for page, _ in _read_pages(kind, rows, table, "", until):
        count += len(page)
        total += sum(int.from_bytes(hashlib.sha256(_encode(row)).digest(), "big") for row in page)
    return MovedTable(table.name, count, f"{total % 2**256:064x}")


def _encode(row: Row) -> bytes:
    """The same bytes for the same values of both databases."""
    parts: list[bytes] = []
    for value in row:
        plain = _to_bytes(value)
        text = plain if plain is not None else repr(value).encode("utf-8", "surrogatepass")
        parts.append(b"%d %d " % (plain is not None, len(text)) + text)
    return b"".join(parts)


def _to_bytes(value: Any) -> bytes | None:
    """Bytes, and vectors, which SQLite stores as bytes."""
    if isinstance(value, list):
        return array("f", cast("list[float]", value)).tobytes()
    return bytes(cast("bytes", value)) if isinstance(value, bytes | memoryview) else None


def _convert(table: TableLayout, other: TableLayout, row: Row) -> dict[str, Any]:
    """The parameters of an insert, in the form of the target's columns."""
    values: dict[str, Any] = {}
    for name, value in zip(table.columns, row, strict=True):
        plain = _to_bytes(value)
        if plain is not None:
            value = array("f", plain).tolist() if name in other.vectors else plain
        values[f"c{len(values)}"] = value
    return values


def _build_insert(table: TableLayout) -> str:
    columns = ", ".join(map(quote_name, table.columns))
    values = ", ".join(f":c{number}" for number in range(len(table.columns)))
    return f"insert into {quote_name(table.name)} ({columns}) values ({values})"  # noqa: S608 - our own names


def _finish(target: Database) -> None:
    """From now on it is a database like any other."""
    with target.writing() as statements:
        statements.run(f"drop table {PROGRESS}")
