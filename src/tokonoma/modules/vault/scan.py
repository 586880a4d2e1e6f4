"""vault_scan: a file line by line, those first that were not covered yet."""

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.files.index_sync import TextFile, read_text_file
from tokonoma.modules.vault.paths import VaultNextAction, VaultPath, next_action, open_vault, resolve_file, stop_action
from tokonoma.modules.vault.ranges import LineRange, Range, find_gaps, line_ratio
from tokonoma.modules.vault.read import MAX_CHARS, take_lines
from tokonoma.modules.vault.reading_log import (
    MINIMUM_COVERAGE,
    MINIMUM_GAIN,
    ReadingGain,
    ReadingLog,
    estimate_tokens,
    load_log,
    log_reading,
    save_gain,
    save_log,
)

ScanRound = Literal["all", "unread", "uncited"]


class ScanResult(TypedDict):
    path: str
    version: Opaque
    total_lines: int
    round: Annotated[ScanRound, Field(description="which lines this walk is about")]
    applied_range: LineRange | None
    text: str
    next_cursor: Opaque | None
    eof: bool
    truncated_reason: Literal["max_chars", "long_line"] | None
    coverage_ratio: Annotated[float, Field(description="of the lines, those that were ever read")]
    cited_ratio: NotRequired[float]
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    next_actions: list[VaultNextAction]


@dataclass(frozen=True, slots=True)
class ScanStep:
    """One step of a walk: its text and lines, those of them read to their end, and the line and character to go on"""

    text: str
    lines: Range | None
    read: list[Range]
    next_position: tuple[int, int] | None
    truncated: Literal["max_chars", "long_line"] | None = None

    @property
    def line_range(self) -> LineRange | None:
        return {"start_line": self.lines[0], "end_line": self.lines[1]} if self.lines else None


def scan(
    desk: Desk,
    path: VaultPath,
    cursor: Annotated[str | None, Field(description="next_cursor of the step before")] = None,
    chunk_lines: Annotated[int, Field(ge=1, le=200)] = 80,
) -> ScanResult:
    """Walk through a file in steps of chunk_lines. The first walk begins at line 1; a later one goes to the lines that
    nothing has cited yet, or, if nothing was cited, to those not read yet; when all are, through all again."""
    with open_vault(desk) as folder:
        found = read_text_file(desk, folder, resolve_file(desk, folder, path))
    page, total = load_log(desk, found), len(found.lines)
    about, start, column = _resume(found, page, cursor)
    wanted = [each for each in _target_ranges(about, page, total) if each[1] >= start]
    step = _build_step(found, wanted, start, column, chunk_lines)
    tokens = estimate_tokens(len(path), len(step.text))
    page, new = log_reading(page, step.read, tokens)
    gain = ReadingGain(new, tokens)
    told: ScanResult = {
        "path": found.path,
        "version": found.version,
        "total_lines": total,
        "round": about,
        "applied_range": step.line_range,
        "text": step.text,
        "next_cursor": cursors.encode("vault_scan", found.path, found.version, about, *step.next_position)
        if step.next_position
        else None,
        "eof": step.next_position is None,
        "truncated_reason": step.truncated,
        "coverage_ratio": line_ratio(total, page.read),
        "added_evidence_count": gain.evidence,
        "added_est_tokens": gain.tokens,
        "marginal_gain": gain.marginal,
        "next_actions": [],
    }
    if page.cited:
        told["cited_ratio"] = line_ratio(total, page.cited)
    told["next_actions"] = _next_actions(told)
    with desk.write() as tx:
        save_log(tx, desk, found, page)
        save_gain(tx, "scan", gain)
    return told


def _resume(found: TextFile, page: ReadingLog, cursor: str | None) -> tuple[ScanRound, int, int]:
    """Which lines the walk is about, and the line and character to go on at."""
    if cursor is None:
        return _choose_round(page, len(found.lines)), 1, 0
    path, version, about, start, column = cursors.decode("vault_scan", cursor)
    if path != found.path:
        raise Invalid(f"This cursor belongs to {path}. Leave it out to begin with {found.path}.", field="cursor")
    if version != found.version:
        raise Conflict(
            f"{found.path} has changed since this walk began. Leave the cursor out to begin anew.",
            current_version=found.version,
        )
    return about, start, column


def _choose_round(page: ReadingLog, total: int) -> ScanRound:
    if page.cited and find_gaps(total, page.cited):
        return "uncited"
    if page.read and page.unread_ranges(total):
        return "unread"
    return "all"


def _target_ranges(about: ScanRound, page: ReadingLog, total: int) -> list[Range]:
    if about == "all":
        return [(1, total)] if total else []
    return find_gaps(total, page.cited) if about == "uncited" else page.unread_ranges(total)


def _build_step(found: TextFile, wanted: list[Range], start: int, column: int, chunk: int) -> ScanStep:
    if not wanted:
        return ScanStep("", None, [], None)
    first = max(start, wanted[0][0])
    last = min(wanted[0][1], first + chunk - 1)
    began = column if first == start else 0
    rest = found.lines[first - 1][began:]
    if len(rest) > MAX_CHARS:
        return ScanStep(rest[:MAX_CHARS], (first, first), [], (first, began + MAX_CHARS), "long_line")
    text, end = (rest, first) if began else take_lines(found, first, last, MAX_CHARS)
    over = end == wanted[0][1] and len(wanted) == 1
    truncated = "max_chars" if end < last and not began else None
    return ScanStep(text, (first, end), [(first, end)], None if over else (end + 1, 0), truncated)


def _next_actions(told: ScanResult) -> list[VaultNextAction]:
    """On while there are lines and they bring something; then the check of what was cited, or the end."""
    path, over = told["path"], told["eof"]
    covered = told["coverage_ratio"] >= MINIMUM_COVERAGE
    if not over and not (covered and told["marginal_gain"] < MINIMUM_GAIN):
        return [next_action("vault_scan", "fill_gaps", 0.9, path=path, cursor=told["next_cursor"])]
    if not over:
        return [
            stop_action("vault_completed", 0.6),
            next_action("vault_scan", "fill_gaps", 0.3, path=path, cursor=told["next_cursor"]),
        ]
    if told.get("cited_ratio", 0.0) >= MINIMUM_COVERAGE:
        return [stop_action("vault_completed", 0.9)]
    return [next_action("vault_coverage", "verify_coverage", 0.8, path=path)]
