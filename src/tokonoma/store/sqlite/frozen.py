"""Databases that can be read and not written: on a read-only disk, or on one too full for SQLite's log.

SQLite then opens a file only if it is told that nobody changes it. It does not look at the log in that case, so the log
must be empty.
"""

import os
from pathlib import Path
from typing import Literal

from tokonoma.core.errors import Unavailable

FrozenReason = Literal["read_only", "disk_full"]
"""Why nothing can be written; the reason of the error that a write gets"""


def find_frozen_reason(path: Path) -> FrozenReason | None:
    """None if SQLite can open the file as usual: in a folder where it may write, or beside a log that is in use."""
    if os.access(path.parent, os.W_OK) or _beside(path, "-shm").exists():
        return None
    check_log_is_empty(path)
    return "read_only"


def check_log_is_empty(path: Path) -> None:
    log = _beside(path, "-wal")
    if log.exists() and log.stat().st_size:
        raise Unavailable(
            f"The last changes of {path} are still in its log {log.name}, which can be read only where this program may"
            " write. Free space, or make the folder writable, and run any command once; or copy both files to another"
            " folder and use that one.",
            reason="log",
        )


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)
