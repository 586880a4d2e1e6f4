"""vault_scan and vault_coverage: step through a file, and see which of its lines were read and cited."""

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.files.coverage import (
    MINIMUM_COVERAGE,
    MINIMUM_GAIN,
    CoverageFields,
    LineCoverage,
    Readers,
    cover_lines,
    measure_coverage,
)
from tokonoma.files.ledger import (
    ReadingGain,
    ReadingLog,
    Recorded,
    count_new_lines,
    estimate_tokens,
    list_readers,
    load_log,
    load_log_of,
    measure_gain,
    split_shown,
)
from tokonoma.files.ranges import (
    CitedRanges,
    LineRange,
    Range,
    find_gaps,
    line_ratio,
    merge_ranges,
    require_ranges,
    to_line_ranges,
)
from tokonoma.files.text import MODULE, take_lines
from tokonoma.files.text_file import TextFile
from tokonoma.modules.vault import model

_VERSION = 16  # letters of a version in a cursor

ScanRound = Literal["all", "unread", "uncited"]
TruncatedReason = Literal["max_chars", "long_line"]


class ScanResult(TypedDict):
    path: str
    version: Opaque
    total_lines: int
    round: Annotated[ScanRound, Field(description="which lines this pass covers")]
    applied_range: LineRange | None
    text: str
    next_cursor: Opaque | None
    eof: bool
    truncated_reason: TruncatedReason | None
    coverage_ratio: Annotated[float, Field(description="share of the lines that were ever read")]
    cited_ratio: NotRequired[float]
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    next_actions: list[model.VaultNextAction]
    recorded: NotRequired[Recorded]


class CoverageResult(CoverageFields):
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    next_actions: list[model.VaultNextAction]


@dataclass(frozen=True, slots=True)
class ScanStep:
    """One step of a scan: its text and lines, and the line and character to go on at."""

    text: str
    lines: Range | None
    next_position: tuple[int, int] | None
    truncated: TruncatedReason | None = None
    offset: int = 0  # of the text in its first line


def scan(
    desk: Desk,
    path: model.VaultPath,
    cursor: Annotated[str | None, Field(description="next_cursor of the previous step")] = None,
    chunk_lines: Annotated[int, Field(ge=1, le=200)] = 80,
) -> ScanResult:
    """Read a file in steps of chunk_lines. The first pass starts at line 1; a later one covers the lines not cited yet
    or, if nothing was cited, the lines not read yet; after that, all lines again."""
    file = model.read_vault_file(desk, path)
    before, total = load_log(desk, MODULE, file), len(file.lines)
    round, start, column = _resume(desk, file, before, cursor)
    covered: dict[ScanRound, list[Range]] = {"all": [], "unread": before.read, "uncited": before.covered}
    targets = [each for each in find_gaps(total, covered[round]) if each[1] >= start]
    step = _build_step(file, targets, start, column, chunk_lines)
    tokens = estimate_tokens(len(path), len(step.text))
    whole, pieces = split_shown(file, *step.lines, step.text, step.offset) if step.lines else ([], [])
    log = before.add_reading(whole, pieces, file, tokens)
    gain = model.save_reading(desk, "scan", file, log, count_new_lines(before.read, log.read), tokens)
    after, place = step.next_position, (file.path, file.version[:_VERSION], round)
    result: ScanResult = {
        "path": file.path,
        "version": file.version,
        "total_lines": total,
        "round": round,
        "applied_range": to_line_ranges([step.lines])[0] if step.lines else None,
        "text": step.text,
        "next_cursor": desk.seal_cursor("vault_scan", *place, *after) if after else None,
        "eof": after is None,
        "truncated_reason": step.truncated,
        "coverage_ratio": line_ratio(total, log.read),
        **gain,
        "next_actions": [],
    }
    if log.cited:
        result["cited_ratio"] = line_ratio(total, log.covered)
    result["next_actions"] = _next_actions(result)
    return result


def _resume(desk: Desk, file: TextFile, log: ReadingLog, cursor: str | None) -> tuple[ScanRound, int, int]:
    """Which lines the scan is about, and the line and character to go on at."""
    if cursor is None:
        if log.cited and find_gaps(len(file.lines), log.covered):
            return "uncited", 1, 0
        return "unread" if log.read and find_gaps(len(file.lines), log.read) else "all", 1, 0
    path, version, round, start, column = desk.open_cursor("vault_scan", cursor)
    if path != file.path:
        raise Invalid(f"This cursor belongs to {path}. Leave it out to start with {file.path}.", field="cursor")
    if version != file.version[:_VERSION]:
        raise Conflict(
            f"{file.path} has changed since this pass started. Leave the cursor out to start again.",
            current_version=file.version,
        )
    return round, start, column


def _build_step(file: TextFile, targets: list[Range], start: int, column: int, chunk: int) -> ScanStep:
    if not targets:
        return ScanStep("", None, None)
    first = max(start, targets[0][0])
    last = min(targets[0][1], first + chunk - 1)
    offset = column if first == start else 0
    rest = file.lines[first - 1][offset:]
    if len(rest) > model.MAX_CHARS:
        return ScanStep(rest[: model.MAX_CHARS], (first, first), (first, offset + model.MAX_CHARS), "long_line", offset)
    text, end = (rest, first) if offset else take_lines(file.lines, first, last, model.MAX_CHARS)
    is_over = end == targets[0][1] and len(targets) == 1
    truncated = "max_chars" if end < last and not offset else None
    return ScanStep(text, (first, end), None if is_over else (end + 1, 0), truncated, offset)


def _next_actions(result: ScanResult) -> list[model.VaultNextAction]:
    """Go on while lines are left and bring something; then check what was cited, or stop."""
    path, cursor = result["path"], result["next_cursor"]
    if not result["eof"]:
        if result["coverage_ratio"] >= MINIMUM_COVERAGE and result["marginal_gain"] < MINIMUM_GAIN:
            go_on = model.next_action("vault_scan", "fill_gaps", 0.3, path=path, cursor=cursor)
            return [model.stop_action("vault_completed", 0.6), go_on]
        return [model.next_action("vault_scan", "fill_gaps", 0.9, path=path, cursor=cursor)]
    if result.get("cited_ratio", 0.0) >= MINIMUM_COVERAGE:
        return [model.stop_action("vault_completed", 0.9)]
    return [model.next_action("vault_coverage", "verify_coverage", 0.8, path=path)]


def check_coverage(desk: Desk, path: model.VaultPath, cited_ranges: CitedRanges | None = None) -> CoverageResult:
    """Show which lines of a file you have read and cited (cited_ranges; default: all that you cited before), which
    not, and how much new evidence the last reading added. Lines that you cite without having read them do not count."""
    file = model.read_vault_file(desk, path)
    log = load_log(desk, MODULE, file)
    given = log.cited if cited_ranges is None else require_ranges(cited_ranges, len(file.lines), "cited_ranges")
    size = 40 * (len(given) + len(find_gaps(len(file.lines), given)))  # characters of this exchange, about
    tokens = estimate_tokens(len(path), size)
    if cited_ranges is None:  # a question is no citation: nothing is stored
        gain = measure_gain(desk, 0, log.tokens - log.cited_tokens + tokens)
    else:
        log, gain = cite_lines(desk, "coverage", file, given, tokens)
    fields = measure_coverage(file, log, merge_ranges(given))
    if fields["coverage_ratio"] < MINIMUM_COVERAGE:
        actions = [model.next_action("vault_scan", "fill_gaps", 0.9, path=file.path)]
    elif fields["uncovered_ranges"] and gain["marginal_gain"] >= MINIMUM_GAIN:
        go_on = model.next_action("vault_scan", "fill_gaps", 0.5, path=file.path)
        actions = [go_on, model.stop_action("vault_completed", 0.5)]
    else:
        actions = [model.stop_action("vault_completed", 0.9)]
    return {**fields, **gain, "next_actions": actions}


def cite_lines(
    desk: Desk, tool: str, file: TextFile, ranges: list[Range], tokens: int
) -> tuple[ReadingLog, ReadingGain]:
    """Save lines as cited. The gain counts the lines that are now read and cited, against the tokens read since the
    last citation."""
    before = load_log(desk, MODULE, file)
    log = before.cite(ranges)
    new = count_new_lines(before.covered, log.covered)
    return log, model.save_reading(desk, tool, file, log, new, before.tokens - before.cited_tokens + tokens)


def list_lines(desk: Desk, path: str, caller: str | None = None) -> LineCoverage:
    """For pictures: what a caller, or with `*` every caller, has read and cited; by default the owner."""
    file = model.read_vault_file(desk, path)
    return cover_lines(file, load_log_of(desk, MODULE, file, caller or desk.principal.name))


def list_vault_readers(desk: Desk) -> Readers:
    """The callers that have read files of the vault."""
    return {"callers": list_readers(desk, MODULE)}
