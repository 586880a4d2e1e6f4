"""The time that a query names, in Japanese and English, and how well a record's own time fits it.

    What did we decide on 25 May 2022?    先週の会議    in June    2021年の夏    three days ago

A month or a day without a year is that of any year. Records of that time are proposed, and the score of others falls,
but never to nothing: a query asks for more than its time, and people speak of things before and after they happen.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import NamedTuple

from tokonoma.core.clock import parse_time
from tokonoma.search.candidates import CandidatePool, SearchCandidate
from tokonoma.search.tuning import TUNING

_DAY = 86_400_000
_ZONE = 12 * 3_600_000  # the day of one time zone begins on that of another
_READ = 500  # letters of a query; a long pasted text asks for no time
_YEARS = 10  # that a month without a year may lie back
_SHORT = 32 * _DAY
_MILLISECONDS = 10**11  # as seconds this would be the year 5138
_FIRST, _LAST = parse_time("1900-01-01"), parse_time("2200-01-01")  # of which people have notes
_LIKELY = parse_time("1980-01-01")  # a smaller number is more likely a duration, or a day of a month

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MAYBE = {"mar", "may", "march", "dec", "sep", "jan"}  # mostly none, unless told more exactly
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_KANJI = "一二三四五六七八九十"
_COUNTS = {"a": 1} | {word: number for words in (_NUMBERS, _KANJI) for number, word in enumerate(words, 1)}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365, "日": 1, "週間": 7, "か月": 30, "年": 365}

_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH = (
    r"\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b"
)
_ISO = re.compile(r"(?<!\d)(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)")
_NAMED = re.compile(rf"(?:\b{_NTH}(?: of)? )?{_MONTH}\.?(?: {_NTH}\b)?(?:,? (\d{{4}})\b)?")
_LEADING = re.compile(r"\b(?:in|on|of|since|until|till|by|during|from|last|next|early|late|mid|this|before|after)[ -]$")
_JAPANESE = re.compile(r"(?:(\d{4})年)?の?(?<!\d)(1[0-2]|0?[1-9])月(?:(\d{1,2})日)?")
_SEASON = re.compile(r"\b(spring|summer|autumn|fall|winter)(?: of|,)? (\d{4})\b|(\d{4})年の?(春|夏|秋|冬)")
_YEAR = re.compile(r"\b(?:in|of|during|since|from|by|throughout|early|late|mid)[ -](\d{4})\b|(?<!\d)(\d{4})年")
_AGO = re.compile(
    rf"\b(\d{{1,3}}|a|{'|'.join(_NUMBERS)}) (day|week|month|year)s? ago\b|(\d{{1,3}}|[{_KANJI}])(日|週間|か月|年)前"
)
_DAYS = (  # back, as one says it
    re.compile(r"\b(?:today|this morning|tonight)\b|今日|本日|今朝|今夜"),
    re.compile(r"(?<!before )\byesterday\b|\blast night\b|(?<!一)昨日|昨夜|昨晩"),
    re.compile(r"\bday before yesterday\b|一昨日|おととい"),
)
_THIS = re.compile(r"\b(this|last) (week|month|year)\b|(今|先|去|昨)(週|月|年)")


class DateSpan(NamedTuple):
    """Milliseconds; the end is excluded."""

    begin: int
    end: int


class DateBoost:
    """Proposes and prefers the documents of the times that a query names."""

    def __init__(self, pool: CandidatePool, spans: Sequence[DateSpan]) -> None:
        self._pool, self._spans = pool, spans

    def propose(self) -> list[int]:
        """Documents of the most recent times that are so short that all of their documents can be scored."""
        short = [span for span in self._spans if span.end - span.begin <= _SHORT + 2 * _ZONE][: TUNING.dated_spans]
        return [number for span in short for number in self._pool.find_between(*span, TUNING.dated_documents)]

    def compute_factors(self, candidates: Mapping[int, SearchCandidate], chosen: Collection[int]) -> dict[int, float]:
        """What is left of each score, by the document's dates or, if it has none, by the time when it was saved."""
        times: dict[int, list[int]] = {number: [] for number in chosen}
        for number, text, value in self._pool.fetch_dates(chosen):
            at = parse_moment(text, value)
            if at is not None:
                times[number].append(at)
        return {
            number: compute_factor(max(compute_fit(at, self._spans) for at in dated or [candidates[number].at]))
            for number, dated in times.items()
        }


def find_spans(text: str, now: int) -> list[DateSpan]:
    """The times that a text names, the most recent first; those of a month without a year for the years past."""
    folded = re.sub("[ヶケカヵ]月", "か月", unicodedata.normalize("NFKC", text[:_READ]).lower())
    today = datetime.fromtimestamp(now / 1000, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    readers = (_read_digits, _read_named, _read_seasons, _read_ago, _read_relative)
    found = [*chain.from_iterable(read(folded, today) for read in readers)] or [*_read_years(folded, today)]
    return sorted({span for span in found if span.begin >= _FIRST and span.end <= _LAST}, reverse=True)


def compute_fit(at: int, spans: Sequence[DateSpan]) -> float:
    """1 inside one of them, and less and less beside it."""
    before, after = TUNING.days_before * _DAY, TUNING.days_after * _DAY
    away = min(max((span.begin - at) / before, (at - span.end) / after, 0.0) for span in spans)
    return math.exp(-away)


def compute_factor(fit: float) -> float:
    """What is left of a score."""
    return 1.0 - TUNING.date_part * (1.0 - fit) / (1.0 + TUNING.date_part)


def parse_moment(text: str | None, number: float | None) -> int | None:
    """From a date in ISO 8601, or from seconds or milliseconds since 1970; None if it is no likely time."""
    if number is not None:
        at = number if number > _MILLISECONDS else number * 1000
        return int(at) if text is None and _LIKELY <= at <= _LAST else None
    with suppress(ValueError, OverflowError):
        return parse_time(text or "")
    return None


def _read_digits(text: str, today: datetime) -> Iterator[DateSpan]:
    for year, month, day in _ISO.findall(text) + _JAPANESE.findall(text):
        yield from _list_years(year, int(month), int(day or 0), today)


def _read_named(text: str, today: datetime) -> Iterator[DateSpan]:
    for match in _NAMED.finditer(text):
        before, name, after, year = match.groups()
        day = before or after
        if name in _MAYBE and not day and not year and not _LEADING.search(text, 0, match.start()):
            continue
        yield from _list_years(year, _MONTHS.index(name[:3]) + 1, int(day or 0), today)


def _read_seasons(text: str, today: datetime) -> Iterator[DateSpan]:
    for name, year, other, japanese in _SEASON.findall(text):
        with suppress(ValueError):
            begin = datetime(int(year or other), _SEASONS[name or japanese], 1, tzinfo=UTC)
            yield _build_span(begin, _add_months(begin, 3))


def _read_ago(text: str, today: datetime) -> Iterator[DateSpan]:
    for count, unit, digits, japanese in _AGO.findall(text):
        said = digits or count
        number = int(said) if said.isdecimal() else _COUNTS[said]
        days = _UNITS[unit or japanese]
        with suppress(OverflowError):
            middle, wide = today - timedelta(days=number * days), timedelta(days=days // 2)
            yield _build_span(middle - wide, middle + wide + timedelta(days=1))


def _read_relative(text: str, today: datetime) -> Iterator[DateSpan]:
    for back, pattern in enumerate(_DAYS):
        if pattern.search(text):
            begin = today - timedelta(days=back)
            yield _build_span(begin, begin + timedelta(days=1))
    for match in _THIS.finditer(text):
        last, unit = (match[1] == "last", match[2]) if match[1] else (match[3] != "今", match[4])
        if unit in ("week", "週"):
            begin = today - timedelta(days=today.weekday() + 7 * last)
            yield _build_span(begin, begin + timedelta(days=7))
        elif unit in ("month", "月"):
            begin = _add_months(today.replace(day=1), -1 if last else 0)
            yield _build_span(begin, _add_months(begin, 1))
        else:
            yield from _build_calendar_span(today.year - last, 0, 0)


def _read_years(text: str, today: datetime) -> Iterator[DateSpan]:
    for english, japanese in _YEAR.findall(text):
        yield from _build_calendar_span(int(english or japanese), 0, 0)


def _list_years(year: str, month: int, day: int, today: datetime) -> Iterator[DateSpan]:
    years = [int(year)] if year else range(today.year - _YEARS, today.year + 2)
    return chain.from_iterable(_build_calendar_span(each, month, day) for each in years)


def _build_calendar_span(year: int, month: int, day: int) -> Iterator[DateSpan]:
    """A day, a month or a year; nothing, if there is none such."""
    with suppress(ValueError, OverflowError):
        begin = datetime(year, month or 1, day or 1, tzinfo=UTC)
        yield _build_span(begin, begin + timedelta(days=1) if day else _add_months(begin, 1 if month else 12))


def _add_months(begin: datetime, months: int) -> datetime:
    years, month = divmod(begin.month - 1 + months, 12)
    return begin.replace(year=begin.year + years, month=month + 1)


def _build_span(begin: datetime, end: datetime) -> DateSpan:
    first, last = (int(each.timestamp() * 1000) for each in (begin, end))
    return DateSpan(first - _ZONE, last + _ZONE)
