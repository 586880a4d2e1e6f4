"""get_related_items and find_path: what is around an item, and how two items hang together."""

import json
from collections.abc import Iterable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.items import links
from tokonoma.modules.items import traverse as walk
from tokonoma.modules.items.find import found
from tokonoma.modules.items.item import Brief, Item, brief, item_of
from tokonoma.modules.items.paths import paths
from tokonoma.modules.items.tables import BRIEF
from tokonoma.modules.items.write import Type

_MOST_REFERENCES = 100
_MOST_NODES = 5000  # on each side of a search for paths
_STEPS = 200_000
_ITEMS = f"select {BRIEF} from item where id in ({{numbers}}) and {{visible}}"  # noqa: S608 - our own columns
_REFERENCES = """select address, item_id from item_reference where item_id in ({numbers})
order by address, item_id limit :most"""


class RelatedItem(TypedDict):
    item: Brief
    distance: int
    relationship: Literal["direct", "indirect"]


class Reference(TypedDict):
    address: str
    module: str
    title: str
    distance: int


class GraphEdge(TypedDict):
    source: str
    target: str
    kind: str


class GraphStats(TypedDict):
    total_nodes: int
    total_edges: int
    max_depth: int


class RelatedItems(TypedDict):
    center_item: Brief
    related_items: list[RelatedItem]
    graph_stats: GraphStats
    references: NotRequired[list[Reference]]
    edges: NotRequired[list[GraphEdge]]
    truncated: NotRequired[bool]


class Path(TypedDict):
    items: list[Brief]
    length: int
    weight: float


class PathAnswer(TypedDict):
    paths: list[Path]
    shortest_path_length: int | None
    total_paths_found: int
    truncated: NotRequired[bool]


def get_related_items(
    desk: Desk,
    type: Type,
    id: int,
    depth: Annotated[int, Field(ge=1, le=3, description="steps to walk")] = 1,
    max_results: Annotated[int, Field(ge=1, le=5000)] = 50,
    include_edges: Annotated[bool, Field(description="also tell which of them are linked, and how")] = False,
) -> RelatedItems:
    """What is linked to an item, nearest first; graph_stats counts what is in the answer. `references` are records of
    other modules; `truncated` says that there is more than max_results."""
    center = found(desk, type, id)
    around = walk.ball(desk, center.id, depth, max_results)
    items = _fetched(desk, around.distances)
    seen = {number: at for number, at in around.distances.items() if number in items}
    told: RelatedItems = {
        "center_item": brief(center),
        "related_items": [
            {"item": brief(items[number]), "distance": at, "relationship": "direct" if at == 1 else "indirect"}
            for number, at in seen.items()
            if at
        ],
        "graph_stats": {
            "total_nodes": len(seen),
            "total_edges": walk.count_pairs(desk, around, seen),
            "max_depth": max(seen.values(), default=0),
        },
    }
    references = _references(desk, seen)
    if references:
        told["references"] = references
    if include_edges:
        named = walk.named_edges(desk, seen)
        told["edges"] = [
            {"source": items[one].address, "target": items[other].address, "kind": kind} for one, other, kind in named
        ]
    if not around.complete:
        told["truncated"] = True
    return told


def find_path(
    desk: Desk,
    from_type: Type,
    from_id: int,
    to_type: Type,
    to_id: int,
    max_depth: Annotated[int, Field(ge=1, le=10, description="links of the longest path")] = 5,
    max_paths: Annotated[int, Field(ge=1, le=100)] = 20,
) -> PathAnswer:
    """The paths between two items that meet no item twice, shortest first, up to max_depth links; weight is 1 / length.
    No path: shortest_path_length is null. `truncated` says that there are more than max_paths."""
    start, goal = found(desk, from_type, from_id), found(desk, to_type, to_id)
    # Each item of a path lies in the first half, near the start, or in the second, near the goal.
    near = walk.ball(desk, start.id, (max_depth + 1) // 2, _MOST_NODES)
    far = walk.ball(desk, goal.id, max_depth // 2, _MOST_NODES)
    desk.check()
    both = walk.Ball(near.distances | far.distances, around=near.around | far.around)
    graph = {node: sorted(others) for node, others in walk.pairs(desk, both).items()}
    told = paths(graph, start.id, goal.id, max_depth, max_paths, _STEPS)
    items = _fetched(desk, {number for path in told.found for number in path})
    answer: PathAnswer = {
        "paths": [
            {
                "items": [brief(items[number]) for number in path],
                "length": len(path) - 1,
                "weight": round(1 / max(1, len(path) - 1), 6),
            }
            for path in told.found
            if all(number in items for number in path)
        ],
        "shortest_path_length": len(told.found[0]) - 1 if told.found else None,
        "total_paths_found": len(told.found),
    }
    if not (told.complete and near.complete and far.complete):
        answer["truncated"] = True
    return answer


def _fetched(desk: Desk, ids: Iterable[int]) -> dict[int, Item]:
    rows = desk.rows(_ITEMS, numbers=json.dumps(sorted(ids)))
    return {item.id: item for item in map(item_of, rows)}


def _references(desk: Desk, distances: dict[int, int]) -> list[Reference]:
    told: list[Reference] = []
    nearest: dict[str, int] = {}
    for address, item in desk.rows(_REFERENCES, numbers=json.dumps(sorted(distances)), most=10 * _MOST_REFERENCES):
        nearest[address] = min(distances[item] + 1, nearest.get(address, 99))
    for address, distance in list(nearest.items())[:_MOST_REFERENCES]:
        record = links.record_at(desk, address)
        if record is not None:
            told.append(
                {"address": address, "module": record.module, "title": links.title_of(record), "distance": distance}
            )
    return told
