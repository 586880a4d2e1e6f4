"""artifact_audit: whether an artifact's sources say what it says, and whether it is connected.

rootless   an element that cites no lines of a source, or lines that the source does not have
orphan     an element that no reference leads to from where the artifact starts
one_way    A refers to B by a relation that B must answer, and does not; or there is no B
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied, Invalid
from tokonoma.files.coverage import MINIMUM_COVERAGE, MINIMUM_GAIN
from tokonoma.files.ledger import ReadingGain, count_new_lines, estimate_tokens
from tokonoma.files.ranges import (
    MAX_RANGES,
    CitedRanges,
    LineRange,
    count_lines,
    find_gaps,
    intersect_ranges,
    merge_ranges,
    require_ranges,
    subtract_ranges,
    to_line_ranges,
)
from tokonoma.files.text_file import TextFile, read_text_file
from tokonoma.modules.vault import model
from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference
from tokonoma.modules.vault.audit_sources import AuditSource, NamedSource, find_source, open_sources
from tokonoma.modules.vault.diagrams import parse_chart
from tokonoma.modules.vault.evidence import ElementStatus, ElementVerdict, judge_elements
from tokonoma.modules.vault.graph import find_one_way, find_orphans
from tokonoma.modules.vault.json_graph import parse_json_graph
from tokonoma.modules.vault.outlines import parse_outline

_MAX_FINDINGS = 50  # of each kind
_MAX_REPORTED = 500  # elements in a whole report
_STATUSES: tuple[ElementStatus, ...] = ("supported", "weak", "unsupported", "unread", "stale")


class FoundElement(TypedDict):
    id: str
    kind: str
    title: str
    line: NotRequired[int]


class JudgedElement(FoundElement):
    status: ElementStatus
    share: Annotated[float, Field(description="of its words that are together in the lines that it cites")]
    reason: NotRequired[str]
    found_in: NotRequired[Annotated[str, Field(description="the source's lines with most of its words")]]
    cited: NotRequired[Annotated[list[str], Field(description="source:first-last, with report: all")]]


class FoundReference(TypedDict):
    from_id: str
    to_id: str
    relation: NotRequired[str]
    line: NotRequired[int]
    missing: NotRequired[bool]


class FoundCounts(TypedDict):
    rootless: int
    orphan: int
    one_way: int


class StatusCounts(TypedDict):
    supported: int
    weak: int
    unsupported: int
    unread: int
    stale: int


class AuditResult(TypedDict):
    artifact_path: str
    source_path: str
    elements: int
    evidence_ratio: float
    supported_ratio: float
    coverage_ratio: Annotated[float, Field(description="share of the sources' lines that were read and cited")]
    uncovered_ranges: list[LineRange]
    cited_unread_ranges: list[LineRange]
    counts: FoundCounts
    statuses: StatusCounts
    judged: Annotated[list[JudgedElement], Field(description="elements that are not supported, worst first")]
    judged_left_out: NotRequired[int]
    rootless: list[FoundElement]
    orphan: list[FoundElement]
    one_way: list[FoundReference]
    warnings: list[str]
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    needs_forced_full_scan: bool
    reasons: list[str]
    next_actions: list[model.VaultNextAction]
    recorded: NotRequired[bool]


def audit(
    desk: Desk,
    artifact_path: model.VaultPath,
    source_path: Annotated[str | None, Field(description="a file of the vault")] = None,
    cited_ranges: CitedRanges | None = None,
    sources: Annotated[
        list[NamedSource] | None,
        Field(max_length=20, description="several, or of manuals: {manual_id, path} or {path}"),
    ] = None,
    report: Annotated[
        Literal["findings", "all"], Field(description="all: every element in order, with the lines that it cites")
    ] = "findings",
) -> AuditResult:
    """Audit an artifact (Markdown, Mermaid, JSON): whether the lines that each element cites say what it says, and you
    have read them; unreachable elements; one-way references; coverage of the sources. Elements cite with
    `source_lines: 10-20`, with a Mermaid comment `%% source_lines: …`, or with a JSON field; with several sources
    `source_lines: setup.md:10-20`."""
    with model.open_vault(desk) as folder:
        file = read_text_file(desk, folder, model.resolve_file(desk, folder, artifact_path, "artifact_path"))
        opened = open_sources(desk, folder, source_path, sources)
    for each in opened:
        if each.file.version == file.version:
            raise Invalid("The artifact is its own source. Name the file that it is made from.", field="source_path")
    artifact = parse_artifact(file)
    given = require_ranges(cited_ranges or [], len(opened[0].file.lines), "cited_ranges")
    verdicts = judge_elements(artifact.elements, opened, desk.compare_texts)
    for each in opened:
        each.cited = merge_ranges(citation for verdict in verdicts for citation in verdict.counted.get(each.name, ()))
    opened[0].cited = merge_ranges([*opened[0].cited, *given])
    gain = _record(desk, opened, estimate_tokens(len(artifact_path), len(file.text)))
    result = _build_result(file, artifact, opened, verdicts, gain)
    if report == "all":
        result["judged"] = [_to_reported(each, opened) for each in verdicts[:_MAX_REPORTED]]
        result.pop("judged_left_out", None)
        if len(verdicts) > _MAX_REPORTED:
            result["judged_left_out"] = len(verdicts) - _MAX_REPORTED
    return result


def _record(desk: Desk, opened: Sequence[AuditSource], tokens: int) -> ReadingGain:
    """Save what was cited of each source, in one transaction; what is new is counted in lines."""
    evidence = 0
    for each in opened:
        log = each.log.cite(each.cited)
        evidence += count_new_lines(each.log.covered, log.covered)
        tokens += each.log.tokens - each.log.cited_tokens
        each.log = log
    return model.save_many(desk, "audit", [(each.module, each.file, each.log) for each in opened], evidence, tokens)


def _build_result(
    file: TextFile,
    artifact: Artifact,
    opened: Sequence[AuditSource],
    verdicts: Sequence[ElementVerdict],
    gain: ReadingGain,
) -> AuditResult:
    elements, ids = artifact.elements, {element.id for element in artifact.elements}
    rootless = [each.element for each in verdicts if each.is_rootless]
    orphan, one_way = find_orphans(artifact), find_one_way(artifact, ids)
    counted: Counter[ElementStatus] = Counter(each.status for each in verdicts)
    total = sum(len(each.file.lines) for each in opened)
    covered = sum(count_lines(intersect_ranges(each.cited, each.log.read)) for each in opened)
    first = opened[0]
    uncovered = find_gaps(len(first.file.lines), intersect_ranges(first.cited, first.log.read))
    unread = subtract_ranges(first.cited, first.log.read)
    ratio = round(covered / total, 6) if total else 1.0
    reasons = _find_reasons(ratio, gain, bool(rootless or orphan or one_way), counted, artifact)
    if uncovered and gain["marginal_gain"] >= MINIMUM_GAIN:
        reasons.append(f"marginal_gain is still at least {MINIMUM_GAIN}, and lines are left")
    judged = sorted((each for each in verdicts if each.status != "supported"), key=_by_severity)
    result: AuditResult = {
        "artifact_path": file.path,
        "source_path": first.name,
        "elements": len(elements),
        "evidence_ratio": round((len(elements) - len(rootless)) / len(elements), 6) if elements else 0.0,
        "supported_ratio": round(counted["supported"] / len(elements), 6) if elements else 0.0,
        "coverage_ratio": ratio,
        "uncovered_ranges": to_line_ranges(uncovered[:MAX_RANGES]),
        "cited_unread_ranges": to_line_ranges(unread[:MAX_RANGES]),
        "counts": {"rootless": len(rootless), "orphan": len(orphan), "one_way": len(one_way)},
        "statuses": _count_statuses(counted),
        "judged": [_to_judged(each) for each in judged[:_MAX_FINDINGS]],
        "rootless": [_to_element(each) for each in rootless[:_MAX_FINDINGS]],
        "orphan": [_to_element(each) for each in orphan[:_MAX_FINDINGS]],
        "one_way": [_to_reference(each, ids) for each in one_way[:_MAX_FINDINGS]],
        "warnings": [*artifact.warnings, *artifact.notes][:10],
        **gain,
        "needs_forced_full_scan": bool(reasons),
        "reasons": reasons,
        "next_actions": [_choose_next(first) if reasons else model.stop_action("vault_completed", 0.9)],
    }
    if len(judged) > _MAX_FINDINGS:
        result["judged_left_out"] = len(judged) - _MAX_FINDINGS
    return result


def _find_reasons(
    ratio: float, gain: ReadingGain, has_findings: bool, counted: Counter[ElementStatus], artifact: Artifact
) -> list[str]:
    reasons: list[str] = []
    if ratio < MINIMUM_COVERAGE:
        reasons.append(f"coverage_ratio is below {MINIMUM_COVERAGE}")
    if has_findings:
        reasons.append("the audit has findings")
    reasons += [f"{status}: {counted[status]}" for status in _STATUSES[1:] if counted[status]]
    if not artifact.elements:
        reasons.append("nothing in the artifact can be audited")
    if artifact.warnings:
        reasons.append("parts of the artifact were not understood")
    return reasons


def _choose_next(source: AuditSource) -> model.VaultNextAction:
    if source.manual_id:
        ref = {"manual_id": source.manual_id, "path": source.path}
        return model.next_action("manual_read", "fill_gaps", 0.9, ref=ref, scope="sections")
    return model.next_action("vault_scan", "fill_gaps", 0.9, path=source.file.path)


def parse_artifact(file: TextFile) -> Artifact:
    name = file.path.casefold()
    if name.endswith(".json"):
        return parse_json_graph(file.text)
    if name.endswith((".mmd", ".mermaid")):
        return parse_chart(file.text)
    if name.endswith((".md", ".markdown", ".txt")):
        return parse_outline(file.text)
    raise Denied(f"{file.path} cannot be audited. Use .md, .json or .mmd.", path=file.path)


def _count_statuses(counted: Counter[ElementStatus]) -> StatusCounts:
    return {
        "supported": counted["supported"],
        "weak": counted["weak"],
        "unsupported": counted["unsupported"],
        "unread": counted["unread"],
        "stale": counted["stale"],
    }


def _by_severity(verdict: ElementVerdict) -> tuple[int, float, int]:
    order = ("unsupported", "stale", "unread", "weak", "supported")
    return order.index(verdict.status), verdict.share, verdict.element.line


def _to_judged(verdict: ElementVerdict) -> JudgedElement:
    judged: JudgedElement = {**_to_element(verdict.element), "status": verdict.status, "share": verdict.share}
    if verdict.reason:
        judged["reason"] = verdict.reason
    if verdict.found_in:
        judged["found_in"] = verdict.found_in
    return judged


def _to_reported(verdict: ElementVerdict, opened: Sequence[AuditSource]) -> JudgedElement:
    """With what it cites, also where that does not exist. A source that is not known keeps the name in the citation."""
    cited: list[str] = []
    for each in verdict.element.citations:
        source = find_source(opened, each.source)
        cited.append(f"{source.name if source else each.source}:{each.start}-{each.end}")
    judged = _to_judged(verdict)
    return {**judged, "cited": cited} if cited else judged


def _to_element(element: ArtifactElement) -> FoundElement:
    found: FoundElement = {"id": element.id, "kind": element.kind, "title": element.title}
    if element.line:
        found["line"] = element.line
    return found


def _to_reference(reference: ArtifactReference, ids: set[str]) -> FoundReference:
    found: FoundReference = {"from_id": reference.origin, "to_id": reference.goal}
    if reference.relation:
        found["relation"] = reference.relation
    if reference.line:
        found["line"] = reference.line
    if reference.goal not in ids:
        found["missing"] = True
    return found
