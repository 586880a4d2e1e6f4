"""Backups of PostgreSQL: every table as one COPY stream, all from one snapshot, put back in one transaction."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, LiteralString, cast

from psycopg import Error

from tokonoma.core.clock import now
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable, Unready
from tokonoma.store import archive
from tokonoma.store.archive import Digest, Manifest, Sequenced, Table
from tokonoma.store.dialect import POSTGRESQL
from tokonoma.store.migrate import TABLE, quoted
from tokonoma.store.postgres.connection import Connection, refusal
from tokonoma.store.postgres.database import PostgresDatabase

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


def save(database: PostgresDatabase, target: Path) -> dict[str, int]:
    """Write the archive; the rows of each table."""
    counts: dict[str, int] = {}
    with _connected(database) as connection, archive.writing(target) as out:
        _run(connection, _SNAPSHOT)
        for name in _tables(connection):
            columns = _columns(connection, name)
            counts[name] = out.add(name, columns, _copied(connection, name, columns))
        out.finish(now(), migrations(connection), _sequences(connection))
    return counts


def load(database: PostgresDatabase, source: Path) -> None:
    """Replace what the tables hold. Until the commit at the very end nobody sees anything of it."""
    with (
        _connected(database) as connection,
        archive.reading(source) as (manifest, stream),
    ):
        _run(connection, _REPLACE)
        _run(connection, POSTGRESQL.migration_lock)
        _check_schema(connection, manifest)
        _replace(connection, manifest, stream)
        _check_rows(connection, manifest)
        _run(connection, "commit")


def migrations(connection: Connection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if (TABLE,) not in _run(connection, POSTGRESQL.tables):
        return found
    for module, name in _run(connection, "select module, name from migration order by module, applied_at"):
        found.setdefault(module, []).append(name)
    return found


def _check_schema(connection: Connection, manifest: Manifest) -> None:
    found, wanted = migrations(connection), manifest.migrations
    changed = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
    if changed:
        raise Unready(
            f"The backup's tables are not those of this database: the migrations of {', '.join(changed)} differ."
            " Restore it into a database that the version of Tokonoma which made the backup has set up.",
            reason="other_schema",
            sets=changed,
        )
    live = {name: _columns(connection, name) for name in _tables(connection)}
    for table in manifest.tables:
        if live.get(table.name) != table.columns:
            raise Unready(
                f"The table {table.name} of the backup is not there, or has other columns.",
                reason="other_schema",
                table=table.name,
            )


def _replace(connection: Connection, manifest: Manifest, stream: Callable[[Table], IO[bytes]]) -> None:
    names = [table.name for table in manifest.tables]
    if not names:
        return
    # Tables may refer to each other in circles: no order of loading would do.
    references = _run(connection, _REFERENCES, [names])
    for table, name, _text in references:
        _run(connection, f"alter table {quoted(table)} drop constraint {quoted(name)}")
    _run(connection, f"truncate {', '.join(map(quoted, names))}")
    for table in manifest.tables:
        _fill(connection, table, stream(table))
    for table, name, text in references:
        _run(connection, f"alter table {quoted(table)} add constraint {quoted(name)} {text}")
    nexts = {(each.table, each.column): each.next for each in manifest.sequences}
    for table, column, sequence in _run(connection, _COUNTED):
        if (table, column) in nexts:
            # Unlike setval, this is undone if the transaction is.
            _run(connection, f"alter sequence {sequence} restart with {nexts[table, column]:d}")


def _fill(connection: Connection, table: Table, stream: IO[bytes]) -> None:
    words = f"copy {quoted(table.name)} ({_listed(table.columns)}) from stdin"
    with stream, connection.cursor().copy(cast(LiteralString, words)) as copy:
        while chunk := stream.read(_CHUNK):
            copy.write(chunk)


def _check_rows(connection: Connection, manifest: Manifest) -> None:
    for table in manifest.tables:
        digest = Digest()
        for row in _copied(connection, table.name, table.columns):
            digest.add(row)
        if (digest.rows, digest.shown()) != (table.rows, table.digest):
            raise Unavailable(
                f"The rows of {table.name} did not arrive as they were saved; nothing was changed.", reason="restore"
            )


def _copied(connection: Connection, name: str, columns: Sequence[str]) -> Iterator[bytes]:
    words = f"copy {quoted(name)} ({_listed(columns)}) to stdout"
    with connection.cursor().copy(cast(LiteralString, words)) as copy:
        for row in copy:
            yield bytes(row)


def _tables(connection: Connection) -> list[str]:
    return [name for (name,) in _run(connection, POSTGRESQL.tables) if name != TABLE]


def _columns(connection: Connection, table: str) -> tuple[str, ...]:
    return tuple(name for (name,) in _run(connection, _COLUMNS, [quoted(table)]))


def _sequences(connection: Connection) -> list[Sequenced]:
    found: list[Sequenced] = []
    for table, column, sequence in _run(connection, _COUNTED):
        last, called = _run(connection, f"select last_value, is_called from {sequence}")[0]  # noqa: S608
        found.append(Sequenced(table, column, last + 1 if called else last))
    return found


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns))


def _run(connection: Connection, words: str, values: Sequence[Any] | None = None) -> list[Row]:
    cursor = connection.execute(cast(LiteralString, words), values, prepare=False)
    return cursor.fetchall() if cursor.description is not None else []


@contextmanager
def _connected(database: PostgresDatabase) -> Generator[Connection]:
    """A connection of its own: a backup may take long, and the pool's are for calls."""
    with database.address.connect() as connection:
        try:
            yield connection
        except Error as error:
            found = refusal(error, database.where, None, "write")
            if found is error:
                raise
            raise found from error
