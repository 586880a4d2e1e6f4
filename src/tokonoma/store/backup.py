"""Backups: made while others read and write, verified before they count, restored completely or not at all."""

import errno
import os
import re
import secrets
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Invalid, Refusal, Unavailable, Unready
from tokonoma.files.tree import FileIdentity
from tokonoma.store.archive import BackupContents, damaged_backup, read_archive, verify_archive
from tokonoma.store.database import Database, store_error
from tokonoma.store.file_archive import FileRoots, append_files, check_seal, verify_files
from tokonoma.store.file_restore import RestoredFiles, stage_files
from tokonoma.store.migrate import MigrationSets, check_order, migrate, read_applied

_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial")
_ABANDONED = 3_600  # seconds since the last change of a file that belongs to no running backup


@dataclass(frozen=True, slots=True)
class RestoreResult:
    contents: BackupContents
    safety: Path | None  # a copy of the earlier state
    files: RestoredFiles | None  # None: no file was touched


def create_backup(database: Database, target: Path, roots: FileRoots | None = None) -> BackupContents:
    """Save everything into the new file `target`, which appears only when it is complete and was read back.

    `roots` are the folders whose files are saved too. The database comes first: every version of a file that it knows
    is then still to come.
    """
    with database.reading() as tx:
        if not read_applied(database, tx):
            raise Unready("The database has no tables of Tokonoma yet: there is nothing to save.", reason="empty")
    return save_backup(database, target, roots)


def save_backup(database: Database, target: Path, roots: FileRoots | None = None) -> BackupContents:
    """`create_backup` of a database that is known to have tables. A migration calls it inside its transaction: it opens
    no block."""
    with _write_atomically(target) as temporary:
        counts = database.save_copy(temporary)
        append_files(temporary, roots, now(), _own_files(database, target))
        contents = verify_backup(temporary)
        if dict(contents.tables) != counts:
            raise Unavailable("The backup does not match the database; it was deleted.", reason="backup")
    return replace(contents, path=target)


def verify_backup(path: Path) -> BackupContents:
    """The contents of a backup; Invalid if it is damaged, or no backup."""
    from tokonoma.store.sqlite.backup import verify_sqlite  # the driver is imported where it is needed

    if not path.is_file():
        raise Invalid(f"There is no backup at {path}.", reason="path")
    return verify_sqlite(path) or _verify_postgres(path)


def find_restorable(folder: Path, kind: str, sets: MigrationSets) -> Path | None:
    """The newest backup of such a database in a folder that a program with these migrations can restore. It is not
    verified: `restore` does that."""
    with suppress(OSError):
        backups = sorted(folder.glob("*.backup"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        return next((file for file in backups if _is_known(_read_migrations(file, kind), sets)), None)
    return None


def _read_migrations(path: Path, kind: str) -> Mapping[str, Sequence[str]]:
    """Those of a backup of such a database; none if it is another file."""
    from tokonoma.store.sqlite.backup import read_sqlite_migrations

    if kind == "sqlite":
        return read_sqlite_migrations(path) or {}
    with suppress(Refusal), read_archive(path) as (manifest, _):
        return manifest.migrations
    return {}


def _is_known(migrations: Mapping[str, Sequence[str]], sets: MigrationSets) -> bool:
    return bool(migrations) and all(
        name in sets and [step.name for step in sets[name]][: len(names)] == list(names)
        for name, names in migrations.items()
    )


def _verify_postgres(path: Path) -> BackupContents:
    contents = verify_archive(path)
    with path.open("rb") as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        sealed = check_seal(path, read) is not None
    files = verify_files(path)
    if files is not None and not sealed:
        raise damaged_backup(path, "its end is cut off or was changed")
    return replace(contents, files=files)


def restore_backup(
    database: Database,
    source: Path,
    sets: MigrationSets,
    *,
    safety: Path | None = None,
    roots: FileRoots | None = None,
) -> RestoreResult:
    """Replace the whole database by a backup, and put its files back below `roots`; None: without files.

    `sets` are the migrations that this program knows. Before that, the present state is copied into the folder
    `safety`; for SQLite, by default, beside the file.
    """
    if database.kind == "sqlite" and source.exists() and source.samefile(database.location):
        raise Invalid(f"{source} is the database itself.", reason="path")
    contents = verify_backup(source)
    if contents.kind != database.kind:
        raise Invalid(
            f"{source} is a backup of {contents.kind}, and the database is {database.kind}. Restore it there.",
            reason="other_database",
        )
    for name, names in contents.migrations.items():
        if name not in sets:
            raise Unready(
                f"The backup contains tables of `{name}`, which this program does not know. Install that module first.",
                reason="unknown_schema",
                set=name,
            )
        check_order(name, sets[name], names)
    if contents.kind == "sqlite":
        from tokonoma.store.sqlite.schema import check_backup_schema

        check_backup_schema(source, sets, contents.migrations)
    touched = roots if contents.files is not None and contents.files.included else None
    with stage_files(source, touched) as staged:
        kept = _save_safety_copy(database, safety, touched)
        _create_tables(database, sets, contents)
        database.load_copy(source)
        _finish_replacement(database, kept)
        return RestoreResult(contents, kept, staged.place() if staged else None)


def _create_tables(database: Database, sets: MigrationSets, contents: BackupContents) -> None:
    """Give an empty PostgreSQL database the tables of a backup, which contains rows alone. A backup of an older version
    can be restored this way."""
    if database.kind == "sqlite":
        return
    with database.reading() as tx:
        if read_applied(database, tx):
            return  # the rows are replaced, if the tables are the same
    for name, steps in sets.items():  # in this order: later sets refer to tables of earlier ones
        migrate(database, name, steps[: len(contents.migrations.get(name, ()))], lambda _: None)


def _finish_replacement(database: Database, kept: Path | None) -> None:
    """What follows once the content of the database was replaced. Whatever describes the earlier content from outside
    the database must be reset here."""
    if database.kind == "sqlite" and database.find_problems():
        raise Unavailable(f"The restored database is damaged. The earlier state is at {kept}.", reason="restore")


def _save_safety_copy(database: Database, folder: Path | None, roots: FileRoots | None) -> Path | None:
    if folder is None and database.kind != "sqlite":
        return None  # the restore is one transaction, and there is no folder of ours
    name = f"tokonoma-before-restore-{now()}.backup"
    target = (folder or Path(database.location).parent) / name
    # A damaged database may be the reason for the restore: it is copied as it is, without checks.
    with _write_atomically(target) as temporary:
        database.save_copy(temporary, sound=False)
        append_files(temporary, roots, now(), _own_files(database, target))
    return target


def _own_files(database: Database, target: Path) -> frozenset[FileIdentity]:
    """The database and the folder of the backup: a root may contain them, and they are no files of its owner."""
    places = [target.parent]
    if database.kind == "sqlite":
        places += [Path(database.location + end) for end in ("", "-wal", "-shm")]
    found = [place.stat() for place in places if place.exists()]
    return frozenset((each.st_dev, each.st_ino) for each in found)


@contextmanager
def _write_atomically(target: Path) -> Generator[Path]:
    """A new file, readable by its owner only, written under another name and synced before it gets its own."""
    if target.exists():
        raise Conflict(f"{target} already exists. Choose another name.", reason="exists")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise Invalid(f"{target} cannot be written. Check its folder.", reason="path") from error
    try:
        _remove_left_over(target.parent)
        yield temporary
        _sync(temporary)
        temporary.rename(target)
        _sync(target.parent)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise store_error("disk_full" if full else "disk", str(target.parent)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _remove_left_over(folder: Path) -> None:
    """Remove what backups that were killed have left. One that is being made is written to all the time."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _PARTIAL.fullmatch(path.name) and path.lstat().st_mtime < time.time() - _ABANDONED:
                path.unlink()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
