"""An artifact as a graph: what no reference leads to, and references that are not answered. Pure functions."""

from collections import deque
from collections.abc import Iterable, Sequence

from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference

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


def find_orphans(artifact: Artifact) -> list[ArtifactElement]:
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


def find_one_way(artifact: Artifact, ids: set[str]) -> list[ArtifactReference]:
    stated = {(each.origin, each.goal, each.relation) for each in artifact.references}
    one_way: list[ArtifactReference] = []
    for each in artifact.references:
        answers = {each.relation} if each.relation in _MUTUAL else _ANSWERS.get(each.relation, set())
        answered = any((each.goal, each.origin, answer) in stated for answer in answers)
        if each.goal not in ids or (answers and not answered):
            one_way.append(each)
    return one_way
