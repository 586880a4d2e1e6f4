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
from tokonoma.store.contents import Contents
from tokonoma.store.database import Database
from tokonoma.store.migrate import Sets, applied, check_order

# The drivers are imported where they are needed: a backup of one database does not want the other's.


@dataclass(frozen=True, slots=True)
class Restored:
    contents: Contents
    safety: Path | None  # a copy of what was there before


def backup(database: Database, target: Path) -> Contents:
    """Save everything into the new file `target`, which appears only when it is complete and was read back."""
    with database.reading() as tx:
        if not applied(database, tx):
            raise Unready("The database holds no tables of Tokonoma yet: there is nothing to save.", reason="empty")
    with _appearing(target) as temporary:
        counts = _save(database, temporary)
        contents = verify(temporary)
        if dict(contents.tables) != counts:
            raise Unavailable("The backup does not hold the rows of the database; it was thrown away.", reason="backup")
    return Contents(target, contents.kind, contents.created_at, contents.size, contents.tables, contents.migrations)


def verify(path: Path) -> Contents:
    """What a backup holds; Invalid if it is damaged, or no backup."""
    from tokonoma.store.sqlite import backup as backup_sqlite

    if not path.is_file():
        raise Invalid(f"There is no backup at {path}.", reason="path")
    found = backup_sqlite.verify(path)
    if found is not None:
        return found
    return archive.verify(path)


def restore(database: Database, source: Path, sets: Sets, *, safety: Path | None = None) -> Restored:
    """Put a backup in place of everything that is there. `sets` are the migrations that this program knows.

    A copy of what was there is made first in the folder `safety`; for SQLite, by default, beside the file.
    """
    if database.kind == "sqlite" and source.exists() and source.samefile(database.where):
        raise Invalid(f"{source} is the database itself.", reason="path")
    contents = verify(source)
    if contents.kind != database.kind:
        raise Invalid(
            f"{source} is a backup of {contents.kind}, and the database is {database.kind}. Restore it there.",
            reason="other_database",
        )
    check_known(contents, sets)
    kept = _safe(database, safety)
    _load(database, source)
    if database.kind == "sqlite" and database.check():
        raise Unavailable(f"The restored database is not sound. What was there before is at {kept}.", reason="restore")
    return Restored(contents, kept)


def check_known(contents: Contents, sets: Sets) -> None:
    """Refuse tables that this program does not know, or that a newer one has changed."""
    for name, names in contents.migrations.items():
        if name not in sets:
            raise Unready(
                f"The backup holds tables of `{name}`, which this program does not know. Install that module first.",
                reason="unknown_schema",
                set=name,
            )
        check_order(name, sets[name], names)


def _save(database: Database, target: Path, *, sound: bool = True) -> dict[str, int]:
    if database.kind == "sqlite":
        from tokonoma.store.sqlite import backup as backup_sqlite
        from tokonoma.store.sqlite.database import SqliteDatabase

        assert isinstance(database, SqliteDatabase)
        return backup_sqlite.save(database, target, sound=sound)
    from tokonoma.store.postgres import backup as backup_postgres
    from tokonoma.store.postgres.database import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    return backup_postgres.save(database, target)


def _load(database: Database, source: Path) -> None:
    if database.kind == "sqlite":
        from tokonoma.store.sqlite import backup as backup_sqlite
        from tokonoma.store.sqlite.database import SqliteDatabase

        assert isinstance(database, SqliteDatabase)
        backup_sqlite.load(database, source)
    else:
        from tokonoma.store.postgres import backup as backup_postgres
        from tokonoma.store.postgres.database import PostgresDatabase

        assert isinstance(database, PostgresDatabase)
        backup_postgres.load(database, source)


def _safe(database: Database, folder: Path | None) -> Path | None:
    if folder is None and database.kind != "sqlite":
        return None  # the restore is one transaction, and there is no place that is ours
    name = f"tokonoma-before-restore-{now()}.backup"
    target = (folder or Path(database.where).parent) / name
    # What is there may be the reason for the restore: it is copied as it is, and not judged.
    with _appearing(target) as temporary:
        _save(database, temporary, sound=False)
    return target


@contextmanager
def _appearing(target: Path) -> Generator[Path]:
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
        _synced(temporary)
        temporary.rename(target)
        _synced(target.parent)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (refusals.disk_full() if full else refusals.disk(str(target.parent))) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _synced(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
