"""artifact_audit: whether an artifact cites its source, is connected, and answers its own references.

rootless   an element that cites no lines of its source, or lines that the source does not have
orphan     an element that no reference leads to from where the artifact starts
one_way    A refers to B by a relation that B must answer, and does not; or there is no B
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.files.text_file import TextFile, read_text_file
from tokonoma.modules.vault import model
from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference, parse_flowchart
from tokonoma.modules.vault.coverage import MINIMUM_COVERAGE, MINIMUM_GAIN, CitedRanges
from tokonoma.modules.vault.outlines import parse_json_graph, parse_outline

_MAX_FINDINGS = 50  # of each kind
_MUTUAL = frozenset(
    {"related", "related_to", "relatedto", "see_also", "seealso", "peer", "peers", "sibling", "siblings", "mutual"}
    | {"関連", "相互", "相互参照", "関連項目", "関連資料"}
)
_PAIRS = (
    ("parent", "children"), ("parent", "child"), ("parent_id", "children"), ("next", "prev"), ("next", "previous"),
    ("depends_on", "required_by"), ("depends_on", "dependents"), ("blocks", "blocked_by"), ("親", "子"), ("前", "次"),
)  # fmt: skip
_ANSWERS: dict[str, set[str]] = {}
for _one, _other in _PAIRS:
    _ANSWERS.setdefault(_one, set()).add(_other)
    _ANSWERS.setdefault(_other, set()).add(_one)


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
    uncovered_ranges: list[model.LineRange]
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
    next_actions: list[model.VaultNextAction]
    recorded: NotRequired[model.Recorded]


def audit(
    desk: Desk, artifact_path: model.VaultPath, source_path: model.VaultPath, cited_ranges: CitedRanges | None = None
) -> AuditResult:
    """Audit an artifact (Markdown outline, Mermaid flowchart, JSON with ids) against its source: elements without
    source_lines, unreachable elements, one-way references, and how much of the source is covered. Elements cite with
    `source_lines: 10-20`, with a Mermaid comment `%% source_lines: …`, or with a JSON field."""
    with model.open_vault(desk) as folder:
        file = read_text_file(desk, folder, model.resolve_file(desk, folder, artifact_path, "artifact_path"))
        source = read_text_file(desk, folder, model.resolve_file(desk, folder, source_path, "source_path"))
    artifact, total = parse_artifact(file), len(source.lines)
    elements, ids = artifact.elements, {element.id for element in artifact.elements}
    given = model.require_ranges(cited_ranges or [], total, "cited_ranges")
    valid = {each for element in elements for each in element.sources if 1 <= each[0] <= each[1] <= total}
    rootless = [element for element in elements if not element.sources or not valid.issuperset(element.sources)]
    orphan, one_way = _find_orphans(artifact), _find_one_way(artifact, ids)
    cited = model.merge_ranges([*given, *valid])
    _, gain = model.cite_lines(desk, "audit", source, cited, model.estimate_tokens(len(artifact_path), len(file.text)))
    uncovered, covered = model.find_gaps(total, cited), model.line_ratio(total, cited)
    reasons: list[str] = []
    if covered < MINIMUM_COVERAGE:
        reasons.append(f"coverage_ratio is below {MINIMUM_COVERAGE}")
    if rootless or orphan or one_way:
        reasons.append("the audit has findings")
    if uncovered and gain["marginal_gain"] >= MINIMUM_GAIN:
        reasons.append(f"marginal_gain is still at least {MINIMUM_GAIN}, and lines are left")
    scan = model.next_action("vault_scan", "fill_gaps", 0.9, path=source.path)
    return {
        "artifact_path": file.path,
        "source_path": source.path,
        "elements": len(elements),
        "evidence_ratio": round((len(elements) - len(rootless)) / len(elements), 6) if elements else 1.0,
        "coverage_ratio": covered,
        "uncovered_ranges": model.to_line_ranges(uncovered[: model.MAX_RANGES]),
        "counts": {
            "rootless": len(rootless),
            "orphan": len(orphan),
            "one_way": len(one_way),
        },
        "rootless": [_to_element(each) for each in rootless[:_MAX_FINDINGS]],
        "orphan": [_to_element(each) for each in orphan[:_MAX_FINDINGS]],
        "one_way": [_to_reference(each, ids) for each in one_way[:_MAX_FINDINGS]],
        "warnings": list(artifact.warnings)[:10],
        **gain,
        "needs_forced_full_scan": bool(reasons),
        "reasons": reasons,
        "next_actions": [scan if reasons else model.stop_action("vault_completed", 0.9)],
    }


def parse_artifact(file: TextFile) -> Artifact:
    name = file.path.casefold()
    if name.endswith(".json"):
        return parse_json_graph(file.text)
    if name.endswith((".mmd", ".mermaid")):
        return parse_flowchart(file.text)
    if name.endswith((".md", ".markdown", ".txt")):
        return parse_outline(file.text)
    raise Denied(f"{file.path} cannot be audited. Use .md, .json or .mmd.", path=file.path)


def _find_orphans(artifact: Artifact) -> list[ArtifactElement]:
    nodes = [element for element in artifact.elements if element.is_node]
    ids = {node.id for node in nodes}
    references = [each for each in artifact.references if each.origin in ids and each.goal in ids]
    if not references:  # a mere list: nothing leads anywhere
        return []
    reached = _reachable(_find_roots(nodes, references), references)
    return [node for node in nodes if node.id not in reached]


def _find_roots(nodes: Sequence[ArtifactElement], references: Sequence[ArtifactReference]) -> set[str]:
    """The declared starts; else all nodes without incoming references that are connected to the first node."""
    starts = {node.id for node in nodes if node.is_start}
    if starts:
        return starts
    both_ways = [*references, *(ArtifactReference(each.goal, each.origin) for each in references)]
    connected = _reachable({nodes[0].id}, both_ways)
    goals = {each.goal for each in references if each.goal != each.origin}
    return {node.id for node in nodes if node.id in connected and node.id not in goals} or {nodes[0].id}


def _reachable(roots: Iterable[str], references: Sequence[ArtifactReference]) -> set[str]:
    goals: dict[str, list[str]] = {}
    for each in references:
        goals.setdefault(each.origin, []).append(each.goal)
    reached, queue = set(roots), deque(roots)
    while queue:
        for goal in goals.get(queue.popleft(), ()):
            if goal not in reached:
                reached.add(goal)
                queue.append(goal)
    return reached


def _find_one_way(artifact: Artifact, ids: set[str]) -> list[ArtifactReference]:
    stated = {(each.origin, each.goal, each.relation) for each in artifact.references}
    one_way: list[ArtifactReference] = []
    for each in artifact.references:
        answers = {each.relation} if each.relation in _MUTUAL else _ANSWERS.get(each.relation, set())
        answered = any((each.goal, each.origin, answer) in stated for answer in answers)
        if each.goal not in ids or (answers and not answered):
            one_way.append(each)
    return one_way


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
