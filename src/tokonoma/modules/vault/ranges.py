"""Ranges of lines: merged, counted, and what they leave over. Pure; lines count from 1, both ends inclusive."""

import json
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.errors import Invalid

Range = tuple[int, int]
MAX_RANGES = 200
"""Ranges in one answer."""


class LineRange(TypedDict):
    start_line: Annotated[int, Field(ge=1)]
    end_line: Annotated[int, Field(ge=1)]


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """In order, those that overlap or touch joined."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def find_gaps(total: int, ranges: Iterable[Range]) -> list[Range]:
    """The lines of a file of `total` lines that none of these holds."""
    found: list[Range] = []
    following = 1
    for start, end in merge_ranges(ranges):
        if start > following:
            found.append((following, min(start - 1, total)))
        following = max(following, end + 1)
    if following <= total:
        found.append((following, total))
    return [each for each in found if each[0] <= each[1]]


def count_lines(ranges: Iterable[Range]) -> int:
    return sum(end - start + 1 for start, end in merge_ranges(ranges))


def line_ratio(total: int, ranges: Iterable[Range]) -> float:
    """How much of the file they hold; of a file without lines, all."""
    return round(count_lines(ranges) / total, 6) if total else 1.0


def to_line_ranges(ranges: Sequence[Range]) -> list[LineRange]:
    return [{"start_line": start, "end_line": end} for start, end in ranges[:MAX_RANGES]]


def require_ranges(given: Sequence[LineRange], total: int, field: str) -> list[Range]:
    """As a caller gave them; Invalid for one that is reversed or ends beyond the file."""
    for number, each in enumerate(given):
        start, end, place = each["start_line"], each["end_line"], f"{field}[{number}]"
        if start > end:
            raise Invalid(f"{place}: start_line {start} lies after end_line {end}.", field=place)
        if end > total:
            raise Invalid(f"{place}: the file has {total} lines, and {end} lies beyond.", field=place, limit=total)
    return merge_ranges((each["start_line"], each["end_line"]) for each in given)


def pack_ranges(ranges: Iterable[Range]) -> str:
    return json.dumps(merge_ranges(ranges), separators=(",", ":"))


def unpack_ranges(text: str) -> list[Range]:
    return [(start, end) for start, end in json.loads(text)]
