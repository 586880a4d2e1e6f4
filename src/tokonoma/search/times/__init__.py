"""The times that a text names, in Japanese and English.

    What did we decide on 25 May 2022?    先週の会議    in June    2021年の夏    since Monday    5月以降

Days are those of the machine's time zone: that is what its owner means by "yesterday". docs/adr/0060-reading-times.md.
"""

import re
import unicodedata
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from tokonoma.core.clock import parse_time

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2199, 12, 31)  # of which people have notes; an open side reaches so far
OPEN_BEGIN, OPEN_END = parse_time(FIRST_DAY.isoformat()), parse_time("2200-01-01")
_MOST = 16  # readings of one time
_READ = 500  # letters of a query; a long pasted text asks for no time
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Without one of these there is no time, and nothing else is loaded.
_HINT = re.compile(
    r"[\d０-９年月日週曜春夏秋冬朝昨暮夜晩末旬盆期祭旦夕]|あす|あさ|あした|おと|きのう|きょう|きょねん|けさ|ことし|ゆうべ|らいねん"
    r"|さっき|先ほど|さきほど|梅雨|師走|最近|この|こないだ|ウィーク|ウイーク|クリスマス|ハロウィン|バレンタイン|イブ"
    r"|大みそか|三が日|節分"
    r"|\b(?i:to(?:day|night|morrow)|yesterday|last|previous|past|this|current|next|coming|ago|back|earlier|from now"
    r"|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter"
    r"|fiscal|quarter|early|mid|late|begin|start|end|christmas|xmas|boxing|new year|easter|halloween|thanksgiving"
    r"|valentine|golden|obon|gw|before|after|week|month|year|night|in|recently|these|the other|just now|turn|first"
    r"|second|third|fourth)"
)


class DateSpan(NamedTuple):
    """Milliseconds; the end is excluded. An open side lies at OPEN_BEGIN or OPEN_END."""

    begin: int
    end: int
    rank: int = 0  # 0: the likeliest reading; a month without a year may be that of other years, too


class NamedTimes(NamedTuple):
    """What a text says of time, and the text without the words that say it."""

    spans: list[DateSpan]
    rest: str
    alone: bool = False  # the rest says nothing: "what is planned for next week?"


def find_spans(text: str, now: int) -> list[DateSpan]:
    """The times that a text names: the likeliest reading of each, then the others."""
    return read_times(text, now).spans


def read_times(text: str, now: int) -> NamedTimes:
    if _HINT.search(text, 0, _READ) is None:
        return NamedTimes([], text)
    # Imported late: to compile their patterns takes longer than many a search, and most queries name no time.
    from tokonoma.search.times.reader import is_empty, read_days

    start = unicodedata.normalize("NFKC", text[:_READ]).lower()
    times = read_days(start, _to_local_day(now))
    ranked = [(rank, each.readings[rank]) for rank in range(_MOST) for each in times if rank < len(each.readings)]
    spans: dict[tuple[int, int], DateSpan] = {}
    for rank, (first, last) in ranked:
        begin = OPEN_BEGIN if first == FIRST_DAY else to_milliseconds(first)
        end = OPEN_END if last == LAST_DAY else to_milliseconds(last + timedelta(days=1))
        spans.setdefault((begin, end), DateSpan(begin, end, rank))
    rest = start
    for words in sorted({word for each in times for word in each.texts}, key=len, reverse=True):
        rest = rest.replace(words, " ")
    rest += text[_READ:]
    if not spans:
        return NamedTimes([], text)
    # Without any other word, those of the time are searched for.
    has_words = any(each.isalnum() for each in rest)
    return NamedTimes([*spans.values()], rest if has_words else text, is_empty(rest))


def to_milliseconds(day: date) -> int:
    """When it begins here."""
    local = datetime(day.year, day.month, day.day)
    with suppress(ValueError, OverflowError, OSError):
        return int(local.timestamp() * 1000)
    return (local.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def _to_local_day(now: int) -> date:
    moment = _EPOCH + timedelta(milliseconds=now)
    with suppress(ValueError, OverflowError, OSError):
        moment = moment.astimezone()
    return moment.date()
