"""What checksums of pages do not show: a page of zeros has the checksum zero, and a page cut short is not compared."""

import os
import time
from contextlib import suppress
from pathlib import Path

import apsw

from tokonoma.store.sqlite.checksums import read_rows, read_value

_TRIES = 20
_PAUSE = 0.05  # seconds


def explain_problem(line: str) -> str:
    """A line of SQLite's own check, which names a wrong checksum by its number only."""
    return line.replace(f"unable to get the page. error code={apsw.SQLITE_IOERR_DATA}", "does not match its checksum")


def find_lost_pages(reader: apsw.Connection, mover: apsw.Connection | None, path: Path) -> list[str]:
    """Pages of large values that hold nothing, and a file that ends within a page; in words. `mover` can move what is
    in the log into the file; None if the log is empty.

    SQLite itself notices when a page of a tree is empty. The end of a large value, in pages of its own, it takes as is.
    """
    if not _begin_moved(reader, mover):
        return []  # others are writing all the time: the file does not hold the newest pages
    try:
        size, count = read_value(reader, "pragma page_size"), read_value(reader, "pragma page_count")
        missing = size * count - os.stat(path).st_size  # noqa: PTH116 - never opened here: see create_file
        problems = [f"the file is {missing} bytes shorter than its pages"] if missing > 0 else []
        empty = bytes(size)
        for number, table in read_rows(reader, "select pageno, name from dbstat where pagetype = 'overflow'"):
            if reader.read("main", 0, (number - 1) * size, size)[1] == empty:
                problems.append(f"page {number}, which belongs to {table}, holds only zeros")
        return problems
    finally:
        if reader.in_transaction:  # an error has already ended it
            read_rows(reader, "rollback")


def _begin_moved(reader: apsw.Connection, mover: apsw.Connection | None) -> bool:
    """Begin a snapshot of which every page is in the file, not in the log."""
    for _ in range(_TRIES):
        read_rows(reader, "begin")
        read_value(reader, "select count(*) from sqlite_schema")  # the first read takes the snapshot
        if mover is None:
            return True
        with suppress(apsw.BusyError):  # another connection is moving pages
            pages, moved = mover.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if pages == moved:
                return True
        read_rows(reader, "rollback")
        time.sleep(_PAUSE)
    return False
