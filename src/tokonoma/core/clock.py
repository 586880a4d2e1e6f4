"""Time as the house writes it: whole milliseconds since the epoch, shown as RFC 3339 in UTC."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BARE = datetime(1970, 1, 1)

read_nanoseconds = time.time_ns
"""The one source of the time. Tests replace it here, and every part of the server follows."""


def now() -> int:
    """Milliseconds since the epoch."""
    return read_nanoseconds() // 1_000_000


def format_time(milliseconds: int) -> str:
    """2026-07-28T09:30:00.123Z"""
    return (_BARE + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds") + "Z"


def parse_time(text: str) -> int:
    """The inverse of `shown`; takes any RFC 3339 time, and a date as its midnight in UTC. Else ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
