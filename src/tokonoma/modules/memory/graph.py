"""memory.relation.graph: what can be reached from a memo over relations, level by level.

Each level is one read per direction. A memo is left once, over all its relations, so the cost follows the relations
that are visited and not the number of paths over them.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.modules.memory.model import Namespace, RelationRow
from tokonoma.modules.memory.read import require_memo
from tokonoma.modules.memory.relations import (
    SOURCE_IS_SHOWN,
    TARGET_IS_SHOWN,
    MemoRelation,
    RelatedMemo,
    fetch_related_memos,
    to_relation,
)
from tokonoma.modules.memory.tables import INSIDE, RELATION_COLUMNS, bind_namespace

Direction = Literal["forward", "backward"]
Path = tuple[str, ...]  # of memo ids, from the start

_ARCS = f"""select {RELATION_COLUMNS} from memo_relation r
where {{near}} in ({{{{texts}}}}) and {{far_is_shown}} and {{{{visible:r}}}} and {INSIDE} and (:tag = '' or tag = :tag)
order by weight desc, source, target, tag {{{{by_code_point}}}}, space {{{{by_code_point}}}} limit :most"""  # noqa: S608
_ARCS_OF: dict[Direction, str] = {
    "forward": _ARCS.format(near="source", far_is_shown=TARGET_IS_SHOWN),
    "backward": _ARCS.format(near="target", far_is_shown=SOURCE_IS_SHOWN),
}


class RelationPathEdge(MemoRelation):
    depth: int
    direction: Direction
    path: list[str]


class RelationGraph(TypedDict):
    edges: list[RelationPathEdge]
    nodes: list[RelatedMemo]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Arc:
    """A relation, and how it is followed."""

    relation: RelationRow
    direction: Direction

    @property
    def near(self) -> str:
        return self.relation.source if self.direction == "forward" else self.relation.target

    @property
    def far(self) -> str:
        return self.relation.target if self.direction == "forward" else self.relation.source

    @property
    def rank(self) -> tuple[float, str, str, str, str, bool]:
        """Of two at the same depth, the heavier comes first."""
        each = self.relation
        return -each.weight, each.source, each.target, each.tag, each.namespace, self.direction == "backward"


@dataclass(frozen=True, slots=True)
class Step:
    arc: Arc
    path: Path  # ends with the far end of the arc

    @property
    def depth(self) -> int:
        return len(self.path) - 1


Expand = Callable[[Sequence[str], int], Sequence[Arc]]
"""The arcs that leave these memos, by rank, at most so many."""


def walk_relations(
    desk: Desk,
    startMemoId: str,
    namespace: Namespace = None,
    direction: Literal["forward", "backward", "both"] = "forward",
    maxDepth: Annotated[int, Field(ge=1, le=10)] = 3,
    tag: Annotated[str | None, Field(max_length=64)] = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
) -> RelationGraph:
    """Follow relations from a memo, nearest first. Each relation is listed once, with its shortest `path`: the memo ids
    from the start, none of them twice. `direction` is how it was followed."""
    require_memo(desk, desk, startMemoId, namespace or ".")
    params = {"tag": tag or "", **bind_namespace(resolve_namespace(namespace, desk.principal))}
    directions: list[Direction] = ["forward", "backward"] if direction == "both" else [direction]

    def expand(memos: Sequence[str], most: int) -> list[Arc]:
        found: list[Arc] = []
        for each in directions:
            rows = desk.rows(_ARCS_OF[each], texts=json.dumps(memos), now=desk.now(), most=most, **params)
            found += [Arc(RelationRow(*row), each) for row in rows]
        return sorted(found, key=lambda arc: arc.rank)[:most]

    steps = walk_arcs(expand, startMemoId, maxDepth, limit + 1, both=direction == "both")
    edges: list[RelationPathEdge] = [
        {
            **to_relation(step.arc.relation, desk),
            "depth": step.depth,
            "direction": step.arc.direction,
            "path": list(step.path),
        }
        for step in steps[:limit]
    ]
    ends = {startMemoId} | {memo for step in steps[:limit] for memo in step.path}
    return {"edges": edges, "nodes": fetch_related_memos(desk, ends), "has_more": len(steps) > limit}


def walk_arcs(expand: Expand, start: str, deepest: int, most: int, *, both: bool) -> list[Step]:
    """The first `most` steps, the nearest first: each relation on a path that visits no memo twice, with its shortest.

    With `both`, a relation can be followed from either end: it counts from the nearer one.
    """
    paths: dict[str, Path] = {start: (start,)}  # the shortest to each memo
    steps: list[Step] = []
    loops: list[Arc] = []
    level: list[str] = [start]
    for depth in range(1, deepest + 1):
        taken, cut = _leave(expand, level, paths, most - len(steps), both=both)
        steps += taken
        loops += cut
        if len(steps) >= most:
            deepest = depth  # what is farther does not fit
            break
        level = list(dict.fromkeys(step.arc.far for step in taken if step.arc.far not in paths))
        for step in taken:
            paths.setdefault(step.arc.far, step.path)
        if not level:
            break
    steps += _find_detours([*(step.arc for step in steps), *loops], loops, paths, deepest)
    return sorted(steps, key=lambda step: (step.depth, step.arc.rank))[:most]


def _leave(
    expand: Expand, level: Sequence[str], paths: Mapping[str, Path], most: int, *, both: bool
) -> tuple[list[Step], list[Arc]]:
    """The steps that leave the memos of a level, at least `most` if there are so many; and the arcs that lead back to a
    memo on their own path."""
    asked = 2 * most
    while True:
        arcs = expand(level, asked)
        steps: list[Step] = []
        loops: list[Arc] = []
        for arc in arcs:
            path, other = paths[arc.near], paths.get(arc.far)
            if both and other is not None and (len(other) < len(path) or arc.direction == "backward"):
                continue  # followed from its other end
            if arc.far in path:
                loops.append(arc)
            else:
                steps.append(Step(arc, (*path, arc.far)))
        if len(steps) >= most or len(arcs) < asked:
            return steps, loops
        asked *= 4


def _find_detours(arcs: Iterable[Arc], loops: Iterable[Arc], paths: Mapping[str, Path], deepest: int) -> list[Step]:
    """A loop may be none on a longer path: the steps over these arcs after the shortest path around their far end."""
    behind: dict[str, list[str]] = defaultdict(list)  # the memos that are reached through a memo
    for memo, path in paths.items():
        for each in path[1:-1]:
            behind[each].append(memo)
    incoming: dict[str, list[Arc]] = defaultdict(list)
    for arc in arcs:
        incoming[arc.far].append(arc)
    closing: dict[str, list[Arc]] = defaultdict(list)
    for arc in loops:
        closing[arc.far].append(arc)
    steps: list[Step] = []
    for avoided, found in closing.items():
        around = _walk_around(avoided, behind[avoided], incoming, paths, deepest)
        steps += [Step(arc, (*around[arc.near], avoided)) for arc in found if arc.near in around]
    return steps


def _walk_around(
    avoided: str, behind: Sequence[str], incoming: Mapping[str, list[Arc]], paths: Mapping[str, Path], deepest: int
) -> dict[str, Path]:
    """The shortest paths, of at most `deepest` memos, to the memos behind `avoided` without it."""
    lost = set(behind)
    entering = [arc for memo in behind for arc in incoming[memo] if arc.near != avoided]
    found: dict[str, Path] = {}
    for length in range(2, deepest + 1):
        reached: dict[str, Path] = {}
        for arc in entering:
            path = found.get(arc.near) if arc.near in lost else paths[arc.near]
            if path is not None and len(path) + 1 == length and arc.far not in found:
                reached.setdefault(arc.far, (*path, arc.far))
        found |= reached
    return found
