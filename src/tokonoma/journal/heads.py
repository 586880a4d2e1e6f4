"""Where the journal's chains stand, noted in a small file outside the database.

SQLite drops the end of a damaged log without a word: the database is then older than it was, and looks sound. The file
says what was committed, so that this is noticed. A line is written after its commit, never before: the file may be
behind the database, but a database that is behind the file has lost something. There is no fsync; it is not needed for
that.

Every process appends to the same file and opens it anew each time. A full file becomes `….old`, which replaces the one
before. Each line has a checksum; a process killed while it writes leaves at most one line that does not match.
"""

import math
import os
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from tokonoma.core.desk import Rows
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.journal.gap import Gap, NotedEntry, find_gap

_PAUSE = 0.2  # seconds between two writes
_MAX_SIZE = 64 * 1024  # bytes of one file, about 300 entries
_MAX_WRITES = 50  # entries of one commit; the numbers in a chain show how many more there were
_MAX_KEPT = 100  # missing entries that a new file begins with
_WRITES = ("committed", "sent")


class NotedHeads(NamedTuple):
    entries: list[NotedEntry]  # oldest first
    damaged: int  # lines that do not match their checksums; the last line is not counted


def read_heads(path: Path) -> NotedHeads:
    entries: list[NotedEntry] = []
    damaged = 0
    for each in (_old_path(path), path):
        with suppress(OSError):
            found = [_parse_line(line) for line in each.read_bytes().split(b"\n") if line]
            entries += filter(None, found)
            damaged += sum(entry is None for entry in found[:-1])
    return NotedHeads(entries, damaged)


def remove_heads(path: Path) -> None:
    """Forget what was noted: the database was replaced by another, as by a restore."""
    path.unlink(missing_ok=True)
    _old_path(path).unlink(missing_ok=True)


class HeadsFile:
    """One per process. Nothing here fails a call: a file that cannot be written is logged once."""

    def __init__(self, path: Path, reading: Callable[[], AbstractContextManager[Rows]]) -> None:
        self._path, self._reading = path, reading
        self._lock = threading.Lock()
        self._waiting: list[NotedEntry] = []
        self._written_at = -math.inf
        self._timer: threading.Timer | None = None
        self._failed = False
        self._gap: Gap | None = None  # looked for at the start; it can only be closed after that
        try:
            self._gap = self._find_gap()
        except Refusal as error:  # the server answers what it can; reads and the doctor meet the same error
            log("warning", "journal.heads", path=str(path), reason=error.reason)
        if self._gap is not None:
            log("warning", "journal.behind", says=self._gap.describe())

    def get_gap(self) -> Gap | None:
        """What the database has lost, and nobody has accepted yet."""
        if self._gap is not None:
            self._gap = self._find_gap()
        return self._gap

    def _find_gap(self) -> Gap | None:
        noted = read_heads(self._path).entries  # before the snapshot, which then holds everything that was noted
        if not noted:
            return None
        with self._reading() as rows:
            return find_gap(rows, noted)

    def note(self, rows: Sequence[dict[str, Any]]) -> None:
        """Note what was committed to a chain: the writes, and the last entry."""
        writes = [row for row in rows[:-1] if row["outcome"] in _WRITES]
        with self._lock:
            self._waiting += [_to_noted(row) for row in (*writes[-_MAX_WRITES:], *rows[-1:])]
            if self._timer is not None:
                return
            wait = self._written_at + _PAUSE - time.monotonic()
            if wait <= 0:
                self._write()
                return
            self._timer = threading.Timer(wait, self.flush)
            self._timer.daemon = True
            self._timer.start()

    def flush(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        entries, self._waiting = self._waiting, []
        try:
            if self._make_room() and self._gap is not None:
                entries = [*self._gap.entries[-_MAX_KEPT:], *entries]  # or it would be forgotten with the old file
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, b"".join(map(_format_line, entries)))
            finally:
                os.close(handle)
        except OSError as error:
            if not self._failed:
                log("warning", "journal.heads", path=str(self._path), error=type(error).__name__)
            self._failed = True
        self._written_at = time.monotonic()

    def _make_room(self) -> bool:
        """Whether a new file begins."""
        with suppress(OSError):
            if self._path.stat().st_size > _MAX_SIZE:
                self._path.replace(_old_path(self._path))
                return True
        return False


def _old_path(path: Path) -> Path:
    return path.with_name(path.name + ".old")


def _to_noted(row: dict[str, Any]) -> NotedEntry:
    tool = f"{row['module']}.{row['tool']}" if row["tool"] else row["kind"]
    return NotedEntry(row["strand"], row["seq"], row["hash"].hex(), row["at"], row["request_id"], tool, row["outcome"])


def _format_line(entry: NotedEntry) -> bytes:
    # The newline comes first: a line that was cut off does not spoil the next.
    body = orjson.dumps([*entry])
    return b"\n%08x %s" % (zlib.crc32(body), body)


def _parse_line(line: bytes) -> NotedEntry | None:
    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(body):
        return None
    return NotedEntry(*orjson.loads(body))
