"""memory.relation.graph: what can be reached from a memo, by one recursive query on either database."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Missing
from tokonoma.modules.memory.relations import MemoRelation, RelatedMemo, fetch_related_memos, to_relation
from tokonoma.modules.memory.save import Namespace
from tokonoma.modules.memory.tables import ALIVE

Direction = Literal["forward", "backward", "both"]


class RelationPathEdge(MemoRelation):
    depth: int
    direction: Literal["forward", "backward"]
    path: list[str]


class RelationGraph(TypedDict):
    edges: list[RelationPathEdge]
    nodes: list[RelatedMemo]
    has_more: bool


def relation_graph(
    desk: Desk,
    startMemoId: str,
    namespace: Namespace = None,
    direction: Direction = "forward",
    maxDepth: Annotated[int, Field(ge=1, le=10)] = 3,
    tag: Annotated[str | None, Field(max_length=64)] = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
) -> RelationGraph:
    """Walk relations from a memo, nearest first. `path` lists memo ids from the start; `direction` tells how each edge
    was walked; loops are cut."""
    space = spaces.resolve_namespace(namespace, desk.principal)
    start = desk.row(f"select space from memo where id = :id and {ALIVE} and {{visible}}", id=startMemoId, now=now())  # noqa: S608
    if start is None or not spaces.is_inside(start[0], space):
        raise Missing(f"There is no memo {startMemoId!r} here.", memo_id=startMemoId)
    rows = desk.rows(
        _WALK,
        start=startMemoId,
        now=now(),
        space=space,
        below=f"{space}/",
        length=len(space) + 1,
        tag=tag or "",
        forward=int(direction in ("forward", "both")),
        backward=int(direction in ("backward", "both")),
        deepest=maxDepth,
        most=limit + 1,
        # Cut loops leave a tree, but a dense graph has very many paths: the walk itself is bounded.
        steps=50 * (limit + 1),
    )
    told = [_to_path_edge(row, desk) for row in rows[:limit]]
    ends = {startMemoId} | {end for row in rows[:limit] for end in (row[1], row[2])}
    return {"edges": told, "nodes": fetch_related_memos(desk, ends), "has_more": len(rows) > limit}


# Each step lengthens a path by one edge whose far end is not yet on it. Paths are JSON text on both databases.
_WALK = f"""
with recursive edge as (
    select r.* from memo_relation r
    where {{visible:r}} and (:space = '/' or r.space = :space or substr(r.space, 1, cast(:length as integer)) = :below)
        and (:tag = '' or r.tag = :tag)
        and r.source in (select id from memo where {ALIVE} and {{visible}})
        and r.target in (select id from memo where {ALIVE} and {{visible}})
),
arc as (
    select *, source as near, target as far, 'forward' as walked from edge where :forward = 1
    union all
    select *, target as near, source as far, 'backward' as walked from edge where :backward = 1
),
walk (space, source, target, tag, weight, reason, created_at, updated_at, revision, walked, depth, far, trail) as (
    select space, source, target, tag, weight, reason, created_at, updated_at, revision, walked, 1, far,
        '["' || near || '","' || far || '"]'
    from arc where near = :start and far <> :start
    union all
    select a.space, a.source, a.target, a.tag, a.weight, a.reason, a.created_at, a.updated_at, a.revision, a.walked,
        w.depth + 1, a.far, substr(w.trail, 1, length(w.trail) - 1) || ',"' || a.far || '"]'
    from walk w join arc a on a.near = w.far
    where w.depth < :deepest and w.trail not like '%"' || a.far || '"%'
)
select * from (select * from walk limit :steps) walked
order by depth, weight desc, source, target, tag, trail limit :most
"""  # noqa: S608 - our own text


def _to_path_edge(row: Row, desk: Desk) -> RelationPathEdge:
    walked: Any = row[9]
    return {**to_relation(row, desk), "depth": row[10], "direction": walked, "path": json.loads(row[12])}
