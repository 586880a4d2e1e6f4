"""JSON lines on stderr: stdout belongs to the protocol."""

import json
import sys
import threading
from contextlib import suppress
from typing import Any

from tokonoma.core.clock import format_time, now
from tokonoma.core.printable import escape_json

_LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}
_lock = threading.Lock()
_threshold = 1


def set_level(level: str) -> None:
    """Set at start from the settings."""
    global _threshold
    _threshold = _LEVELS[level]


def log(level: str, event: str, **fields: Any) -> None:
    """One line. Never pass bodies or secrets: only names, ids, sizes and codes."""
    if _LEVELS[level] < _threshold:
        return
    entry = {"at": format_time(now()), "level": level, "event": event, **fields}
    line = escape_json(json.dumps(entry, ensure_ascii=False, default=str))
    with _lock, suppress(OSError, ValueError):  # the other side may have closed stderr
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
