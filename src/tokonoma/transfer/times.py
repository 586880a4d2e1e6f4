"""Times as other programs write them. Pure."""

from datetime import datetime
from typing import Any

from tokonoma.core.clock import parse_time


def parse_foreign_time(value: Any, *, local: bool = False) -> int | None:
    """Milliseconds from seconds since the epoch or from a text such as 2026-07-28T09:30:00+09:00; None: it is neither.

    A text without a zone is UTC, or (`local`) this machine's own time.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        # Seconds, or the milliseconds of a JavaScript program: the year 5138 in seconds.
        seconds = value if abs(value) < 1e11 else value / 1000
        return round(seconds * 1000) if abs(seconds) < 1e12 else None
    if not isinstance(value, str):
        return None
    try:
        if local:
            said = datetime.fromisoformat(value.strip())
            value = (said if said.tzinfo else said.astimezone()).isoformat()
        return parse_time(value.strip())
    except (ValueError, OverflowError, OSError):
        return None
