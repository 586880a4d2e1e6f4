"""Times in a query: 2026, 2026-01, 2026-01-31, today, 7d, ranges a..b with either end open, and > >= < <=. Pure.

Days are UTC's, and whole. `7d` is a moment: seven days ago for created and updated, in seven days for start and end.
By itself it means everything between that moment and now. h, d, w, m and y are hours, days, weeks, months, years.
"""

import calendar
import re
from datetime import UTC, datetime

from tokonoma.modules.items.model import DAY

PAST_FIELDS, FUTURE_FIELDS = ("created", "updated"), ("start", "end")
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_DISTANCE = re.compile(r"(\d{1,4})([hdwmy])")
_UNITS = {"h": DAY // 24, "d": DAY, "w": 7 * DAY, "m": 30 * DAY, "y": 365 * DAY}
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}

Span = tuple[float, float]
OpenSpan = tuple[float | None, float | None]


class QueryTimeError(ValueError):
    """The message says what is wrong with a time."""


def parse_times(field: str, text: str, now: int) -> OpenSpan:
    """The first and the last millisecond that a field of a query asks for; None: any."""
    for sign in (">=", "<=", ">", "<"):
        if text.startswith(sign):
            low, high = _parse_period(field, text[len(sign) :], now)
            return {">=": (low, None), "<=": (None, high), ">": (high + 1, None), "<": (None, low - 1)}[sign]
    if ".." not in text:
        low, high = _parse_period(field, text, now)
        is_moment = _DISTANCE.fullmatch(text) is not None
        return (min(low, float(now)), max(high, float(now))) if is_moment else (low, high)
    first, _, last = text.partition("..")
    low = _parse_period(field, first, now)[0] if first not in ("", "*") else None
    high = _parse_period(field, last, now)[1] if last not in ("", "*") else None
    if low is None and high is None:
        raise QueryTimeError("a range needs at least one end")
    if low is not None and high is not None and high < low:
        raise QueryTimeError("the range ends before it starts")
    return low, high


def _parse_period(field: str, text: str, now: int) -> Span:
    """A day, a month, a year; or a moment, twice."""
    if found := _DISTANCE.fullmatch(text):
        distance = int(found[1]) * _UNITS[found[2]]
        moment = float(now + distance if field in FUTURE_FIELDS else now - distance)
        return moment, moment
    if text in _DAYS:
        midnight = float(now - now % DAY + _DAYS[text] * DAY)
        return midnight, midnight + DAY - 1
    found = _PERIOD.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part or 0) for part in found.groups())
        first = datetime(year, month or 1, day or 1, tzinfo=UTC)
        last_day = day or calendar.monthrange(year, month or 12)[1]
        last = datetime(year, month or 12, last_day, 23, 59, 59, tzinfo=UTC)
    except ValueError:
        raise QueryTimeError(f"{text[:30]!r} is not a date; write 2026, 2026-01, 2026-01-31, today or 7d") from None
    return first.timestamp() * 1000, last.timestamp() * 1000 + 999
