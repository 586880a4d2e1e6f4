"""vault_coverage: which lines of a file were cited, and which were not."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.opaque import Plain
from tokonoma.files.index_sync import sheet
from tokonoma.modules.vault.paths import NextAction, Path, file_at, stop, then, vault
from tokonoma.modules.vault.ranges import SHOWN, LineRange, Range, checked, left, ratio, shown
from tokonoma.modules.vault.reading_log import (
    MINIMUM_COVERAGE,
    MINIMUM_GAIN,
    Gain,
    cite,
    est_tokens,
    keep,
    note_gain,
    page_of,
)

Cited = Annotated[list[LineRange], Field(max_length=1000, description="lines that your work rests on")]


class Coverage(TypedDict):
    path: str
    version: Plain
    total_lines: int
    covered_ranges: list[LineRange]
    uncovered_ranges: list[LineRange]
    uncovered_ranges_left_out: NotRequired[int]
    coverage_ratio: float
    minimum_coverage: float
    read_ratio: float
    ever_cited_ratio: float
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    next_actions: list[NextAction]


class Lines(TypedDict):
    path: str
    total_lines: int
    read: list[LineRange]
    cited: list[LineRange]
    never_seen: list[LineRange]
    read_ratio: float
    cited_ratio: float


def coverage(desk: Desk, path: Path, cited_ranges: Cited | None = None) -> Coverage:
    """Which lines of a file are covered by cited_ranges (without: by all that you cited before), which are not, and how
    much new evidence the last reading brought. What is cited is remembered for vault_scan."""
    with vault(desk) as folder:
        found = sheet(desk, folder, file_at(desk, folder, path))
    total, page = len(found.lines), page_of(desk, found)
    given = page.cited if cited_ranges is None else checked(cited_ranges, total, "cited_ranges")
    uncovered = left(total, given)
    size = 40 * (len(given) + len(uncovered))  # characters of this exchange, about
    page, gain = cite(page, given, est_tokens(len(path), size))
    with desk.write() as tx:
        keep(tx, desk, found, page)
        note_gain(tx, "coverage", gain)
    told: Coverage = {
        "path": found.path,
        "version": found.version,
        "total_lines": total,
        "covered_ranges": shown(given),
        "uncovered_ranges": shown(uncovered),
        "coverage_ratio": ratio(total, given),
        "minimum_coverage": MINIMUM_COVERAGE,
        "read_ratio": ratio(total, page.read),
        "ever_cited_ratio": ratio(total, page.cited),
        "added_evidence_count": gain.evidence,
        "added_est_tokens": gain.tokens,
        "marginal_gain": gain.marginal,
        "next_actions": _next(found.path, ratio(total, given), uncovered, gain),
    }
    if len(uncovered) > SHOWN:
        told["uncovered_ranges_left_out"] = len(uncovered) - SHOWN
    return told


def lines(desk: Desk, path: str) -> Lines:
    """For the picture on the command line: what its owner has read and cited."""
    with vault(desk) as folder:
        found = sheet(desk, folder, file_at(desk, folder, path))
    page, total = page_of(desk, found), len(found.lines)
    return {
        "path": found.path,
        "total_lines": total,
        "read": _all(page.read),
        "cited": _all(page.cited),
        "never_seen": _all(left(total, [*page.read, *page.cited])),
        "read_ratio": ratio(total, page.read),
        "cited_ratio": ratio(total, page.cited),
    }


def _all(ranges: list[Range]) -> list[LineRange]:
    return [{"start_line": start, "end_line": end} for start, end in ranges]


def _next(path: str, covered: float, uncovered: list[Range], gain: Gain) -> list[NextAction]:
    if covered < MINIMUM_COVERAGE:
        return [then("vault_scan", "fill_gaps", 0.9, path=path)]
    if uncovered and gain.marginal >= MINIMUM_GAIN:
        return [then("vault_scan", "fill_gaps", 0.5, path=path), stop("vault_completed", 0.5)]
    return [stop("vault_completed", 0.9)]
