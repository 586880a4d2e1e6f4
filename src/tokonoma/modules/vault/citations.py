"""How an element of an artifact cites lines of its sources. Pure functions.

`source_lines: 10-20, 33` (or `出典行: …`) in its text, also inside an HTML or Mermaid comment, and `[L10-L20]`. With
several sources a citation names its own: `source_lines: setup.md:10-20`. `10-20@3f9ac1` also says which version was
cited: the first letters of its hash. In JSON: "10-20", 10, [10, 20], ["10-20", 33], [[10, 20], [33, 33]] or
{"path": "setup.md", "start_line": 10, "end_line": 20, "version": "3f9ac1"}.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from tokonoma.files.links import remove_comments

SOURCE_KEYS = ("source_lines", "sourceLines", "source_line", "出典行")
_LABEL = re.compile(r"(?:source[_ -]?lines?|出典行|出典)\s*+[:=：]\s*+\[?\s*+", re.IGNORECASE)
_RANGE = r"L?(\d++)(?:\s*+(?:[-–~〜]|\.\.)\s*+L?(\d++))?+(?:@([0-9a-fA-F]{6,64}+))?+"
_ITEM = re.compile(rf"(?:([^\s,、:：@()（）\[\]<>|\"]{{1,300}}+)[:：])?+{_RANGE}")
_COMMA = re.compile(r"\s*+[,、]\s*+")
_BRACKETED = re.compile(
    r"[\[(（【]\s*+(L\d++(?:\s*+[-–]\s*+L?\d++)?(?:\s*+,\s*+L\d++(?:\s*+[-–]\s*+L?\d++)?)*)\s*+[\])）】]"
)
_EMPTY = re.compile(r"[(（\[]\s*+[)）\]]")
_DIGITS = 12  # more are beyond the end of any file


class Citation(NamedTuple):
    """Lines of a source, by its name; empty: the only or first one. A `version` starts the hash of what was cited."""

    start: int
    end: int
    source: str = ""
    version: str = ""


def find_citations(text: str) -> tuple[Citation, ...]:
    return tuple(citation for _, _, found in _iter_citations(text) for citation in found)


def strip_citations(text: str) -> str:
    """A text without its comments and citations."""
    visible = remove_comments(text)
    parts: list[str] = []
    at = 0
    for start, end, _ in sorted(_iter_citations(visible)):
        if start >= at:
            parts.append(visible[at:start])
            at = end
    return _EMPTY.sub("", "".join([*parts, visible[at:]])).strip()


def parse_citations(text: str) -> tuple[Citation, ...]:
    """A list of ranges, without a label before it."""
    return tuple(_read_items(text, 0)[0])


def _iter_citations(text: str) -> Iterator[tuple[int, int, list[Citation]]]:
    for label in _LABEL.finditer(text):
        found, end = _read_items(text, label.end())
        if found:
            yield label.start(), end, found
    for bracketed in _BRACKETED.finditer(text):
        yield bracketed.start(), bracketed.end(), _read_items(bracketed[1], 0)[0]


def _read_items(text: str, at: int) -> tuple[list[Citation], int]:
    found: list[Citation] = []
    item = _ITEM.match(text, at)
    while item is not None:
        start, end = _to_line(item[2]), _to_line(item[3] or item[2])
        found.append(Citation(start, end, item[1] or "", (item[4] or "").lower()))
        at = item.end()
        comma = _COMMA.match(text, at)
        item = _ITEM.match(text, comma.end()) if comma else None
    return found, at


def _to_line(digits: str) -> int:
    return int(digits.lstrip("0")[:_DIGITS] or "0")


def read_citations(value: dict[str, Any]) -> tuple[Citation, ...]:
    """The citations of a JSON object."""
    return tuple(_parse_value(next((value[key] for key in SOURCE_KEYS if key in value), None)))


def _parse_value(cited: Any) -> list[Citation]:
    if isinstance(cited, int):
        return [] if isinstance(cited, bool) else [Citation(cited, cited)]
    if isinstance(cited, str):
        return list(parse_citations(cited.strip()))
    if isinstance(cited, dict):
        one = cast("dict[str, Any]", cited)
        start, end = one.get("start_line", one.get("start")), one.get("end_line", one.get("end"))
        if not isinstance(start, int) or isinstance(start, bool):
            return []
        end = end if isinstance(end, int) and not isinstance(end, bool) else start
        return [Citation(start, end, _to_text(one.get("path")), _to_text(one.get("version")).lower())]
    if isinstance(cited, list):
        many = cast("list[Any]", cited)
        if len(many) == 2 and all(isinstance(each, int) and not isinstance(each, bool) for each in many):
            return [Citation(many[0], many[1])]
        return [found for each in many for found in _parse_value(each)]
    return []


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
