"""get_related_items and find_path: what is around an item, and how two items hang together."""

import json
from collections.abc import Iterable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.items import links
from tokonoma.modules.items import traverse as walk
from tokonoma.modules.items.find import require_item
from tokonoma.modules.items.item import Item, ItemSummary, to_item, to_summary
from tokonoma.modules.items.paths import find_paths
from tokonoma.modules.items.tables import SUMMARY_COLUMNS
from tokonoma.modules.items.write import Type

_MOST_REFERENCES = 100
_MOST_NODES = 5000  # on each side of a search for paths
_STEPS = 200_000
_ITEMS = f"select {SUMMARY_COLUMNS} from item where id in ({{numbers}}) and {{visible}}"  # noqa: S608 - our own columns
_REFERENCES = """select address, item_id from item_reference where item_id in ({numbers})
order by address, item_id limit :most"""


class RelatedItem(TypedDict):
    item: ItemSummary
    distance: int
    relationship: Literal["direct", "indirect"]


class ItemReference(TypedDict):
    address: str
    module: str
    title: str
    distance: int


class ItemEdge(TypedDict):
    source: str
    target: str
    kind: str


class ItemGraphStats(TypedDict):
    total_nodes: int
    total_edges: int
    max_depth: int


class RelatedItems(TypedDict):
    center_item: ItemSummary
    related_items: list[RelatedItem]
    graph_stats: ItemGraphStats
    references: NotRequired[list[ItemReference]]
    edges: NotRequired[list[ItemEdge]]
    truncated: NotRequired[bool]


class ItemPath(TypedDict):
    items: list[ItemSummary]
    length: int
    weight: float


class ItemPaths(TypedDict):
    paths: list[ItemPath]
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
    center = require_item(desk, type, id)
    around = walk.find_neighbourhood(desk, center.id, depth, max_results)
    items = _fetch_items(desk, around.distances)
    seen = {number: at for number, at in around.distances.items() if number in items}
    told: RelatedItems = {
        "center_item": to_summary(center),
        "related_items": [
            {"item": to_summary(items[number]), "distance": at, "relationship": "direct" if at == 1 else "indirect"}
            for number, at in seen.items()
            if at
        ],
        "graph_stats": {
            "total_nodes": len(seen),
            "total_edges": walk.count_inner_links(desk, around, seen),
            "max_depth": max(seen.values(), default=0),
        },
    }
    references = _find_references(desk, seen)
    if references:
        told["references"] = references
    if include_edges:
        named = walk.list_edges(desk, seen)
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
) -> ItemPaths:
    """The paths between two items that meet no item twice, shortest first, up to max_depth links; weight is 1 / length.
    No path: shortest_path_length is null. `truncated` says that there are more than max_paths."""
    start, goal = require_item(desk, from_type, from_id), require_item(desk, to_type, to_id)
    # Each item of a path lies in the first half, near the start, or in the second, near the goal.
    near = walk.find_neighbourhood(desk, start.id, (max_depth + 1) // 2, _MOST_NODES)
    far = walk.find_neighbourhood(desk, goal.id, max_depth // 2, _MOST_NODES)
    desk.check()
    both = walk.Neighbourhood(near.distances | far.distances, links=near.links | far.links)
    graph = {node: sorted(others) for node, others in walk.find_inner_links(desk, both).items()}
    told = find_paths(graph, start.id, goal.id, max_depth, max_paths, _STEPS)
    items = _fetch_items(desk, {number for path in told.found for number in path})
    answer: ItemPaths = {
        "paths": [
            {
                "items": [to_summary(items[number]) for number in path],
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


def _fetch_items(desk: Desk, ids: Iterable[int]) -> dict[int, Item]:
    rows = desk.rows(_ITEMS, numbers=json.dumps(sorted(ids)))
    return {item.id: item for item in map(to_item, rows)}


def _find_references(desk: Desk, distances: dict[int, int]) -> list[ItemReference]:
    told: list[ItemReference] = []
    nearest: dict[str, int] = {}
    for address, item in desk.rows(_REFERENCES, numbers=json.dumps(sorted(distances)), most=10 * _MOST_REFERENCES):
        nearest[address] = min(distances[item] + 1, nearest.get(address, 99))
    for address, distance in list(nearest.items())[:_MOST_REFERENCES]:
        record = links.find_record(desk, address)
        if record is not None:
            told.append(
                {"address": address, "module": record.module, "title": links.format_title(record), "distance": distance}
            )
    return told
