"""Lines on stderr, for stdout belongs to the protocol: JSON for programs, plain text for a person at a terminal."""

import json
import sys
import threading
from contextlib import suppress
from typing import Any

from tokonoma.core.clock import format_time, now
from tokonoma.core.printable import escape_json, escape_line

_LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}
_lock = threading.Lock()
_threshold = 1
_format = "auto"


def set_level(level: str) -> None:
    """Set at start from the settings."""
    global _threshold
    _threshold = _LEVELS[level]


def set_format(name: str) -> None:
    """json, text, or auto: text if stderr is a terminal."""
    global _format
    _format = name


def writes_text() -> bool:
    # A process may be started without any standard error: then there is no stream at all.
    if _format != "auto" or sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        return _format == "text"
    return sys.stderr.isatty()


def log(level: str, event: str, **fields: Any) -> None:
    """One line. Never pass bodies or secrets: only names, ids, sizes and codes."""
    if _LEVELS[level] < _threshold:
        return
    at = format_time(now())
    if writes_text():
        values = " ".join(f"{name}={value}" for name, value in fields.items())
        line = escape_line(f"{at[11:19]} {level} {event} {values}".rstrip())
    else:
        entry = {"at": at, "level": level, "event": event, **fields}
        line = escape_json(json.dumps(entry, ensure_ascii=False, default=str))
    with _lock, suppress(OSError, ValueError):  # the other side may have closed stderr
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
