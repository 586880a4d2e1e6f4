"""Ranges of lines, counted from 1, both ends inclusive. Pure functions."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.errors import Invalid

Range = tuple[int, int]
"""The first and last line, counted from 1."""

MAX_RANGES = 200
"""Ranges in one result."""


class LineRange(TypedDict):
    start_line: Annotated[int, Field(ge=1)]
    end_line: Annotated[int, Field(ge=1)]


CitedRanges = Annotated[list[LineRange], Field(max_length=1000, description="lines that your work is based on")]


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Sort ranges and join those that overlap or touch."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def find_gaps(total: int, ranges: Iterable[Range]) -> list[Range]:
    """The lines of a file of `total` lines that are in none of the ranges."""
    gaps: list[Range] = []
    following = 1
    for start, end in merge_ranges(ranges):
        if start > following:
            gaps.append((following, min(start - 1, total)))
        following = max(following, end + 1)
    if following <= total:
        gaps.append((following, total))
    return [gap for gap in gaps if gap[0] <= gap[1]]


def intersect_ranges(one: Iterable[Range], other: Iterable[Range]) -> list[Range]:
    """The lines that are in both."""
    left, right = merge_ranges(one), merge_ranges(other)
    common: list[Range] = []
    at = place = 0
    while at < len(left) and place < len(right):
        start, end = max(left[at][0], right[place][0]), min(left[at][1], right[place][1])
        if start <= end:
            common.append((start, end))
        if left[at][1] < right[place][1]:
            at += 1
        else:
            place += 1
    return common


def subtract_ranges(ranges: Iterable[Range], removed: Iterable[Range]) -> list[Range]:
    """The lines of the first that are not in the second."""
    kept = merge_ranges(ranges)
    return intersect_ranges(kept, find_gaps(kept[-1][1], removed)) if kept else []


def count_lines(ranges: Iterable[Range]) -> int:
    return sum(end - start + 1 for start, end in merge_ranges(ranges))


def line_ratio(total: int, ranges: Iterable[Range]) -> float:
    """The share of the file's lines that the ranges cover; 1.0 for an empty file."""
    return round(count_lines(ranges) / total, 6) if total else 1.0


def to_line_ranges(ranges: Sequence[Range]) -> list[LineRange]:
    return [{"start_line": start, "end_line": end} for start, end in ranges]


def require_ranges(given: Sequence[LineRange], total: int, field: str) -> list[Range]:
    """Merge the ranges of a caller; Invalid for one that is reversed or ends beyond the file."""
    for index, each in enumerate(given):
        start, end, place = each["start_line"], each["end_line"], f"{field}[{index}]"
        if start > end:
            raise Invalid(f"{place}: start_line {start} is after end_line {end}.", field=place)
        if end > total:
            raise Invalid(f"{place}: line {end} does not exist; the file has {total} lines.", field=place, limit=total)
    return merge_ranges((each["start_line"], each["end_line"]) for each in given)
