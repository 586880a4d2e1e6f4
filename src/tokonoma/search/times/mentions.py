"""Times out of words of time: those that stand together are one time, two with "to" between them a range, and "since"
opens a side."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple, Protocol

from tokonoma.search.times import FIRST_DAY, LAST_DAY
from tokonoma.search.times.calendar import Moment, add_months, add_units, narrow, sort
from tokonoma.search.times.words import ORDER, DayRange, TimeKind, TimeLimits, TimeWord

_DAY = timedelta(days=1)
_AROUND = 2 * _DAY
_LONG: tuple[TimeKind, ...] = ("year", "fiscal", "month", "week")  # that a time elsewhere in the text may lie in

_PART = ORDER.index("part")
_SLIPS: tuple[TimeKind, ...] = ("weekday", "hours", "part")


class ReadTime(NamedTuple):
    """One time of a text: its readings, the likeliest first, and the parts of the text that name it."""

    readings: list[DayRange]
    texts: list[str]


class TimeGrammar(Protocol):
    """How a language joins its words of time."""

    def joins(self, gap: str, /) -> bool: ...

    def is_range(self, text: str, end: int, start: int, after: int, /) -> bool: ...

    def find_limits(self, text: str, start: int, end: int, /) -> TimeLimits: ...


class TimeMention(NamedTuple):
    """Words that are one time."""

    start: int
    end: int
    words: tuple[TimeWord, ...]
    limits: TimeLimits = TimeLimits()

    @property
    def kinds(self) -> set[TimeKind]:
        return {each.kind for each in self.words}

    def is_time(self) -> bool:
        """A word that may be another one needs company: "in May", "May 2025"."""
        clear = any(not each.weak for each in self.words)
        if self.kinds <= {"hours", "part"}:
            return clear
        return clear or len(self.words) > 1 or self.limits.leads or self.limits.after or self.limits.before


def read_mentions(
    text: str, words: Iterable[TimeWord], languages: Sequence[TimeGrammar], moment: Moment
) -> list[ReadTime]:
    """Every time that a text names."""
    found = [_limit(text, each, languages) for each in _group(text, _drop_overlaps(words), languages)]
    found = _share_longer_times(text, found, languages)
    times: list[ReadTime] = []
    taken = -1
    for index, each in enumerate(found):
        if index == taken:
            continue
        other = found[index + 1] if index + 1 < len(found) else None
        if other is not None and (each.is_time() or other.is_time()) and _is_range(text, each, other, languages):
            taken = index + 1
            for one, two in _list_orders(each, other):
                times.append(ReadTime(_resolve_range(one, two, moment), _list_texts(text, each, other)))
        elif each.is_time() or (times and _is_listed(text, found[index - 1], each)):
            for (one,) in _list_orders(each):
                readings = [_open(days, one.limits) for days in resolve(one.words, moment)]
                times.append(ReadTime(readings, _list_texts(text, each)))
    known = (each._replace(readings=[days for days in each.readings if _is_known(days)]) for each in times)
    return [each for each in known if each.readings]


def _is_known(days: DayRange) -> bool:
    return FIRST_DAY <= days.first <= days.last <= LAST_DAY


def _list_orders(*mentions: TimeMention) -> Iterator[Sequence[TimeMention]]:
    """10/8 is the eighth of October and, where both are written, the tenth of August."""
    yield mentions
    swapped = [each._replace(words=tuple(map(_swap_order, each.words))) for each in mentions]
    if any(one.words != other.words for one, other in zip(mentions, swapped, strict=True)):
        yield swapped


def _swap_order(word: TimeWord) -> TimeWord:
    return word._replace(value=word.to, to=word.value) if word.kind == "date" and word.name else word


def _list_texts(text: str, *mentions: TimeMention) -> list[str]:
    return [text[word.start : word.end] for each in mentions for word in each.words]


def resolve(words: Iterable[TimeWord], moment: Moment) -> list[DayRange]:
    """Each word narrows what the longer ones say. There is no 31 June; but a Monday that is none is a slip."""
    ordered = sorted(words, key=lambda each: ORDER.index(each.kind))
    readings: list[DayRange | None] = [None]
    if ordered[0].kind == "ago" and any(each.kind == "day" and each.relative for each in ordered):  # a week ago today
        return _count_from(ordered, moment)
    for index, word in enumerate(ordered):
        if word.kind == "part" and word.weak and readings == [None]:
            continue  # "early on Monday" is an hour
        if word.kind == "ago" and word.unit != "day" and not word.name and len(ordered) > index + 1:
            word = word._replace(kind=word.unit, relative=True)  # 3年前の5月: the calendar's year, not 365 days
        narrowed = [days for each in readings for days in narrow(word, each, moment)]
        if narrowed or word.kind not in _SLIPS:
            readings = [*narrowed]
    known = [each for each in readings if each is not None and _is_known(each)]
    return sort(dict.fromkeys(known), moment) if len(known) > 1 else known


def _count_from(words: Sequence[TimeWord], moment: Moment) -> list[DayRange]:
    day = next(each for each in words if each.kind == "day")
    with suppress(ValueError, OverflowError):
        found = add_units(moment.today + day.value * _DAY, words[0].value, words[0].unit)
        return [DayRange(found - day.to * _DAY, found + day.to * _DAY)]
    return []


def _drop_overlaps(words: Iterable[TimeWord]) -> list[TimeWord]:
    """Of words at one place, the one that begins first, and of these the longest. One match may be several words."""
    kept: list[TimeWord] = []
    for word in sorted(words, key=lambda each: (each.start, -each.end)):
        if not kept or word.start >= kept[-1].end or (word.start, word.end) == (kept[-1].start, kept[-1].end):
            kept.append(word)
    return kept


def _group(text: str, words: Sequence[TimeWord], languages: Sequence[TimeGrammar]) -> list[TimeMention]:
    groups: list[list[TimeWord]] = []
    for word in words:
        last = groups[-1] if groups else []
        same_place = bool(last) and word.start == last[-1].start
        gap = text[last[-1].end : word.start] if last else ""
        new = all(word.kind != each.kind for each in last)
        if last and new and (same_place or any(each.joins(gap) for each in languages)):
            last.append(word)
        else:
            groups.append([word])
    return [TimeMention(each[0].start, max(word.end for word in each), tuple(each)) for each in groups]


def _limit(text: str, mention: TimeMention, languages: Sequence[TimeGrammar]) -> TimeMention:
    limits = [each.find_limits(text, mention.start, mention.end) for each in languages]
    return mention._replace(limits=TimeLimits(*(any(each) for each in zip(*limits, strict=True))))


def _is_listed(text: str, one: TimeMention, other: TimeMention) -> bool:
    """In March and May."""
    return text[one.end : other.start] in (" and ", " or ", ", ", " & ")


def _is_range(text: str, one: TimeMention, other: TimeMention, languages: Sequence[TimeGrammar]) -> bool:
    return any(each.is_range(text, one.end, other.start, other.end) for each in languages)


def _share_longer_times(
    text: str, found: Sequence[TimeMention], languages: Sequence[TimeGrammar]
) -> Sequence[TimeMention]:
    """ "Last year, what did I plant in May?" names one time."""
    if len(found) != 2 or _is_range(text, found[0], found[1], languages):
        return found
    for long, short in ((found[0], found[1]), (found[1], found[0])):
        free = long.limits._replace(leads=False) == TimeLimits() and long.is_time() and short.is_time()
        if free and len(long.words) == 1 and long.words[0].kind in _LONG and _may_lie_in(short, long.words[0]):
            return [short._replace(words=(*long.words, *short.words))]
    return found


def _may_lie_in(short: TimeMention, long: TimeWord) -> bool:
    finer = all(ORDER.index(each.kind) > ORDER.index(long.kind) for each in short.words)
    return finer and not any(each.relative or each.kind == "ago" for each in short.words)


def _resolve_range(one: TimeMention, other: TimeMention, moment: Moment) -> list[DayRange]:
    """From the first day of one to the last day of the other. What one leaves out, the other may say: May 3 to 5,
    from Monday to Thursday last week."""
    begins = _complete(one, other)
    ends = _complete(other, one)
    readings: list[DayRange] = []
    firsts = resolve(begins, moment)
    for last in resolve(ends, moment):
        before = [each for each in firsts if each.first <= last.last]
        if before:
            readings.append(DayRange(max(before).first, last.last))
        elif firsts:  # December 2025 to February
            readings.append(_cross_year(firsts[0], last, given="year" in one.kinds))
    return readings


def _cross_year(first: DayRange, last: DayRange, *, given: bool) -> DayRange:
    """The range ends in the next year, or begins in the one before."""
    if given:
        return DayRange(first.first, add_months(last.last + _DAY, 12) - _DAY)
    return DayRange(add_months(first.first, -12), last.last)


def _complete(mention: TimeMention, other: TimeMention) -> list[TimeWord]:
    """Its words, with those of the other that say more than its longest one."""
    longest = min(_PART, *(ORDER.index(each.kind) for each in mention.words))
    if any(each.relative or each.kind == "ago" for each in mention.words):
        return [*mention.words]
    return [*(each for each in other.words if ORDER.index(each.kind) < longest), *mention.words]


def _open(days: DayRange, limits: TimeLimits) -> DayRange:
    first, last = days
    if limits.around and first == last:
        first, last = first - _AROUND, last + _AROUND
    if limits.after:
        return DayRange(last + _DAY if limits.excluded else first, LAST_DAY)
    if limits.before:
        return DayRange(FIRST_DAY, first - _DAY if limits.excluded else last)
    return DayRange(first, last)
