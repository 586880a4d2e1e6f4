"""`source_lines`: how an artifact says which lines of its source an element rests on. Pure.

In text `source_lines: 10-20, 33` (or `出典行: …`), also inside an HTML comment or a Mermaid one, and `[L10-L20]`. In
JSON "10-20", 10, [10, 20], ["10-20", 33], [[10, 20], [33, 33]] or {"start_line": 10, "end_line": 20}.
"""

import re
from typing import Any, cast

from tokonoma.modules.vault.ranges import Range, merge_ranges

_LIST = r"L?\d+(?:\s*(?:[-–~〜]|\.\.)\s*L?\d+)?(?:\s*[,、]\s*L?\d+(?:\s*(?:[-–~〜]|\.\.)\s*L?\d+)?)*"
_LABELLED = re.compile(rf"(?:source[_ -]?lines?|出典行|出典)\s*[:=：]\s*\[?\s*({_LIST})", re.IGNORECASE)
_BRACKETED = re.compile(r"[\[(（【]\s*(L\d+(?:\s*[-–]\s*L?\d+)?(?:\s*,\s*L\d+(?:\s*[-–]\s*L?\d+)?)*)\s*[\])）】]")
_RANGE = re.compile(r"L?(\d+)(?:\s*(?:[-–~〜]|\.\.)\s*L?(\d+))?")
SOURCE_KEYS = ("source_lines", "sourceLines", "source_line", "出典行")


def find_source_lines(text: str) -> tuple[Range, ...]:
    found: list[Range] = []
    for pattern in (_LABELLED, _BRACKETED):
        for said in pattern.findall(text):
            found += _parse_ranges(said)
    return tuple(merge_ranges(found)) if all(start <= end for start, end in found) else tuple(found)


def strip_source_lines(text: str) -> str:
    """A title, without what it says of its source."""
    text = re.sub(r"<!--.*?-->", "", text)
    return re.sub(r"[(（\[]\s*[)）\]]", "", _BRACKETED.sub("", _LABELLED.sub("", text))).strip()


def read_source_lines(value: Any) -> tuple[Range, ...]:
    """Of an object that holds one of KEYS."""
    told: Any = next((value[key] for key in SOURCE_KEYS if key in value), None)
    return tuple(_parse_value(told))


def _parse_value(told: Any) -> list[Range]:
    if isinstance(told, bool) or told is None:
        return []
    if isinstance(told, int):
        return [(told, told)]
    if isinstance(told, str):
        return _parse_ranges(told)
    if isinstance(told, dict):
        one = cast("dict[str, Any]", told)
        start, end = one.get("start_line", one.get("start")), one.get("end_line", one.get("end"))
        return [(start, end if isinstance(end, int) else start)] if isinstance(start, int) else []
    if isinstance(told, list):
        many = cast("list[Any]", told)
        if len(many) == 2 and all(isinstance(each, int) and not isinstance(each, bool) for each in many):
            return [(many[0], many[1])]
        return [found for each in many for found in _parse_value(each)]
    return []


def _parse_ranges(said: str) -> list[Range]:
    return [(int(start[:9]), int((end or start)[:9])) for start, end in _RANGE.findall(said)]
