"""artifact_audit: whether an artifact rests on its source, hangs together, and answers its own references."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.files.index_sync import Sheet, sheet
from tokonoma.modules.vault.coverage import Cited
from tokonoma.modules.vault.flowcharts import flowchart
from tokonoma.modules.vault.graph import Artifact, Element, Findings, Reference, audited
from tokonoma.modules.vault.outlines import of_json, of_markdown
from tokonoma.modules.vault.paths import NextAction, Path, file_at, stop, then, vault
from tokonoma.modules.vault.ranges import LineRange, Range, checked, left, merged, ratio, shown
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

_SHOWN = 50  # findings of each kind


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


class Audit(TypedDict):
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
    next_actions: list[NextAction]


def audit(desk: Desk, artifact_path: Path, source_path: Path, cited_ranges: Cited | None = None) -> Audit:
    """Audit an artifact (Markdown outline, Mermaid flowchart, JSON with ids) against its source: elements without
    source_lines, elements that nothing leads to, references that are not answered; and how much of the source is
    covered. Elements cite with `source_lines: 10-20`, in a Mermaid comment `%% source_lines: …`, or a JSON field."""
    with vault(desk) as folder:
        made = sheet(desk, folder, file_at(desk, folder, artifact_path, "artifact_path"))
        source = sheet(desk, folder, file_at(desk, folder, source_path, "source_path"))
    artifact, total = parsed(made), len(source.lines)
    findings = audited(artifact, total)
    given = checked(cited_ranges or [], total, "cited_ranges")
    cited = merged([*given, *_sound(artifact, total)])
    page, gain = cite(page_of(desk, source), cited, est_tokens(len(artifact_path), len(made.text)))
    with desk.write() as tx:
        keep(tx, desk, source, page)
        note_gain(tx, "audit", gain)
    uncovered, covered = left(total, cited), ratio(total, cited)
    reasons = _reasons(covered, findings, uncovered, gain)
    rooted = len(artifact.elements) - len(findings.rootless)
    return {
        "artifact_path": made.path,
        "source_path": source.path,
        "elements": len(artifact.elements),
        "evidence_ratio": round(rooted / len(artifact.elements), 6) if artifact.elements else 1.0,
        "coverage_ratio": covered,
        "uncovered_ranges": shown(uncovered),
        "counts": {
            "rootless": len(findings.rootless),
            "orphan": len(findings.orphan),
            "one_way": len(findings.one_way),
        },
        "rootless": [_element(each) for each in findings.rootless[:_SHOWN]],
        "orphan": [_element(each) for each in findings.orphan[:_SHOWN]],
        "one_way": [_reference(each, artifact.elements) for each in findings.one_way[:_SHOWN]],
        "warnings": list(artifact.warnings)[:10],
        "added_evidence_count": gain.evidence,
        "added_est_tokens": gain.tokens,
        "marginal_gain": gain.marginal,
        "needs_forced_full_scan": bool(reasons),
        "reasons": reasons,
        "next_actions": _next(source.path, reasons),
    }


def parsed(made: Sheet) -> Artifact:
    name = made.path.casefold()
    if name.endswith(".json"):
        return of_json(made.text)
    if name.endswith((".mmd", ".mermaid")):
        return flowchart(made.text)
    if name.endswith((".md", ".markdown", ".txt")):
        return of_markdown(made.text)
    raise Denied(f"{made.path} is no artifact that can be audited: .md, .json and .mmd can.", path=made.path)


def _sound(artifact: Artifact, total: int) -> list[Range]:
    """What elements cite, of lines that the source has."""
    return [(start, end) for each in artifact.elements for start, end in each.sources if 1 <= start <= end <= total]


def _reasons(covered: float, findings: Findings, uncovered: Sequence[Range], gain: Gain) -> list[str]:
    reasons: list[str] = []
    if covered < MINIMUM_COVERAGE:
        reasons.append(f"coverage_ratio is below {MINIMUM_COVERAGE}")
    if findings:
        reasons.append("the audit has findings")
    if uncovered and gain.marginal >= MINIMUM_GAIN:
        reasons.append(f"marginal_gain is still at least {MINIMUM_GAIN}, and lines are left")
    return reasons


def _next(source: str, reasons: list[str]) -> list[NextAction]:
    if reasons:
        return [then("vault_scan", "fill_gaps", 0.9, path=source)]
    return [stop("vault_completed", 0.9)]


def _element(element: Element) -> FoundElement:
    told: FoundElement = {"id": element.id, "kind": element.kind, "title": element.title}
    if element.line:
        told["line"] = element.line
    return told


def _reference(reference: Reference, elements: Sequence[Element]) -> FoundReference:
    told: FoundReference = {"from_id": reference.origin, "to_id": reference.goal}
    if reference.relation:
        told["relation"] = reference.relation
    if reference.line:
        told["line"] = reference.line
    if all(each.id != reference.goal for each in elements):
        told["missing"] = True
    return told
