"""Words of time in English: the day before yesterday, Friday last week, early May, Q3 2025, the last 30 days.

Many of these words are names and things as well (May I, Sunday roast, spring rolls): such a word counts only beside
another word of time, or after one that leads to a time ("in May", "on Sunday").
"""

import re
from collections.abc import Iterator

from tokonoma.search.times import english_words as known
from tokonoma.search.times.words import TimeKind, TimeLimits, TimeWord, join_words

_TH = r"(?:st|nd|rd|th)?"
_TO_NTH = rf"(?:(?: ?[-–—] ?| (?:to|until|through|and) (?:the )?)(\d{{1,2}}){_TH})?"
_MONTH = re.compile(
    rf"(?:\b(\d{{1,2}}){_TH}{_TO_NTH}(?: of)?[ -])?\b(?:(last|this|next) )?"
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    rf"|nov(?:ember)?|dec(?:ember)?)\b\.?(?: (?:the )?(\d{{1,2}}){_TH}\b(?![:.]\d){_TO_NTH}(?![\d/]))?"
    r"(?:(?:,? |-)(\d{4})\b|,? '(\d\d)\b)?"
)
_DAY = re.compile(rf"\b(?:the )?({join_words(known.DAYS)})\b")
_SAME_DAY = re.compile(r"\b(?:(this time)|(?:on )?(?:this|the same) day)(?= (?:last|next) (?:year|month))")
_YEAR = re.compile(
    r"(?<![\d./-])\b((?:19|20)\d\d)\b(?![./-]?\d)|(?<= ')(\d\d)\b|\b(?:fy|fiscal(?: year)?) ?'?((?:20)?\d\d)\b"
)
_DECADE = re.compile(r"\b((?:19|20)?\d0)'?s\b")
_RELATIVE = re.compile(
    r"\b(last|previous|this past|this last|this|current|the|next|coming|this coming|the coming) "
    r"(fiscal year|year|quarter|half|month|weekend|week)\b(?! (?:of|before last|after next|\d))"
    r"|\b(year|quarter|month|weekend|week) (before last|after next)\b"
)
_SEASON = re.compile(rf"\b(?:(last|previous|this past|this|next|coming) )?({join_words(known.SEASONS)})\b")
_WEEKDAY = re.compile(
    rf"\b(?:({join_words(known.ORDINALS)}|this past|this coming|coming|this|next|every|each) )?"
    r"(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(day)?\b('s)?( before last| after next)?(?!\.\w)"
)
_HOURS = re.compile(r"\b(?:morning|afternoon|evening|night|noon|lunchtime)\b")
_FEAST = re.compile(rf"\b(?:(last|this|next) )?({join_words(known.FEASTS)})\b")
_PART = re.compile(rf"\b(?:the )?({join_words(known.PARTS)})\b-?")
_QUARTER = re.compile(
    r"\bq([1-4])\b|\b(?:the )?(first|1st|second|2nd|third|3rd|fourth|4th|last(?= quarter of)) quarter\b|\bh([12])\b"
)
_WEEK_OF = re.compile(rf"\b(?:the )?({join_words(known.ORDINALS)}) week (?:of|in)\b")
_NTH_DAY = re.compile(
    r"(?<=the )(\d{1,2})(?:st|nd|rd|th)\b"
    r"(?=$|[?.,!;:]| (?:at|did|with|we|i|about|was|to|until|for|and|of (?:the|last|this|next) month)\b)"
)
_UNIT = r"(day|week|month|year|fortnight|night)s?"
_COUNT = rf"(\d{{1,3}}|{join_words(known.COUNTS)})"
_AGO = re.compile(
    rf"\b(?:{_COUNT}(?:(?: or |-| to ){_COUNT})?|(half a)) {_UNIT} (?:ago|back|earlier|(from now|from today))\b"
    r"|\b(?:\d{1,3}|an?|two|three|few) (?:hour|minute)s? ago\b"
)
_LAST = re.compile(
    rf"\b(?:the )?(last|past|previous|next|coming) {_COUNT} {_UNIT}\b|\b(?:the last|past) (week|month|year)\b"
    rf"|\bin {_COUNT} {_UNIT}\b|\b({join_words(known.RECENT)})\b"
)
_COMING = re.compile(
    r"\b(?:will|shall|going to|upcoming|due|deadlines?|planned|plans?|scheduled?|coming up|(?:are|am|is) (?:we|i|there)"
    r"|when (?:is|are|do|does)|do (?:i|we)|need to|have to|must)\b"
)
_PAST = re.compile(r"\b(?:did|was|were|had|went)\b")
_ASKED = re.compile(r"\b(?:what|who|where|when|which|how|did|was|were|happened)\b")
_ENDS = re.compile(r" ?(?:$|[?.!,;])")
_JOINED = re.compile(r"(?:'s)?,?(?: (?:of|in|on|at|the|of the|in the|from))? ?[(']?")


def fold(text: str) -> str:
    return text


def is_ahead(text: str) -> bool:
    """Whether it speaks of what is to come."""
    return _COMING.search(text) is not None and _PAST.search(text) is None


def find_words(text: str) -> Iterator[TimeWord]:
    for find in (_find_months, _find_seasons, _find_years, _find_relative, _find_days, _find_weekdays, _find_counted):
        yield from find(text)


def _find_months(text: str) -> Iterator[TimeWord]:
    for match in _MONTH.finditer(text):
        before, to, away, name, after, to_after, year, short = match.groups()
        month, day = known.MONTHS.index(name[:3]) + 1, before or after
        if away and not day and not year:
            yield TimeWord(*match.span(), "month", month, True, to=known.AWAY[away], name=name)
            continue
        yield TimeWord(*match.span(), "month", month, weak=not day and not year and _is_weak_month(text, match, name))
        if day:
            yield TimeWord(*match.span(), "day", int(day), to=int(to or to_after or 0))
        if year or short:
            yield TimeWord(*match.span(), "year", int(year or f"20{short}"))


def _is_weak_month(text: str, match: re.Match[str], name: str) -> bool:
    follows = text[match.end() :].removeprefix("'s").lstrip()
    if name in known.NAMES:
        return _get_word_before(text, match.start()) in known.BEFORE_NAME or follows.startswith(known.AFTER_NAME)
    return name in known.WEAK_MONTHS and not follows.startswith(known.MONTHLY)


def _get_word_before(text: str, start: int) -> str:
    return next(iter(text[max(0, start - 20) : start].split()[-1:]), "")


def _find_seasons(text: str) -> Iterator[TimeWord]:
    for match in _SEASON.finditer(text):
        away, name = match.groups()
        value = known.SEASONS[name]
        yield TimeWord(*match.span(), "season", value, bool(away), weak=not away, to=known.AWAY.get(away, 0))
    for match in _FEAST.finditer(text):
        away, name = match.groups()
        feast = known.FEASTS[name]
        yield TimeWord(*match.span(), "feast", 0, bool(away), weak=not away, to=known.AWAY.get(away, 0), name=feast)


def _find_years(text: str) -> Iterator[TimeWord]:
    for match in _YEAR.finditer(text):
        year, short, fiscal = match.groups()
        if fiscal:
            yield TimeWord(*match.span(), "fiscal", int(fiscal) % 2000 + 2000)
        else:
            yield TimeWord(*match.span(), "year", int(year or f"20{short}"), weak=True)
    for match in _DECADE.finditer(text):
        decade = int(match[1])
        yield TimeWord(*match.span(), "decade", decade + (0 if decade > 99 else 1900 if decade > 20 else 2000))
    for match in _QUARTER.finditer(text):
        quarter, named, half = match.groups()
        kind: TimeKind = "half" if half else "quarter"
        value = int(half or quarter or known.ORDINALS[named]) % 5  # the last one is the fourth
        yield TimeWord(*match.span(), kind, value, weak=bool(half))


def _find_relative(text: str) -> Iterator[TimeWord]:
    for match in _RELATIVE.finditer(text):
        away, unit, other, way = match.groups()
        kind: TimeKind = "fiscal" if unit == "fiscal year" else unit or other  # type: ignore[assignment]
        free = away == "the" and unit == "weekend"  # the last one, or the next one
        yield TimeWord(*match.span(), kind, known.AWAY[away or way], relative=not free, weak=away == "the")
    for match in _PART.finditer(text):
        name = known.PARTS[match[1]]
        if name.endswith("half"):
            yield TimeWord(*match.span(), "half", 1 if name == "half" else 2, weak=True)
        else:
            yield TimeWord(*match.span(), "part", 0, weak=True, name=name)
    for match in _WEEK_OF.finditer(text):
        yield TimeWord(*match.span(), "week", known.ORDINALS[match[1]], weak=True)


def _find_days(text: str) -> Iterator[TimeWord]:
    for match in _DAY.finditer(text):
        yield TimeWord(*match.span(), "day", known.DAYS[match[1]], relative=True)
    for match in _SAME_DAY.finditer(text):
        yield TimeWord(*match.span(), "day", 0, relative=True, to=15 if match[1] else 0)
    for match in _HOURS.finditer(text):
        yield TimeWord(*match.span(), "hours", 0, weak=True)
    for match in _NTH_DAY.finditer(text):
        yield TimeWord(*match.span(), "day", int(match[1]), weak=True)


def _find_weekdays(text: str) -> Iterator[TimeWord]:
    for match in _WEEKDAY.finditer(text):
        said, name, full, owns, way = match.groups()
        if said in ("every", "each") or (not full and name in known.SHORT_DAYS):
            continue
        value = known.WEEKDAYS.index(name[:3])
        if way:
            yield TimeWord(*match.span(), "weekday", value, relative=True, to=known.AWAY[way.strip()])
        elif said in known.AWAY:
            yield TimeWord(*match.span(), "weekday", value, relative=True, to=known.AWAY[said])
        else:
            asked = _ENDS.match(text, match.end()) and _ASKED.search(text)
            yield TimeWord(*match.span(), "weekday", value, weak=not owns and not asked, to=known.ORDINALS.get(said, 0))


def _find_counted(text: str) -> Iterator[TimeWord]:
    for match in _AGO.finditer(text):
        count, more, half, unit, ahead = match.groups()
        sign = 1 if ahead else -1
        if unit is None:
            yield TimeWord(*match.span(), "day", 0, relative=True)  # two hours ago
        elif half:
            months = unit == "year"
            yield TimeWord(*match.span(), "ago", sign * (6 if months else 15), unit="month" if months else "day")
        else:
            (few, _), (_, many) = _count(count), _count(more or count)
            yield _build_counted(match, sign * few, sign * many, unit)
    for match in _LAST.finditer(text):
        said, count, unit, whole, in_count, in_unit, recent = match.groups()
        if recent:
            yield TimeWord(*match.span(), "ago", -known.RECENT[recent], name="all")
        elif whole:
            yield _build_counted(match, -1, -1, whole)._replace(name="all")
        elif said:
            number = _count(count)[1] * (1 if said in ("next", "coming") else -1)
            yield _build_counted(match, number, number, unit)._replace(name="all")
        elif is_ahead(text):  # else it is how long something took
            yield _build_counted(match, *_count(in_count), in_unit)


def _count(said: str) -> tuple[int, int]:
    return (int(said), int(said)) if said.isdecimal() else known.COUNTS[said]


def _build_counted(match: re.Match[str], few: int, many: int, unit: str) -> TimeWord:
    factor = 2 if unit == "fortnight" else 1
    return TimeWord(*match.span(), "ago", few * factor, to=many * factor, unit=known.UNITS.get(unit, "year"))


def joins(gap: str) -> bool:
    """Whether two words with this between them are one time: Friday of last week, end of May."""
    return _JOINED.fullmatch(gap) is not None


def is_range(text: str, end: int, start: int, after: int) -> bool:
    """Whether two times are the ends of one. They lie before `end`, and from `start` to `after`."""
    gap = text[end:start].strip().removesuffix("the").strip()
    return gap in known.TO or (gap == "and" and "between " in text[max(0, end - 60) : end])


def find_limits(text: str, start: int, end: int) -> TimeLimits:
    said = [each for each in text[max(0, start - 40) : start].replace("-", " ").split() if each not in ("the", "a")]
    words = said[:-1] if said[-1:] == ["about"] else said
    last, pair = "".join(words[-1:]), " ".join(words[-2:])
    onward = text.startswith((" onward", " on,", " on.", " on?", " or later", " and later", " and after"), end)
    earlier = text.startswith((" or earlier", " and earlier", " or before", " and before"), end)
    return TimeLimits(
        after=last in known.AFTER or pair in known.AFTER or onward or (last == "from" and text[end:] == " on"),
        before=last in known.BEFORE or pair in known.BEFORE or earlier,
        excluded=last in known.EXCLUDED or pair in known.EXCLUDED,
        around=last == "around" or pair == "some time",
        leads=last in known.LEADING,
    )
