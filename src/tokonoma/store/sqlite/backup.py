"""Backups of SQLite: pages copied by SQLite's own backup interface, in one snapshot, while others read and write.

SQLite's own check finds broken pages but not a changed letter in a row: the seal at the end does (file_archive.py). It
and the files lie after the last page, where SQLite does not read: the backup is still a plain database.
"""

from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from tokonoma.core.errors import Invalid, Refusal
from tokonoma.store.archive import BackupContents, damaged_backup, not_a_backup
from tokonoma.store.dialect import SQLITE
from tokonoma.store.file_archive import check_seal, verify_files
from tokonoma.store.migrate import MIGRATION_TABLE, group_migrations, quote_name
from tokonoma.store.sqlite import SqliteDatabase
from tokonoma.store.sqlite.checksums import find_vfs, has_room, prepare_new_file, set_verification
from tokonoma.store.sqlite.connection import translate_errors
from tokonoma.store.sqlite.convert import add_checksums

_PAGES = 1_024  # copied at a time


def save_sqlite(database: SqliteDatabase, target: Path, *, sound: bool = True) -> dict[str, int]:
    """Copy into an empty file; the rows of each table. With `sound=False` damaged pages are copied too."""
    with (
        closing(database.open_reader()) as reader,
        translate_errors(target),
        _open_file(target, apsw.SQLITE_OPEN_READWRITE) as copy,
    ):
        if not sound:
            set_verification(reader.raw, on=False)
        if has_room(reader.raw):
            prepare_new_file(copy)  # or pages that are written before the first one would get no checksum
        reader.execute("begin")
        # The first read takes the snapshot: later commits do not restart the copy.
        reader.execute("select count(*) from sqlite_schema").fetchall()
        counts = _count_rows(reader.raw) if sound else {}
        counts.pop(MIGRATION_TABLE, None)
        _copy_pages(reader.raw, copy)
        # One plain file without a log, which can be moved anywhere.
        _fetch_rows(copy, "pragma journal_mode = delete")
    return counts


def load_sqlite(database: SqliteDatabase, source: Path) -> None:
    """Copy over the live database in one transaction: other processes may have it open."""
    with _open_like(database, source) as copy:
        database.writer.acquire(None)
        try:
            live = database.writer.connection.raw
            if _fetch_rows(copy, "pragma page_size") != _fetch_rows(live, "pragma page_size"):
                raise Invalid(f"{source} has another page size than the live database.", reason="page_size")
            set_verification(live, on=False)  # the pages that are replaced may be damaged
            with translate_errors(database.path):
                _copy_pages(copy, live)
        finally:
            set_verification(database.writer.connection.raw, on=True)
            database.writer.release()


@contextmanager
def _open_like(database: SqliteDatabase, source: Path) -> Generator[apsw.Connection]:
    """A backup; one from before there were checksums as a copy with checksums, if the database has them."""
    with ExitStack() as stack:
        copy = stack.enter_context(_open_file(source, apsw.SQLITE_OPEN_READONLY))
        if has_room(database.writer.connection.raw) and not has_room(copy):
            folder = stack.enter_context(TemporaryDirectory(prefix=".restore-", dir=database.path.parent))
            target = Path(folder) / "tokonoma.db"
            target.touch(0o600)
            with translate_errors(target):
                with _open_file(target, apsw.SQLITE_OPEN_READWRITE) as made:
                    _copy_pages(copy, made)
                    _fetch_rows(made, "pragma journal_mode = wal")
                add_checksums(target)
            copy = stack.enter_context(_open_file(target, apsw.SQLITE_OPEN_READONLY))
        yield copy


def verify_sqlite(path: Path) -> BackupContents | None:
    """Read every page and every file; the contents of the backup. None if it is no SQLite file.

    Only SQLite opens the pages: closing another handle would drop the locks of a live database.
    """
    try:
        with translate_errors(path), _open_file(path, apsw.SQLITE_OPEN_READONLY) as connection:
            _fetch_rows(connection, "select count(*) from sqlite_schema")  # the file is opened when it is first needed
            made = check_seal(path, lambda offset, size: connection.read("main", 0, offset, size)[1])
            if _fetch_rows(connection, "pragma integrity_check(1)") != [("ok",)]:
                raise damaged_backup(path, "SQLite finds its pages broken")
            tables = _count_rows(connection)
            if MIGRATION_TABLE not in tables:
                raise not_a_backup(path)
            migrations = group_migrations(partial(_fetch_rows, connection))
            end = _find_end_of_pages(connection)
    except Refusal as refusal:
        if isinstance(refusal.__cause__, apsw.NotADBError):
            return None
        if refusal.reason in ("corrupt", "disk"):  # a truncated file looks like a disk error
            raise damaged_backup(path, "SQLite cannot read its pages") from refusal
        raise
    found = path.stat()
    if made is None and found.st_size > end:
        raise damaged_backup(path, "its end is cut off or was changed")
    files = None if made is None else verify_files(path)
    del tables[MIGRATION_TABLE]
    made_at = made or found.st_mtime_ns // 1_000_000
    return BackupContents(path, "sqlite", made_at, found.st_size, tables, migrations, files)


def read_sqlite_migrations(path: Path) -> dict[str, list[str]] | None:
    """The migrations of a backup, without a check of anything else. None if it is no SQLite file, or cannot be read."""
    try:
        with _open_file(path, apsw.SQLITE_OPEN_READONLY) as connection:
            return group_migrations(partial(_fetch_rows, connection))
    except apsw.Error:
        return None


def _find_end_of_pages(connection: apsw.Connection) -> int:
    return _fetch_rows(connection, "pragma page_count")[0][0] * _fetch_rows(connection, "pragma page_size")[0][0]


@contextmanager
def _open_file(path: Path, flags: int) -> Generator[apsw.Connection]:
    # Checksums of pages are written, but not compared: another program may have made the copy, and a seal says more.
    vfs = find_vfs() if flags == apsw.SQLITE_OPEN_READWRITE else None
    with closing(apsw.Connection(str(path), flags=flags, vfs=vfs)) as connection:
        connection.set_busy_timeout(15_000)
        yield connection


def _copy_pages(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copying:
        while not copying.done:
            copying.step(_PAGES)


def _count_rows(connection: apsw.Connection) -> dict[str, int]:
    tables = [str(row[0]) for row in _fetch_rows(connection, SQLITE.tables)]
    return {name: _fetch_rows(connection, f"select count(*) from {quote_name(name)}")[0][0] for name in tables}  # noqa: S608


def _fetch_rows(connection: apsw.Connection, sql: str) -> list[tuple[Any, ...]]:
    cursor: Any = connection.cursor()
    return cursor.execute(sql).fetchall()
