"""An artifact as a graph of elements and references, and what is wrong with it. Pure.

rootless   an element that names no lines of its source, or lines that the source does not have
orphan     an element that no way leads to from where the artifact begins
one_way    A refers to B by a relation that B must answer, and does not; or there is no B
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tokonoma.modules.vault.ranges import Range

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


@dataclass(frozen=True, slots=True)
class ArtifactElement:
    id: str
    kind: str  # heading | list_item | node | edge | object
    title: str
    line: int
    sources: tuple[Range, ...] = ()
    is_start: bool = False  # the artifact says that it begins here
    is_node: bool = True  # a thing that ways lead to; an edge is only a way


@dataclass(frozen=True, slots=True)
class ArtifactReference:
    origin: str
    goal: str
    relation: str = ""  # in lower case; empty: a step of a flow, or a part of a whole
    line: int = 0


@dataclass(frozen=True, slots=True)
class Artifact:
    elements: Sequence[ArtifactElement]
    references: Sequence[ArtifactReference]
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AuditFindings:
    rootless: list[ArtifactElement] = field(default_factory=list[ArtifactElement])
    orphan: list[ArtifactElement] = field(default_factory=list[ArtifactElement])
    one_way: list[ArtifactReference] = field(default_factory=list[ArtifactReference])

    def __bool__(self) -> bool:
        return bool(self.rootless or self.orphan or self.one_way)


def audit_artifact(artifact: Artifact, total: int) -> AuditFindings:
    """`total` is the number of lines of the source."""
    rootless = [each for each in artifact.elements if not _has_sources(each, total)]
    return AuditFindings(rootless, _find_orphans(artifact), _find_one_way(artifact))


def _has_sources(element: ArtifactElement, total: int) -> bool:
    return bool(element.sources) and all(1 <= start <= end <= total for start, end in element.sources)


def _find_orphans(artifact: Artifact) -> list[ArtifactElement]:
    things = [each for each in artifact.elements if each.is_node]
    names = {each.id for each in things}
    ways = [each for each in artifact.references if each.origin in names and each.goal in names]
    if not ways:  # a mere list: nothing leads anywhere
        return []
    reached = _reachable(_find_roots(things, ways), ways)
    return [each for each in things if each.id not in reached]


def _find_roots(things: Sequence[ArtifactElement], ways: Sequence[ArtifactReference]) -> set[str]:
    """Where it says that it begins; else, of what hangs together with its first element, all that nothing leads to."""
    said = {each.id for each in things if each.is_start}
    if said:
        return said
    both = [*ways, *(ArtifactReference(each.goal, each.origin) for each in ways)]
    together = _reachable({things[0].id}, both)
    led_to = {each.goal for each in ways if each.goal != each.origin}
    return {each.id for each in things if each.id in together and each.id not in led_to} or {things[0].id}


def _reachable(roots: Iterable[str], ways: Sequence[ArtifactReference]) -> set[str]:
    following: dict[str, list[str]] = {}
    for each in ways:
        following.setdefault(each.origin, []).append(each.goal)
    seen, waiting = set(roots), deque(roots)
    while waiting:
        for goal in following.get(waiting.popleft(), ()):
            if goal not in seen:
                seen.add(goal)
                waiting.append(goal)
    return seen


def _find_one_way(artifact: Artifact) -> list[ArtifactReference]:
    names = {each.id for each in artifact.elements}
    said = {(each.origin, each.goal, each.relation) for each in artifact.references}
    found: list[ArtifactReference] = []
    for each in artifact.references:
        if each.goal not in names:
            found.append(each)
            continue
        answers = {each.relation} if each.relation in _MUTUAL else _ANSWERS.get(each.relation, set())
        if answers and not any((each.goal, each.origin, answer) in said for answer in answers):
            found.append(each)
    return found
