"""Backups: made while others read and write, verified before they count, restored as a whole or not at all."""

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Invalid, Unavailable, Unready
from tokonoma.store import archive
from tokonoma.store import errors as refusals
from tokonoma.store.contents import BackupContents
from tokonoma.store.database import Database
from tokonoma.store.migrate import MigrationSets, check_order, read_applied

# The drivers are imported where they are needed: a backup of one database does not want the other's.


@dataclass(frozen=True, slots=True)
class RestoreResult:
    contents: BackupContents
    safety: Path | None  # a copy of what was there before


def create_backup(database: Database, target: Path) -> BackupContents:
    """Save everything into the new file `target`, which appears only when it is complete and was read back."""
    with database.reading() as tx:
        if not read_applied(database, tx):
            raise Unready("The database holds no tables of Tokonoma yet: there is nothing to save.", reason="empty")
    with _write_atomically(target) as temporary:
        counts = _save_database(database, temporary)
        contents = verify_backup(temporary)
        if dict(contents.tables) != counts:
            raise Unavailable("The backup does not hold the rows of the database; it was thrown away.", reason="backup")
    return BackupContents(
        target, contents.kind, contents.created_at, contents.size, contents.tables, contents.migrations
    )


def verify_backup(path: Path) -> BackupContents:
    """What a backup holds; Invalid if it is damaged, or no backup."""
    from tokonoma.store.sqlite import backup as backup_sqlite

    if not path.is_file():
        raise Invalid(f"There is no backup at {path}.", reason="path")
    found = backup_sqlite.verify_sqlite(path)
    if found is not None:
        return found
    return archive.verify_archive(path)


def restore_backup(
    database: Database, source: Path, sets: MigrationSets, *, safety: Path | None = None
) -> RestoreResult:
    """Put a backup in place of everything that is there. `sets` are the migrations that this program knows.

    A copy of what was there is made first in the folder `safety`; for SQLite, by default, beside the file.
    """
    if database.kind == "sqlite" and source.exists() and source.samefile(database.location):
        raise Invalid(f"{source} is the database itself.", reason="path")
    contents = verify_backup(source)
    if contents.kind != database.kind:
        raise Invalid(
            f"{source} is a backup of {contents.kind}, and the database is {database.kind}. Restore it there.",
            reason="other_database",
        )
    check_migrations(contents, sets)
    kept = _save_safety_copy(database, safety)
    _load_database(database, source)
    if database.kind == "sqlite" and database.find_problems():
        raise Unavailable(f"The restored database is not sound. What was there before is at {kept}.", reason="restore")
    return RestoreResult(contents, kept)


def check_migrations(contents: BackupContents, sets: MigrationSets) -> None:
    """Refuse tables that this program does not know, or that a newer one has changed."""
    for name, names in contents.migrations.items():
        if name not in sets:
            raise Unready(
                f"The backup holds tables of `{name}`, which this program does not know. Install that module first.",
                reason="unknown_schema",
                set=name,
            )
        check_order(name, sets[name], names)


def _save_database(database: Database, target: Path, *, sound: bool = True) -> dict[str, int]:
    if database.kind == "sqlite":
        from tokonoma.store.sqlite import backup as backup_sqlite
        from tokonoma.store.sqlite.database import SqliteDatabase

        assert isinstance(database, SqliteDatabase)
        return backup_sqlite.save_sqlite(database, target, sound=sound)
    from tokonoma.store.postgres import backup as backup_postgres
    from tokonoma.store.postgres.database import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    return backup_postgres.save_postgres(database, target)


def _load_database(database: Database, source: Path) -> None:
    if database.kind == "sqlite":
        from tokonoma.store.sqlite import backup as backup_sqlite
        from tokonoma.store.sqlite.database import SqliteDatabase

        assert isinstance(database, SqliteDatabase)
        backup_sqlite.load_sqlite(database, source)
    else:
        from tokonoma.store.postgres import backup as backup_postgres
        from tokonoma.store.postgres.database import PostgresDatabase

        assert isinstance(database, PostgresDatabase)
        backup_postgres.load_postgres(database, source)


def _save_safety_copy(database: Database, folder: Path | None) -> Path | None:
    if folder is None and database.kind != "sqlite":
        return None  # the restore is one transaction, and there is no place that is ours
    name = f"tokonoma-before-restore-{now()}.backup"
    target = (folder or Path(database.location).parent) / name
    # What is there may be the reason for the restore: it is copied as it is, and not judged.
    with _write_atomically(target) as temporary:
        _save_database(database, temporary, sound=False)
    return target


@contextmanager
def _write_atomically(target: Path) -> Generator[Path]:
    """A new file that only its owner can read, filled under another name; it is on the disk before it appears."""
    if target.exists():
        raise Conflict(f"{target} is already there. Choose another name.", reason="exists")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise Invalid(f"{target} cannot be written. Check its folder.", reason="path") from error
    try:
        yield temporary
        _sync(temporary)
        temporary.rename(target)
        _sync(target.parent)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (refusals.disk_full_error() if full else refusals.disk_error(str(target.parent))) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
