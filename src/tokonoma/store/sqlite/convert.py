"""Giving a file from before there were checksums its own."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from tokonoma.store.sqlite.checksums import MARK, RESERVED, find_vfs, read_rows, read_value, set_verification
from tokonoma.store.sqlite.connection import translate_errors


def is_alone(path: Path) -> bool:
    """Whether checksums can be added now: the extension is there, and no other connection has the file open."""
    with _open_alone(path, trust=True) as connection:
        return connection is not None


def add_checksums(path: Path, *, trust: bool = False) -> bool:
    """Rewrite a file with checksums, in one transaction; False if this is not possible now: see `is_alone`.

    `trust` also takes over pages that do not match the checksums they have.
    """
    with _open_alone(path, trust=trust) as connection:
        if connection is None:
            return False
        # In the log, never in a rollback journal: undoing it there would write checksums over parts of the old pages.
        connection.reserve_bytes("main", RESERVED)
        read_rows(connection, "vacuum")
        read_value(connection, f"pragma application_id = {MARK}")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return True


@contextmanager
def _open_alone(path: Path, *, trust: bool = False) -> Generator[apsw.Connection | None]:
    """The only connection to the file: another one would go on to write pages without checksums."""
    if find_vfs() is None:
        yield None
        return
    with (
        translate_errors(path),
        closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE, vfs=find_vfs())) as connection,
    ):
        if trust:
            set_verification(connection, on=False)
        try:
            read_value(connection, "pragma locking_mode = exclusive")
            read_rows(connection, "begin immediate; commit")
        except apsw.BusyError:
            yield None
            return
        yield connection if read_value(connection, "pragma journal_mode") == "wal" else None
