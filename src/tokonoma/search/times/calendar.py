"""Which days a word of time means: inside a longer time, or seen from today. Pure.

A month without a year is that of any year, a Monday that of any week: such a word has several readings, and `sort`
puts the likeliest first: the last one that has begun, or the next one where the text speaks of what is to come.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple

from tokonoma.search.times.words import DayRange, TimeUnit, TimeWord

_YEARS = 10  # that a month without a year may lie back
_EVERY_YEAR = ("half", "quarter", "season", "feast", "month", "date")
_SEASONS = (3, 6, 9, 12)
_DAY = timedelta(days=1)
_UNIT_DAYS: dict[TimeUnit, int] = {"day": 1, "week": 7, "month": 30, "year": 365}
_PARTS = {"begin": (0, 1), "early": (0, 1), "middle": (1, 2), "late": (2, 3), "end": (2, 3)}
_FEASTS = {  # month and day of the first and of the last day; a last month beyond 12 is in the next year
    "new year": (1, 1, 1, 3), "new year's day": (1, 1, 1, 1), "new year's eve": (12, 31, 12, 31),
    "turn of the year": (12, 28, 13, 4), "year's end": (12, 15, 12, 31), "year's begin": (1, 1, 1, 15),
    "christmas": (12, 24, 12, 26), "christmas day": (12, 25, 12, 25), "christmas eve": (12, 24, 12, 24),
    "boxing day": (12, 26, 12, 26), "halloween": (10, 31, 10, 31), "valentine's day": (2, 14, 2, 14),
    "golden week": (4, 29, 5, 6), "silver week": (9, 19, 9, 23), "obon": (8, 13, 8, 16), "setsubun": (2, 3, 2, 3),
    "tanabata": (7, 7, 7, 7), "hinamatsuri": (3, 3, 3, 3), "summer holidays": (7, 20, 8, 31),
    "winter holidays": (12, 24, 13, 7), "rainy season": (6, 5, 7, 20), "december": (12, 1, 12, 31),
    "spring holidays": (3, 20, 4, 7),
}  # fmt: skip


class Moment(NamedTuple):
    """From where a text is read."""

    today: date
    ahead: bool = False  # it speaks of what is to come


def narrow(word: TimeWord, inside: DayRange | None, moment: Moment) -> list[DayRange]:
    """The readings of a word; those inside of a longer time, if one is given."""
    found: list[DayRange] = []
    for year in _list_years(inside, moment.today) if word.kind in _EVERY_YEAR and not word.relative else [0]:
        with suppress(ValueError, OverflowError):  # there is no 31 June, and no year 0
            found += _NARROWED[word.kind](word, year, inside, moment.today)
    return [*dict.fromkeys(found)]


def sort(readings: Iterable[DayRange], moment: Moment) -> list[DayRange]:
    """The likeliest first."""
    ordered = sorted(readings, reverse=True)
    begun = [each for each in ordered if each.first <= moment.today]
    coming = [each for each in reversed(ordered) if each.first > moment.today]
    if moment.ahead:
        present = [each for each in begun if each.last >= moment.today]
        return [*present, *coming[:1], *(each for each in begun if each not in present), *coming[1:]]
    return [*begun[:1], *coming[:1], *begun[1:], *coming[1:]]


def add_months(day: date, months: int) -> date:
    """The same day of another month, or its last one."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def add_units(day: date, count: int, unit: TimeUnit) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * _UNIT_DAYS[unit])
    return add_months(day, count if unit == "month" else 12 * count)


def build_months(first: date, count: int) -> DayRange:
    return DayRange(first, add_months(first, count) - _DAY)


def build_weeks(day: date, weeks: int) -> DayRange:
    """The week of that day, or one so many away; it begins on Monday."""
    first = day + timedelta(days=7 * weeks - day.weekday())
    return DayRange(first, first + 6 * _DAY)


def _list_years(inside: DayRange | None, today: date) -> range:
    """Those that a month or a feast may be of."""
    if inside is None:
        return range(today.year - _YEARS, today.year + 2)
    return range(inside.first.year, inside.last.year + 1)


def _is_within(days: DayRange, inside: DayRange | None) -> bool:
    return inside is None or inside.first <= days.first <= inside.last


def _choose_relative(readings: list[DayRange], away: int, today: date) -> Iterator[DayRange]:
    """Of a row of months, seasons or feasts: the last one, this one (the nearest), the next one."""
    ordered = sorted(readings)
    if away < 0:
        past = [each for each in ordered if each.last < today]
        yield from past[-1:]
        if past and past[-1].first.year == today.year:
            yield from past[-2:-1]  # in autumn, "last summer" may be that of the year before
    elif away > 0:
        yield from [each for each in ordered if each.first > today][:1]
    else:
        yield from sorted(ordered, key=lambda each: max(each.first - today, today - each.last))[:1]


def _narrow_decade(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    yield build_months(date(word.value, 1, 1), 120)


def _narrow_year(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    yield build_months(date(today.year + word.value if word.relative else word.value, 1, 1), 12)


def _narrow_fiscal(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """From April to March."""
    current = today.year - (today.month < 4)
    yield build_months(date(current + word.value if word.relative else word.value, 4, 1), 12)


def _narrow_part_of_year(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """A half or a quarter of the given year. Without one, `name` says when its year begins."""
    months = 6 if word.kind == "half" else 3
    if word.relative:
        first = date(today.year, (today.month - 1) // months * months + 1, 1)
        yield build_months(add_months(first, months * word.value), months)
        return
    begins = {"fiscal": (4,), "either": (4, 1)}.get(word.name, (1,))
    for start in [inside.first] if inside is not None else [date(year, month, 1) for month in begins]:
        yield build_months(add_months(start, months * (word.value - 1)), months)


def _narrow_season(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    month = _SEASONS[word.value]
    if word.relative:
        every = [build_months(date(each, month, 1), 3) for each in range(today.year - 2, today.year + 2)]
        yield from _choose_relative(every, word.to, today)
    elif inside is None or inside.first <= date(year, month, 1) <= inside.last:
        yield build_months(date(year, month, 1), 3)
        if month == 12 and inside is not None:
            yield build_months(date(year - 1, month, 1), 3)  # the winter in which the year began


def _narrow_feast(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    if word.relative:
        every = [_build_feast(word.name, each) for each in range(today.year - 2, today.year + 2)]
        yield from _choose_relative(every, word.to, today)
    elif _is_within(feast := _build_feast(word.name, year), inside):
        yield feast


def _build_feast(name: str, year: int) -> DayRange:
    if name == "easter":
        sunday = find_easter(year)
        return DayRange(sunday - 2 * _DAY, sunday + _DAY)
    if name == "thanksgiving":
        thursday = next(_list_weekdays(DayRange(date(year, 11, 22), date(year, 11, 28)), 3))
        return DayRange(thursday, thursday)
    month, day, last_month, last_day = _FEASTS[name]
    return DayRange(date(year, month, day), date(year + last_month // 13, (last_month - 1) % 12 + 1, last_day))


def find_easter(year: int) -> date:
    """The anonymous Gregorian algorithm (Meeus)."""
    century, rest = divmod(year, 100)
    skipped = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * (year % 19) + century - century // 4 - skipped + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _narrow_month(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    if word.relative and word.name:  # last May
        every = [build_months(date(each, word.value, 1), 1) for each in range(today.year - 2, today.year + 2)]
        yield from _choose_relative(every, word.to, today)
    elif word.relative:
        yield build_months(add_months(today.replace(day=1), word.value), 1)
    elif _is_within(
        month := build_months(date(year, word.value, 1), (word.to - word.value) % 12 + 1 if word.to else 1), inside
    ):
        yield month


def _narrow_week(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    if word.relative:
        yield build_weeks(today, word.value)
    elif inside is not None and word.value < 0:
        yield DayRange(max(inside.first, inside.last - 6 * _DAY), inside.last)
    elif inside is not None:
        first = inside.first + timedelta(days=7 * (word.value - 1))
        yield DayRange(first, min(first + 6 * _DAY, inside.last))


def _narrow_weekend(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    weeks = [word.value] if word.relative else [0, -1, 1]
    for monday in [inside.first] if inside is not None else [build_weeks(today, each).first for each in weeks]:
        yield DayRange(monday + 5 * _DAY, monday + 6 * _DAY)


def _narrow_to_part(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """Ten days of a month, a third of anything else; the begin and the end of a month or a year are shorter."""
    days = inside if inside is not None else build_months(today.replace(day=1), 1)
    length = (days.last - days.first).days + 1
    least, most = _PARTS[word.name]
    edge = 17 if length > 300 else 7 if 27 < length < 32 else max(length // 3, 3)
    if 27 < length < 32 and word.name != "end":
        yield DayRange(days.first + least * 10 * _DAY, days.last if most == 3 else days.first + (10 * most - 1) * _DAY)
    elif word.name == "end":
        yield DayRange(days.last - (edge - 1) * _DAY, days.last)
    elif word.name == "begin":
        yield DayRange(days.first, days.first + max(edge - 1, 0) * _DAY)
    else:
        yield DayRange(days.first + length * least // 3 * _DAY, days.first + (length * most // 3 - 1) * _DAY)


def _narrow_day(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    if word.relative:
        day = today + word.value * _DAY
        day = day if inside is None else add_months(day, 12 * (inside.first.year - day.year))  # a year ago today
        yield DayRange(day - word.to * _DAY, day + word.to * _DAY)
        return
    months = [add_months(today.replace(day=1), each) for each in (-2, -1, 0, 1)]
    for month in months if inside is None else [inside.first.replace(day=1)]:
        with suppress(ValueError):
            yield DayRange(month.replace(day=word.value), month.replace(day=word.to or word.value))


def _narrow_date(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    yield DayRange(date(year, word.value, word.to), date(year, word.value, word.to))


def _list_weekdays(days: DayRange, weekday: int) -> Iterator[date]:
    first = days.first + timedelta(days=(weekday - days.first.weekday()) % 7)
    while first <= days.last:
        yield first
        first += 7 * _DAY


def _narrow_weekday(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """In a month the first of them, or the `to`th. Else the last one, and those of the weeks beside it."""
    if inside is not None:
        found = [*_list_weekdays(inside, word.value)]
        chosen = found[-1:] if word.to < 0 else found[max(word.to - 1, 0) :][:1]
    elif not word.relative:
        chosen = [each.first + word.value * _DAY for each in (build_weeks(today, week) for week in (-1, 0, 1))]
    else:
        away = (word.value - today.weekday() - 1) % 7 + 1  # to the next one
        past = away - 7 - 7 * (away == 7)
        near = {-2: past - 7, -1: past, 0: word.value - today.weekday(), 1: away, 2: away + 7}[word.to]
        beside = near + 7 * word.to  # "last Friday" on a Saturday, "next Friday" on a Monday
        same_week = -today.weekday() <= near <= 6 - today.weekday()
        chosen = [today + each * _DAY for each in ((near, beside) if same_week else (near,))]
    yield from (DayRange(each, each) for each in chosen)


def _narrow_ago(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """So long ago, or ahead, as exactly as one says it. `name`: all of the time from then to now."""
    far, near = (add_units(today, each, word.unit) for each in (word.value, word.to or word.value))
    if word.name == "all":
        yield DayRange(min(far, today), max(far, today))
        return
    about = {"day": 0, "week": 3, "month": 15, "year": 183}[word.unit] * _DAY
    about = 30 * _DAY if word.unit == "month" and abs(word.value) > 5 else about
    yield DayRange(min(far, near) - about, max(far, near) + about)


def _narrow_hours(word: TimeWord, year: int, inside: DayRange | None, today: date) -> Iterator[DayRange]:
    """Days are exact enough."""
    if inside is not None:
        yield inside


_NARROWED = {
    "decade": _narrow_decade, "year": _narrow_year, "fiscal": _narrow_fiscal, "half": _narrow_part_of_year,
    "quarter": _narrow_part_of_year, "season": _narrow_season, "feast": _narrow_feast, "month": _narrow_month,
    "week": _narrow_week, "weekend": _narrow_weekend, "part": _narrow_to_part, "day": _narrow_day, "date": _narrow_date,
    "weekday": _narrow_weekday, "ago": _narrow_ago, "hours": _narrow_hours,
}  # fmt: skip
