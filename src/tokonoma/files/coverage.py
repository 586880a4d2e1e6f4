"""Coverage of a file: which of its lines a caller has read and cited, as ranges. For the vault and for manuals."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.ids import Opaque
from tokonoma.files.ledger import ReadingLog, Recorded
from tokonoma.files.ranges import (
    MAX_RANGES,
    LineRange,
    Range,
    find_gaps,
    intersect_ranges,
    line_ratio,
    subtract_ranges,
    to_line_ranges,
)
from tokonoma.files.text_file import TextFile

MINIMUM_COVERAGE = 0.90
MINIMUM_GAIN = 0.02


class LineStates(TypedDict):
    """Every line of a file is read or not, and cited or not."""

    read_ranges: list[LineRange]
    cited_ranges: list[LineRange]
    cited_unread_ranges: Annotated[list[LineRange], Field(description="cited, but never read in this version")]
    never_seen_ranges: list[LineRange]
    changed_ranges: NotRequired[Annotated[list[LineRange], Field(description="read before an edit changed them")]]


class CoverageFields(LineStates):
    path: str
    version: Opaque
    total_lines: int
    covered_ranges: Annotated[list[LineRange], Field(description="read and cited")]
    uncovered_ranges: list[LineRange]
    uncovered_ranges_left_out: NotRequired[int]
    coverage_ratio: Annotated[float, Field(description="share of the lines that were read and cited")]
    minimum_coverage: float
    read_ratio: float
    ever_cited_ratio: float
    recorded: NotRequired[Recorded]


def describe_lines(total: int, log: ReadingLog, cited: list[Range], most: int = MAX_RANGES) -> LineStates:
    unread = subtract_ranges(cited, log.read)
    states: LineStates = {
        "read_ranges": to_line_ranges(log.read[:most]),
        "cited_ranges": to_line_ranges(cited[:most]),
        "cited_unread_ranges": to_line_ranges(unread[:most]),
        "never_seen_ranges": to_line_ranges(find_gaps(total, [*log.read, *cited])[:most]),
    }
    if log.changed:
        states["changed_ranges"] = to_line_ranges(log.changed[:most])
    return states


class LineCoverage(TypedDict):
    """For pictures: all ranges, however many."""

    path: str
    total_lines: int
    read: list[LineRange]
    cited: list[LineRange]
    cited_unread: list[LineRange]
    never_seen: list[LineRange]
    changed: list[LineRange]
    read_ratio: float
    cited_ratio: float


class Readers(TypedDict):
    callers: list[str]


def cover_lines(file: TextFile, log: ReadingLog) -> LineCoverage:
    total = len(file.lines)
    states = describe_lines(total, log, log.cited, total)
    return {
        "path": file.path,
        "total_lines": total,
        "read": states["read_ranges"],
        "cited": to_line_ranges(log.covered),
        "cited_unread": states["cited_unread_ranges"],
        "never_seen": states["never_seen_ranges"],
        "changed": states.get("changed_ranges", []),
        "read_ratio": line_ratio(total, log.read),
        "cited_ratio": line_ratio(total, log.covered),
    }


def measure_coverage(file: TextFile, log: ReadingLog, cited: list[Range]) -> CoverageFields:
    """How much of a file is covered by these citations: only lines that were read count."""
    total = len(file.lines)
    covered = intersect_ranges(cited, log.read)
    uncovered = find_gaps(total, covered)
    fields: CoverageFields = {
        "path": file.path,
        "version": file.version,
        "total_lines": total,
        "covered_ranges": to_line_ranges(covered[:MAX_RANGES]),
        "uncovered_ranges": to_line_ranges(uncovered[:MAX_RANGES]),
        "coverage_ratio": line_ratio(total, covered),
        "minimum_coverage": MINIMUM_COVERAGE,
        "read_ratio": line_ratio(total, log.read),
        "ever_cited_ratio": line_ratio(total, log.cited),
        **describe_lines(total, log, cited),
    }
    if len(uncovered) > MAX_RANGES:
        fields["uncovered_ranges_left_out"] = len(uncovered) - MAX_RANGES
    return fields
