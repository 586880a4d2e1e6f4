"""JSON lines on stderr: stdout belongs to the protocol."""

import json
import sys
import threading
from typing import Any

from tokonoma.core.clock import format_time, now

_LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}
_lock = threading.Lock()
_threshold = 1


def set_level(level: str) -> None:
    """The composition root sets this from the settings."""
    global _threshold
    _threshold = _LEVELS[level]


def log(level: str, event: str, **fields: Any) -> None:
    """One line. Never pass bodies or secrets: only names, ids, sizes and codes."""
    if _LEVELS[level] < _threshold:
        return
    line = json.dumps(
        {"at": format_time(now()), "level": level, "event": event, **fields}, ensure_ascii=False, default=str
    )
    with _lock:
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return  # the other side closed stderr; there is nowhere left to say so
