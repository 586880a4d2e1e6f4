"""Backups of SQLite: pages copied by SQLite's own backup interface, in one snapshot, while others read and write.

A copy ends with a seal: the time, and a hash of all bytes before it. SQLite's own check finds broken pages but not a
changed letter in a row. The seal is shorter than a page and after the last one, where SQLite does not read: the file is
still a plain database.
"""

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.store.archive import BackupContents, damaged_backup, not_a_backup
from tokonoma.store.dialect import SQLITE
from tokonoma.store.migrate import MIGRATION_TABLE, group_migrations, quote_name
from tokonoma.store.sqlite import SqliteDatabase
from tokonoma.store.sqlite.checksums import find_vfs, has_room, prepare_new_file, set_verification
from tokonoma.store.sqlite.connection import translate_errors
from tokonoma.store.sqlite.convert import add_checksums

_PAGES = 1_024  # copied at a time
_SEAL_SIZE = 128
_CHUNK = 1 << 20
_SEAL = re.compile(rb"tokonoma backup 1 at (\d{15}) sha256 ([0-9a-f]{64})\n+\Z")


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
    _write_seal(target, now())
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
    """Read every page; the contents of the file. None if it is no SQLite file.

    Only SQLite opens the file: closing another handle would drop the locks of a live database.
    """
    try:
        with translate_errors(path), _open_file(path, apsw.SQLITE_OPEN_READONLY) as connection:
            made = _read_seal_time(connection, path)
            if _fetch_rows(connection, "pragma integrity_check(1)") != [("ok",)]:
                raise damaged_backup(path, "SQLite finds its pages broken")
            tables = _count_rows(connection)
            if MIGRATION_TABLE not in tables:
                raise not_a_backup(path)
            migrations = group_migrations(partial(_fetch_rows, connection))
    except Refusal as refusal:
        if isinstance(refusal.__cause__, apsw.NotADBError):
            return None
        if refusal.reason in ("corrupt", "disk"):  # a truncated file looks like a disk error
            raise damaged_backup(path, "SQLite cannot read its pages") from refusal
        raise
    found = path.stat()
    del tables[MIGRATION_TABLE]
    return BackupContents(path, "sqlite", made or found.st_mtime_ns // 1_000_000, found.st_size, tables, migrations)


def _write_seal(path: Path, at: int) -> None:
    found = hashlib.sha256()
    with path.open("r+b") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
        file.write(f"tokonoma backup 1 at {at:015d} sha256 {found.hexdigest()}".encode().ljust(_SEAL_SIZE, b"\n"))
        file.flush()
        os.fsync(file.fileno())


def _read_seal_time(connection: apsw.Connection, path: Path) -> int | None:
    """The time of the seal; None for a plain copy of the database, which has none."""
    _fetch_rows(connection, "select count(*) from sqlite_schema")  # the file is opened when it is first needed
    end = path.stat().st_size - _SEAL_SIZE

    def read(offset: int, size: int) -> bytes:
        return connection.read("main", 0, offset, size)[1]

    seal = _SEAL.match(read(end, _SEAL_SIZE)) if end > 0 else None
    if seal is None:
        return None
    found = hashlib.sha256()
    for offset in range(0, end, _CHUNK):
        found.update(read(offset, min(_CHUNK, end - offset)))
    if found.hexdigest().encode() != seal[2]:
        raise damaged_backup(path, "its bytes were changed")
    return int(seal[1])


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
