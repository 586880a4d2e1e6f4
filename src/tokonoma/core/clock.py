"""Time: whole milliseconds since the epoch, formatted as RFC 3339 in UTC.

The server's time never goes back. When the machine's clock is set back, the server's time goes on at half the speed
until the clock has caught up: what has expired stays expired, and what waits for a time waits at most twice as long. A
new process goes on from the newest time in the journal. A clock that is more than a week behind is believed: more
likely the time before it was wrong.
"""

import time
from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BARE = datetime(1970, 1, 1)

read_nanoseconds = time.time_ns
"""The one source of the time. Tests replace it here, and every part of the server follows."""


MOST_BEHIND = 7 * 86_400_000
"""Milliseconds that the machine's clock may be behind the server's time."""

_last = (0, 0)  # the newest time that was given, in nanoseconds, and the monotonic clock at that moment


def now() -> int:
    """Milliseconds since the epoch."""
    global _last
    wall, (last, tick) = read_nanoseconds(), _last
    at = time.monotonic_ns()
    if last > wall >= last - MOST_BEHIND * 1_000_000:
        wall = last + (at - tick) // 2
    _last = (wall, at)
    return wall // 1_000_000


def continue_from(milliseconds: int) -> None:
    """Give no earlier time than this one, which the store has seen, unless the clock is too far behind it."""
    global _last
    if now() < milliseconds <= read_nanoseconds() // 1_000_000 + MOST_BEHIND:
        _last = (milliseconds * 1_000_000, time.monotonic_ns())


def format_time(milliseconds: int) -> str:
    """2026-07-28T09:30:00.123Z"""
    return (_BARE + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds") + "Z"


def parse_time(text: str) -> int:
    """Parse any RFC 3339 time; a date means midnight in UTC. ValueError for anything else."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def normalize_date(text: str) -> str:
    """A day as 2026-07-28, a time as `format_time` writes it: so texts have the order of time. ValueError for anything
    else."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    try:
        return format_time(parse_time(text))
    except OverflowError:
        raise ValueError(f"{text!r} is out of range") from None


def parse_end(text: str) -> int:
    """The last millisecond that a date means: of a day, its end."""
    day = timedelta(days=1) // timedelta(milliseconds=1)
    return parse_time(text) + (day - 1 if len(text) == len("2026-07-28") else 0)
