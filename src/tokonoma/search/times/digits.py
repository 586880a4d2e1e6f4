"""Dates in digits, as both languages write them: 2025-10-08, 2025/10, 10/8, 8.10.2025."""

import re
from collections.abc import Iterator

from tokonoma.search.times.words import TimeWord

_ISO = re.compile(r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?![\d/]|[.-]\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_MONTH_FIRST = re.compile(r"(?<![\d./])(1[0-2]|0?[1-9])/((?:19|20)\d\d)(?![\d/])")
_SLASHED = re.compile(r"(?<![\d./])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\d/])(?: ?([a-zぁ-んァ-ヶ一-龠]+))?")
# What is counted in parts, or follows a part.
_COUNTED = (
    "cup", "inch", "mile", "tsp", "tbsp", "tea", "table", "pound", "lb", "oz", "hour", "full", "of", "pint",
    "scale", "size", "time", "note", "acre", "gallon", "liter", "litre", "yard", "point", "ton", "kg",
    "カップ", "インチ", "量", "拍", "サイズ", "スケール", "の量", "の確率", "の割合", "ほど", "程度", "くらい",
    "ぐらい", "個", "本", "玉", "点", "丁", "杯", "合", "以下", "に切", "に減", "にな",
)  # fmt: skip


def find_digits(text: str, *, japanese: bool) -> Iterator[TimeWord]:
    for match in _ISO.finditer(text):
        if match[2] != "." or match[4]:  # 2025.1 is a version
            yield from build_date(match, match[1], match[3], match[4])
    for match in _DAY_FIRST.finditer(text):
        yield from build_date(match, match[3], match[2], match[1])
    for match in _MONTH_FIRST.finditer(text):
        yield from build_date(match, match[2], match[1], None)
    for match in _SLASHED.finditer(text):
        one, other, year, follows = match.groups()
        counted = follows is not None and follows.startswith(_COUNTED)
        if counted or (one, other) == ("24", "7") or text[: match.start()].endswith(("さじ", "カップ")):
            continue
        # A half is written as often as the second of January.
        weak = not year and not japanese and int(other) in (2, 3, 4, 5, 8, 10, 16) and int(one) < int(other)
        start, end = match.start(), match.end(3 if year else 2)
        if year:
            yield TimeWord(start, end, "year", int(year) + (2000 if len(year) == 2 else 0))
        order = "" if japanese else "any order"
        yield TimeWord(start, end, "date", int(one), to=int(other), weak=weak, name=order)


def build_date(match: re.Match[str], year: str | None, month: str, day: str | None) -> Iterator[TimeWord]:
    """The words of one date."""
    start, end = match.span()
    if year:
        yield TimeWord(start, end, "year", int(year))
    yield TimeWord(start, end, "month", int(month))
    if day:
        yield TimeWord(start, end, "day", int(day))
