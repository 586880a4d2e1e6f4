"""The words of time that a reader finds in a text, and the days that they may mean."""

from collections.abc import Iterable
from datetime import date
from typing import Literal, NamedTuple

TimeKind = Literal[
    "decade", "year", "fiscal", "half", "quarter", "season", "feast", "month", "week", "weekend", "part", "day",
    "date", "weekday", "ago", "hours",
]  # fmt: skip
# Each narrows what the ones before it say, in whatever order they are written: "Friday last week", 先週の金曜.
ORDER: tuple[TimeKind, ...] = (
    "decade", "ago", "year", "fiscal", "half", "quarter", "season", "feast", "month", "week", "weekend", "part", "day",
    "date", "weekday", "hours",
)  # fmt: skip

TimeUnit = Literal["day", "week", "month", "year"]
DayPart = Literal["begin", "early", "middle", "late", "end"]


class TimeWord(NamedTuple):
    """`value` is a number of that kind (the month 5), or with `relative` how many of them away (the month before)."""

    start: int
    end: int
    kind: TimeKind
    value: int
    relative: bool = False
    weak: bool = False  # a time only beside another word of time, or after a word that leads to one: may, 3/4
    to: int = 0  # the last one of several days or units: May 3–5, two or three weeks ago
    unit: TimeUnit = "day"  # of `ago`
    name: str = ""  # of a feast, or of a part; what is special about others of its kind


class DayRange(NamedTuple):
    """From the first to the last day, both of them included."""

    first: date
    last: date


class TimeLimits(NamedTuple):
    """What stands around a time: "since" it, "before" it, "around" it."""

    after: bool = False  # what follows is meant,
    before: bool = False  # or what came earlier,
    excluded: bool = False  # without the time itself
    around: bool = False
    leads: bool = False  # a word that mostly stands before a time: "in", "on"


def join_words(words: Iterable[str]) -> str:
    """For a pattern, the longest first."""
    return "|".join(sorted(words, key=len, reverse=True))
