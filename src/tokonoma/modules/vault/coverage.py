"""vault_coverage: which lines of a file were cited, and which were not."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.files.index_sync import read_text_file
from tokonoma.modules.vault.paths import VaultNextAction, VaultPath, next_action, open_vault, resolve_file, stop_action
from tokonoma.modules.vault.ranges import (
    MAX_RANGES,
    LineRange,
    Range,
    find_gaps,
    line_ratio,
    require_ranges,
    to_line_ranges,
)
from tokonoma.modules.vault.reading_log import (
    MINIMUM_COVERAGE,
    MINIMUM_GAIN,
    ReadingGain,
    estimate_tokens,
    load_log,
    log_citation,
    save_gain,
    save_log,
)

CitedRanges = Annotated[list[LineRange], Field(max_length=1000, description="lines that your work rests on")]


class CoverageResult(TypedDict):
    path: str
    version: Opaque
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
    next_actions: list[VaultNextAction]


class LineCoverage(TypedDict):
    path: str
    total_lines: int
    read: list[LineRange]
    cited: list[LineRange]
    never_seen: list[LineRange]
    read_ratio: float
    cited_ratio: float


def check_coverage(desk: Desk, path: VaultPath, cited_ranges: CitedRanges | None = None) -> CoverageResult:
    """Which lines of a file are covered by cited_ranges (without: by all that you cited before), which are not, and how
    much new evidence the last reading brought. What is cited is remembered for vault_scan."""
    with open_vault(desk) as folder:
        found = read_text_file(desk, folder, resolve_file(desk, folder, path))
    total, page = len(found.lines), load_log(desk, found)
    given = page.cited if cited_ranges is None else require_ranges(cited_ranges, total, "cited_ranges")
    uncovered = find_gaps(total, given)
    size = 40 * (len(given) + len(uncovered))  # characters of this exchange, about
    page, gain = log_citation(page, given, estimate_tokens(len(path), size))
    with desk.write() as tx:
        save_log(tx, desk, found, page)
        save_gain(tx, "coverage", gain)
    told: CoverageResult = {
        "path": found.path,
        "version": found.version,
        "total_lines": total,
        "covered_ranges": to_line_ranges(given),
        "uncovered_ranges": to_line_ranges(uncovered),
        "coverage_ratio": line_ratio(total, given),
        "minimum_coverage": MINIMUM_COVERAGE,
        "read_ratio": line_ratio(total, page.read),
        "ever_cited_ratio": line_ratio(total, page.cited),
        "added_evidence_count": gain.evidence,
        "added_est_tokens": gain.tokens,
        "marginal_gain": gain.marginal,
        "next_actions": _next_actions(found.path, line_ratio(total, given), uncovered, gain),
    }
    if len(uncovered) > MAX_RANGES:
        told["uncovered_ranges_left_out"] = len(uncovered) - MAX_RANGES
    return told


def list_lines(desk: Desk, path: str) -> LineCoverage:
    """For the picture on the command line: what its owner has read and cited."""
    with open_vault(desk) as folder:
        found = read_text_file(desk, folder, resolve_file(desk, folder, path))
    page, total = load_log(desk, found), len(found.lines)
    return {
        "path": found.path,
        "total_lines": total,
        "read": _all_ranges(page.read),
        "cited": _all_ranges(page.cited),
        "never_seen": _all_ranges(find_gaps(total, [*page.read, *page.cited])),
        "read_ratio": line_ratio(total, page.read),
        "cited_ratio": line_ratio(total, page.cited),
    }


def _all_ranges(ranges: list[Range]) -> list[LineRange]:
    return [{"start_line": start, "end_line": end} for start, end in ranges]


def _next_actions(path: str, covered: float, uncovered: list[Range], gain: ReadingGain) -> list[VaultNextAction]:
    if covered < MINIMUM_COVERAGE:
        return [next_action("vault_scan", "fill_gaps", 0.9, path=path)]
    if uncovered and gain.marginal >= MINIMUM_GAIN:
        return [next_action("vault_scan", "fill_gaps", 0.5, path=path), stop_action("vault_completed", 0.5)]
    return [stop_action("vault_completed", 0.9)]
