"""Backups of PostgreSQL: every table as one COPY stream, all from one snapshot, put back in one transaction."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, LiteralString, cast
from zipfile import ZIP_DEFLATED, ZipFile

from psycopg import Copy, Error

from tokonoma.core.clock import now
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable, Unready
from tokonoma.store import archive
from tokonoma.store.archive import ArchivedSequence, ArchivedTable, Manifest, RowDigest
from tokonoma.store.database import raise_refusal
from tokonoma.store.dialect import POSTGRESQL
from tokonoma.store.migrate import MIGRATION_TABLE, group_migrations, quote_name
from tokonoma.store.postgres import PostgresDatabase
from tokonoma.store.postgres.connection import Connection, to_refusal

_CHUNK = 1 << 18
# Rows are compared as text, so the settings that shape the text are fixed.
_SHAPE = "; set local bytea_output = hex; set local extra_float_digits = 1; set local intervalstyle = postgres"
_SNAPSHOT = "begin isolation level repeatable read, read only" + _SHAPE
_REPLACE = "begin isolation level read committed, read write; set local lock_timeout = '30s'" + _SHAPE
_COLUMNS = (
    "select attname::text from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped"
    " and attgenerated = '' order by attnum"
)
_COUNTED = (
    "select c.relname::text, a.attname::text, pg_get_serial_sequence(quote_ident(c.relname), a.attname)"
    " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
    " where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r'"
    " and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null order by 1, 2"
)
_REFERENCES = (
    "select c.relname::text, k.conname::text, pg_get_constraintdef(k.oid) from pg_constraint k"
    " join pg_class c on c.oid = k.conrelid where k.contype = 'f' and k.conparentid = 0"
    " and c.relnamespace = quote_ident(current_schema())::regnamespace and c.relname = any(%s) order by 1, 2"
)


def save_postgres(database: PostgresDatabase, target: Path) -> dict[str, int]:
    """Write the archive; returns the rows of each table."""
    tables: list[ArchivedTable] = []
    with _connect(database) as connection, ZipFile(target, "w", ZIP_DEFLATED, compresslevel=4) as file:
        _execute(connection, _SNAPSHOT)
        for name in _list_tables(connection):
            columns = _list_columns(connection, name)
            tables.append(archive.write_table(file, name, columns, _copy_rows(connection, name, columns)))
        migrations, sequences = _read_migrations(connection), _read_sequences(connection)
        archive.write_manifest(file, Manifest(archive.FORMAT, now(), migrations, tuple(tables), tuple(sequences)))
    return {table.name: table.rows for table in tables}


def load_postgres(database: PostgresDatabase, source: Path) -> None:
    """Replace the rows of all tables, in one transaction."""
    with _connect(database) as connection, archive.read_archive(source) as (manifest, stream):
        _execute(connection, _REPLACE)
        _execute(connection, POSTGRESQL.migration_lock)
        _check_schema(connection, manifest)
        _replace_rows(connection, manifest, stream)
        _check_rows(connection, manifest)
        _execute(connection, "commit")


def _read_migrations(connection: Connection) -> dict[str, list[str]]:
    tables = _execute(connection, POSTGRESQL.tables)
    return group_migrations(partial(_execute, connection)) if (MIGRATION_TABLE,) in tables else {}


def _check_schema(connection: Connection, manifest: Manifest) -> None:
    found, wanted = _read_migrations(connection), manifest.migrations
    changed = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
    if changed:
        raise Unready(
            f"The backup's tables are not those of this database: the migrations of {', '.join(changed)} differ."
            " Restore it into a database that the version of Tokonoma which made the backup has set up.",
            reason="other_schema",
            sets=changed,
        )
    live = {name: _list_columns(connection, name) for name in _list_tables(connection)}
    for table in manifest.tables:
        if live.get(table.name) != table.columns:
            raise Unready(
                f"The table {table.name} of the backup does not exist here, or has other columns.",
                reason="other_schema",
                table=table.name,
            )


def _replace_rows(connection: Connection, manifest: Manifest, stream: Callable[[ArchivedTable], IO[bytes]]) -> None:
    names = [table.name for table in manifest.tables]
    if not names:
        return
    # Tables may refer to each other in circles, so no order of loading is right.
    references = _execute(connection, _REFERENCES, [names])
    for table, name, _text in references:
        _execute(connection, f"alter table {quote_name(table)} drop constraint {quote_name(name)}")
    _execute(connection, f"truncate {', '.join(map(quote_name, names))}")
    for table in manifest.tables:
        _fill_table(connection, table, stream(table))
    for table, name, text in references:
        _execute(connection, f"alter table {quote_name(table)} add constraint {quote_name(name)} {text}")
    nexts = {(each.table, each.column): each.next for each in manifest.sequences}
    for table, column, sequence in _execute(connection, _COUNTED):
        if (table, column) in nexts:
            # Unlike setval, this is rolled back with the transaction.
            _execute(connection, f"alter sequence {sequence} restart with {nexts[table, column]:d}")


def _fill_table(connection: Connection, table: ArchivedTable, stream: IO[bytes]) -> None:
    with stream, _copy(connection, table.name, table.columns, "from stdin") as copy:
        while chunk := stream.read(_CHUNK):
            copy.write(chunk)


def _check_rows(connection: Connection, manifest: Manifest) -> None:
    for table in manifest.tables:
        digest = RowDigest()
        for row in _copy_rows(connection, table.name, table.columns):
            digest.add(row)
        if (digest.rows, digest.to_hex()) != (table.rows, table.digest):
            raise Unavailable(
                f"The rows of {table.name} differ from the backup after loading; nothing was changed.", reason="restore"
            )


def _copy_rows(connection: Connection, name: str, columns: Sequence[str]) -> Iterator[bytes]:
    with _copy(connection, name, columns, "to stdout") as copy:
        yield from map(bytes, copy)


def _copy(connection: Connection, name: str, columns: Sequence[str], direction: str) -> AbstractContextManager[Copy]:
    words = f"copy {quote_name(name)} ({', '.join(map(quote_name, columns))}) {direction}"
    return connection.cursor().copy(cast(LiteralString, words))


def _list_tables(connection: Connection) -> list[str]:
    return [name for (name,) in _execute(connection, POSTGRESQL.tables) if name != MIGRATION_TABLE]


def _list_columns(connection: Connection, table: str) -> tuple[str, ...]:
    return tuple(name for (name,) in _execute(connection, _COLUMNS, [quote_name(table)]))


def _read_sequences(connection: Connection) -> list[ArchivedSequence]:
    found: list[ArchivedSequence] = []
    for table, column, sequence in _execute(connection, _COUNTED):
        last, called = _execute(connection, f"select last_value, is_called from {sequence}")[0]  # noqa: S608
        found.append(ArchivedSequence(table, column, last + 1 if called else last))
    return found


def _execute(connection: Connection, words: str, values: Sequence[Any] | None = None) -> list[Row]:
    cursor = connection.execute(cast(LiteralString, words), values, prepare=False)
    return cursor.fetchall() if cursor.description is not None else []


@contextmanager
def _connect(database: PostgresDatabase) -> Generator[Connection]:
    """A connection of its own: a backup may take long, and the pool is for calls."""
    with database.address.connect() as connection:
        try:
            yield connection
        except Error as error:
            raise_refusal(to_refusal(error, None, "write"), error)
