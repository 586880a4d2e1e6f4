"""Checksums of pages, by `cksumvfs`: SQLite's own extension, which comes with the driver.

The last 8 bytes of every page in the file are a checksum. It is written with the page and compared when the page is
read, so a changed bit in a record, an index, a word or a vector is an error instead of a wrong answer. Pages in the log
have checksums of their own. See docs/adr/0031-damage.md.
"""

from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import apsw

from tokonoma.core.errors import Unavailable, Unready

MARK = 0x746F6B6F  # the application id of a file with checksums: the byte that turns them on may itself be damaged
RESERVED = 8  # bytes of every page
VFS = "cksmvfs"
_LOADING = Lock()


def find_vfs() -> str | None:
    """The name under which SQLite opens files with checksums; None if the driver was built without the extension."""
    with _LOADING:
        return _load_vfs()


@cache
def _load_vfs() -> str | None:
    default = apsw.vfs_names()[0]
    with closing(apsw.Connection(":memory:")) as connection:
        connection.enable_load_extension(True)
        try:
            # SQLite adds the ending that libraries have on this system.
            connection.load_extension(str(Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"))
        except apsw.ExtensionLoadingError:
            return None
    apsw.set_default_vfs(default)  # other users of SQLite in this process keep theirs
    return VFS


def prepare_new_file(connection: apsw.Connection) -> None:
    """Give an empty file its first page, with room for checksums. A file that has pages is left as it is."""
    if find_vfs() is not None and read_value(connection, "pragma page_count") == 0:
        connection.reserve_bytes("main", RESERVED)
        read_value(connection, f"pragma application_id = {MARK}")


def has_room(connection: apsw.Connection) -> bool:
    """Whether the pages of a file have room for checksums."""
    return connection.reserve_bytes() == RESERVED


def check_verified(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that has checksums which this connection does not compare."""
    if str(read_value(connection, "pragma checksum_verification")) == "1":
        return
    if find_vfs() is None:
        if has_room(connection):
            raise Unready(
                f"The pages of {path} have checksums, which this installation cannot write. Install the SQLite driver"
                " from PyPI: pip install --force-reinstall --only-binary apsw apsw",
                reason="checksums",
            )
    elif has_room(connection):
        # A process was killed when it had just added them: the page that turns them on is still in the log.
        with suppress(apsw.BusyError):
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    elif read_value(connection, "pragma application_id") == MARK:
        raise first_page_error(path)


def first_page_error(path: Path) -> Unavailable:
    return Unavailable(
        f"{path} is not a SQLite database, or its first page is damaged. It was not changed. Move it away, start"
        " Tokonoma to create a new one, and restore your data with `tokonoma restore BACKUP`.",
        reason="corrupt",
    )


def set_verification(connection: apsw.Connection, on: bool) -> None:
    read_value(connection, f"pragma checksum_verification = {'on' if on else 'off'}")


def read_rows(connection: apsw.Connection, sql: str) -> list[tuple[Any, ...]]:
    cursor: Any = connection.cursor()
    return cursor.execute(sql).fetchall()


def read_value(connection: apsw.Connection, sql: str) -> Any:
    rows = read_rows(connection, sql)
    return rows[0][0] if rows else None
