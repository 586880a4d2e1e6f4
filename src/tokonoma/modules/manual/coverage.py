"""manual_coverage: which lines of a manual's file a caller has read and cited. manual_read feeds it."""

from typing import Annotated

from pydantic import Field

from tokonoma.core.desk import Desk
from tokonoma.files.coverage import (
    MINIMUM_COVERAGE,
    CoverageFields,
    LineCoverage,
    Readers,
    cover_lines,
    measure_coverage,
)
from tokonoma.files.ledger import list_readers, load_log, load_log_of, save_logs
from tokonoma.files.ranges import CitedRanges, merge_ranges, require_ranges
from tokonoma.modules.manual.model import ManualNextAction, parse_ref
from tokonoma.modules.manual.reading_log import to_text_file
from tokonoma.modules.manual.refs import ManualReader
from tokonoma.modules.manual.tables import NAME


class ManualCoverage(CoverageFields):
    manual_id: str
    next_actions: list[ManualNextAction]


def check_manual_coverage(
    desk: Desk,
    manual_id: str,
    path: Annotated[str, Field(description="relative to the manual, as in manual_ls")],
    cited_ranges: CitedRanges | None = None,
) -> ManualCoverage:
    """Show which lines of a manual's file you have read (manual_read) and cited (cited_ranges; default: all that you
    cited before). Lines that you cite without having read them do not count."""
    manual, path, _ = parse_ref({"manual_id": manual_id, "path": path})
    file = to_text_file(manual, path, ManualReader(desk, (manual, path)).open_file(manual, path))
    log = load_log(desk, NAME, file)
    given = log.cited if cited_ranges is None else require_ranges(cited_ranges, len(file.lines), "cited_ranges")
    log = log.cite(given)
    if cited_ranges is not None:
        save_logs(desk, [(NAME, file, log)])
    fields = measure_coverage(file, log, merge_ranges(given))
    result: ManualCoverage = {**fields, "path": path, "manual_id": manual, "next_actions": []}
    if not desk.may_write:
        result["recorded"] = False
    if fields["coverage_ratio"] < MINIMUM_COVERAGE and fields["uncovered_ranges"]:
        ref = {"manual_id": manual, "path": path, "start_line": fields["uncovered_ranges"][0]["start_line"]}
        scope = "file" if path.lower().endswith(".json") else "sections"
        params = {"ref": ref, "scope": scope}
        result["next_actions"] = [{"type": "manual_read", "intent": "fill_gaps", "confidence": 0.9, "params": params}]
    else:
        stop: ManualNextAction = {"type": "stop", "intent": "manual_completed", "confidence": 0.9, "params": None}
        result["next_actions"] = [stop]
    return result


def list_manual_lines(desk: Desk, manual_id: str, path: str, caller: str | None = None) -> LineCoverage:
    """For pictures: what a caller, or with `*` every caller, has read and cited; by default the owner."""
    manual, path, _ = parse_ref({"manual_id": manual_id, "path": path})
    file = to_text_file(manual, path, ManualReader(desk, (manual, path)).open_file(manual, path))
    covered = cover_lines(file, load_log_of(desk, NAME, file, caller or desk.principal.name))
    return {**covered, "path": path}


def list_manual_readers(desk: Desk) -> Readers:
    """The callers that have read manuals."""
    return {"callers": list_readers(desk, NAME)}
