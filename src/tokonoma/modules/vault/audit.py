"""artifact_audit: whether an artifact rests on its source, hangs together, and answers its own references."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.files.index_sync import TextFile, read_text_file
from tokonoma.modules.vault.coverage import CitedRanges
from tokonoma.modules.vault.flowcharts import parse_flowchart
from tokonoma.modules.vault.graph import Artifact, ArtifactElement, ArtifactReference, AuditFindings, audit_artifact
from tokonoma.modules.vault.outlines import parse_json_graph, parse_outline
from tokonoma.modules.vault.paths import VaultNextAction, VaultPath, next_action, open_vault, resolve_file, stop_action
from tokonoma.modules.vault.ranges import (
    LineRange,
    Range,
    find_gaps,
    line_ratio,
    merge_ranges,
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

_MAX_FINDINGS = 50  # findings of each kind


class FoundElement(TypedDict):
    id: str
    kind: str
    title: str
    line: NotRequired[int]


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


class AuditResult(TypedDict):
    artifact_path: str
    source_path: str
    elements: int
    evidence_ratio: float
    coverage_ratio: float
    uncovered_ranges: list[LineRange]
    counts: FoundCounts
    rootless: list[FoundElement]
    orphan: list[FoundElement]
    one_way: list[FoundReference]
    warnings: list[str]
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    needs_forced_full_scan: bool
    reasons: list[str]
    next_actions: list[VaultNextAction]


def audit(
    desk: Desk, artifact_path: VaultPath, source_path: VaultPath, cited_ranges: CitedRanges | None = None
) -> AuditResult:
    """Audit an artifact (Markdown outline, Mermaid flowchart, JSON with ids) against its source: elements without
    source_lines, elements that nothing leads to, references that are not answered; and how much of the source is
    covered. Elements cite with `source_lines: 10-20`, in a Mermaid comment `%% source_lines: …`, or a JSON field."""
    with open_vault(desk) as folder:
        made = read_text_file(desk, folder, resolve_file(desk, folder, artifact_path, "artifact_path"))
        source = read_text_file(desk, folder, resolve_file(desk, folder, source_path, "source_path"))
    artifact, total = parse_artifact(made), len(source.lines)
    findings = audit_artifact(artifact, total)
    given = require_ranges(cited_ranges or [], total, "cited_ranges")
    cited = merge_ranges([*given, *_valid_citations(artifact, total)])
    page, gain = log_citation(load_log(desk, source), cited, estimate_tokens(len(artifact_path), len(made.text)))
    with desk.write() as tx:
        save_log(tx, desk, source, page)
        save_gain(tx, "audit", gain)
    uncovered, covered = find_gaps(total, cited), line_ratio(total, cited)
    reasons = _scan_reasons(covered, findings, uncovered, gain)
    rooted = len(artifact.elements) - len(findings.rootless)
    return {
        "artifact_path": made.path,
        "source_path": source.path,
        "elements": len(artifact.elements),
        "evidence_ratio": round(rooted / len(artifact.elements), 6) if artifact.elements else 1.0,
        "coverage_ratio": covered,
        "uncovered_ranges": to_line_ranges(uncovered),
        "counts": {
            "rootless": len(findings.rootless),
            "orphan": len(findings.orphan),
            "one_way": len(findings.one_way),
        },
        "rootless": [_to_element(each) for each in findings.rootless[:_MAX_FINDINGS]],
        "orphan": [_to_element(each) for each in findings.orphan[:_MAX_FINDINGS]],
        "one_way": [_to_reference(each, artifact.elements) for each in findings.one_way[:_MAX_FINDINGS]],
        "warnings": list(artifact.warnings)[:10],
        "added_evidence_count": gain.evidence,
        "added_est_tokens": gain.tokens,
        "marginal_gain": gain.marginal,
        "needs_forced_full_scan": bool(reasons),
        "reasons": reasons,
        "next_actions": _next_actions(source.path, reasons),
    }


def parse_artifact(made: TextFile) -> Artifact:
    name = made.path.casefold()
    if name.endswith(".json"):
        return parse_json_graph(made.text)
    if name.endswith((".mmd", ".mermaid")):
        return parse_flowchart(made.text)
    if name.endswith((".md", ".markdown", ".txt")):
        return parse_outline(made.text)
    raise Denied(f"{made.path} is no artifact that can be audited: .md, .json and .mmd can.", path=made.path)


def _valid_citations(artifact: Artifact, total: int) -> list[Range]:
    """What elements cite, of lines that the source has."""
    return [(start, end) for each in artifact.elements for start, end in each.sources if 1 <= start <= end <= total]


def _scan_reasons(covered: float, findings: AuditFindings, uncovered: Sequence[Range], gain: ReadingGain) -> list[str]:
    reasons: list[str] = []
    if covered < MINIMUM_COVERAGE:
        reasons.append(f"coverage_ratio is below {MINIMUM_COVERAGE}")
    if findings:
        reasons.append("the audit has findings")
    if uncovered and gain.marginal >= MINIMUM_GAIN:
        reasons.append(f"marginal_gain is still at least {MINIMUM_GAIN}, and lines are left")
    return reasons


def _next_actions(source: str, reasons: list[str]) -> list[VaultNextAction]:
    if reasons:
        return [next_action("vault_scan", "fill_gaps", 0.9, path=source)]
    return [stop_action("vault_completed", 0.9)]


def _to_element(element: ArtifactElement) -> FoundElement:
    told: FoundElement = {"id": element.id, "kind": element.kind, "title": element.title}
    if element.line:
        told["line"] = element.line
    return told


def _to_reference(reference: ArtifactReference, elements: Sequence[ArtifactElement]) -> FoundReference:
    told: FoundReference = {"from_id": reference.origin, "to_id": reference.goal}
    if reference.relation:
        told["relation"] = reference.relation
    if reference.line:
        told["line"] = reference.line
    if all(each.id != reference.goal for each in elements):
        told["missing"] = True
    return told
