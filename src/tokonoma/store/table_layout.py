"""What both databases say of their tables: columns, references between tables, counters, and the places of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unready
from tokonoma.store.dialect import POSTGRESQL, SQLITE, DatabaseKind

_COLUMNS = {
    "sqlite": "select name, type from pragma_table_info(:table) order by cid",
    "postgresql": """select a.attname::text, format_type(a.atttypid, a.atttypmod) from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        where c.relname = :table and c.relnamespace = quote_ident(current_schema())::regnamespace
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum""",
}
_REFERENCES = {
    "sqlite": """select distinct "table" from pragma_foreign_key_list(:table)""",
    "postgresql": """select distinct o.relname::text from pg_constraint k join pg_class c on c.oid = k.conrelid
        join pg_class o on o.oid = k.confrelid where k.contype = 'f' and c.relname = :table
        and c.relnamespace = quote_ident(current_schema())::regnamespace""",
}
_COUNTED = """select c.relname::text, a.attname::text, pg_get_serial_sequence(quote_ident(c.relname), a.attname)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r'
    and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null order by 1, 2"""


@dataclass(frozen=True, slots=True)
class TableLayout:
    name: str
    columns: tuple[str, ...]
    vectors: frozenset[str]  # columns that hold lists of numbers; on SQLite they are bytes
    references: tuple[str, ...]  # the tables that its rows refer to


class RowPlace(NamedTuple):
    """SQL about where a row is stored. Every table has it, also one without a key."""

    shown: str
    after: str
    until: str
    order: str
    first: str


_PLACES = {
    "sqlite": RowPlace(
        "rowid", "rowid > cast(:last as integer)", "rowid <= cast(:until as integer)", "rowid", str(-(2**63))
    ),
    "postgresql": RowPlace("ctid::text", "ctid > cast(:last as tid)", "ctid <= cast(:until as tid)", "ctid", "(0,0)"),
}


def get_row_place(kind: DatabaseKind) -> RowPlace:
    return _PLACES[kind]


def read_layouts(kind: DatabaseKind, rows: Rows) -> dict[str, TableLayout]:
    found: dict[str, TableLayout] = {}
    for (name,) in rows.rows((SQLITE if kind == "sqlite" else POSTGRESQL).tables):
        columns = rows.rows(_COLUMNS[kind], table=name)
        references = tuple(other for (other,) in rows.rows(_REFERENCES[kind], table=name) if other != name)
        vectors = frozenset(column for column, type in columns if type == "real[]")
        found[name] = TableLayout(name, tuple(column for column, _ in columns), vectors, references)
    return found


def sort_tables(tables: Sequence[TableLayout]) -> list[str]:
    """Their names, each after those that its rows refer to."""
    names = {table.name for table in tables}
    waiting: dict[str, set[str]] = {table.name: names.intersection(table.references) for table in tables}
    done: list[str] = []
    while waiting:
        ready = sorted(name for name, references in waiting.items() if references <= set(done))
        if not ready:
            raise Unready(f"The tables {', '.join(sorted(waiting))} refer to each other in a circle.", reason="circle")
        done += ready
        waiting = {name: references for name, references in waiting.items() if name not in ready}
    return done


def read_counters(kind: DatabaseKind, rows: Rows) -> list[tuple[str, int]]:
    """The last number that each table has given to a row: a number is never given twice, also not that of a row which
    was deleted."""
    if kind == "sqlite":
        if rows.row("select 1 from sqlite_schema where name = 'sqlite_sequence'") is None:
            return []
        return [(name, number) for name, number in rows.rows("select name, seq from sqlite_sequence order by name")]
    found: list[tuple[str, int]] = []
    for table, _, sequence in rows.rows(_COUNTED):
        row = rows.row(f"select last_value, is_called from {sequence}")  # noqa: S608 - the server's own name
        if row is not None and row[1]:
            found.append((table, row[0]))
    return found


def write_counter(kind: DatabaseKind, statements: Statements, table: str, number: int) -> None:
    if kind == "sqlite":
        values = {"table": table, "number": number}
        if not statements.run("update sqlite_sequence set seq = :number where name = :table", **values):
            statements.run("insert into sqlite_sequence (name, seq) values (:table, :number)", **values)
        return
    for name, _, sequence in statements.rows(_COUNTED):
        if name == table:
            statements.rows("select setval(cast(:sequence as regclass), :number)", sequence=sequence, number=number)
