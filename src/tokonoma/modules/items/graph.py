"""get_related_items and find_path: the neighbourhood of an item, and the paths between two items.

Links are read by SQL, a level at a time. An item that was met is not met again, so that loops end, and every search is
bounded. Only living items that the caller sees are walked through.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.items.model import ItemSummary, Type, to_summary
from tokonoma.modules.items.relations import find_record, format_title
from tokonoma.modules.items.rows import fetch_items, require_item

_MAX_REFERENCES = 100
_MAX_NODES = 5000  # on each side of a search for paths
_MAX_STEPS = 200_000  # of a search for paths
_REFERENCES = """select address, item_id from item_reference where item_id in ({numbers})
order by address, item_id limit :most"""
# The others of an item as one list: a dense graph has very many links, and a row for each costs more than the link.
_LINKS = """select l.item_id, {json_list}(l.other_id) from item_link l
where l.item_id in ({numbers}) group by l.item_id"""
_LIVING = "select id from item where id in ({numbers}) and state >= 0 and {visible}"
_EDGES = "select l.item_id, l.other_id, l.kind from item_link l where l.item_id in ({numbers})"

Graph = Mapping[int, Iterable[int]]


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


@dataclass(slots=True)
class Neighbourhood:
    """Everything within some distance of an item. `links` holds the links of the items that were walked from."""

    distances: dict[int, int] = field(default_factory=dict[int, int])
    complete: bool = True  # False: there was more than was allowed
    links: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def read_links(self, desk: Desk, ids: Iterable[int]) -> set[int]:
        """Read the links of these, if they are not yet known; returns all others that those lead to."""
        unread = [id for id in ids if id not in self.links]
        if not unread:
            return set()
        rows = desk.rows(_LINKS, numbers=json.dumps(unread))
        links: dict[int, list[int]] = {id: orjson.loads(it) if isinstance(it, str) else it for id, it in rows}
        self.links |= links
        return set[int]().union(*links.values())

    def find_inner_links(self, desk: Desk, ids: Collection[int]) -> dict[int, set[int]]:
        """Each of these with those of them that it is linked to."""
        self.read_links(desk, ids)
        inside = set(ids)
        return {id: inside.intersection(self.links.get(id, ())) for id in ids}


def get_related_items(
    desk: Desk,
    type: Type,
    id: int,
    depth: Annotated[int, Field(ge=1, le=3)] = 1,
    max_results: Annotated[int, Field(ge=1, le=5000)] = 50,
    include_edges: bool = False,
) -> RelatedItems:
    """List the items around an item, nearest first, and `references`: records of other modules."""
    center = require_item(desk, type, id)
    around = _find_neighbourhood(desk, center.id, depth, max_results)
    items = fetch_items(desk, around.distances)
    distances = {number: distance for number, distance in around.distances.items() if number in items}
    response: RelatedItems = {
        "center_item": to_summary(desk, center),
        "related_items": [
            {
                "item": to_summary(desk, items[number]),
                "distance": distance,
                "relationship": "direct" if distance == 1 else "indirect",
            }
            for number, distance in distances.items()
            if distance
        ],
        "graph_stats": {
            "total_nodes": len(distances),
            "total_edges": sum(map(len, around.find_inner_links(desk, distances).values())) // 2,
            "max_depth": max(distances.values(), default=0),
        },
    }
    references = _find_references(desk, distances)
    if references:
        response["references"] = references
    if include_edges:
        response["edges"] = [
            {"source": items[one].address, "target": items[other].address, "kind": kind}
            for one, other, kind in sorted(desk.rows(_EDGES, numbers=json.dumps(sorted(distances))))
            # Each link once: from the end that blocks or is the parent.
            if other in distances
            and (kind in ("blocks", "parent_of", "mentions") or (kind == "related" and one < other))
        ]
    if not around.complete:
        response["truncated"] = True
    return response


def find_path(
    desk: Desk,
    from_type: str,
    from_id: int,
    to_type: str,
    to_id: int,
    max_depth: Annotated[int, Field(ge=1, le=10)] = 5,
    max_paths: Annotated[int, Field(ge=1, le=100)] = 20,
) -> ItemPaths:
    """Find the paths between two items, shortest first; weight is 1 / length."""
    start, goal = require_item(desk, from_type, from_id), require_item(desk, to_type, to_id)
    # Each item of a path lies in the first half, near the start, or in the second, near the goal.
    near = _find_neighbourhood(desk, start.id, (max_depth + 1) // 2, _MAX_NODES)
    far = _find_neighbourhood(desk, goal.id, max_depth // 2, _MAX_NODES)
    desk.check()
    both = Neighbourhood(near.distances | far.distances, links=near.links | far.links)
    graph = {node: sorted(others) for node, others in both.find_inner_links(desk, both.distances).items()}
    paths, complete = find_paths(graph, start.id, goal.id, max_depth, max_paths)
    items = fetch_items(desk, {number for path in paths for number in path})
    response: ItemPaths = {
        "paths": [
            {
                "items": [to_summary(desk, items[number]) for number in path],
                "length": len(path) - 1,
                "weight": round(1 / max(1, len(path) - 1), 6),
            }
            for path in paths
            if all(number in items for number in path)
        ],
        "shortest_path_length": len(paths[0]) - 1 if paths else None,
        "total_paths_found": len(paths),
    }
    if not (complete and near.complete and far.complete):
        response["truncated"] = True
    return response


def _find_neighbourhood(desk: Desk, start: int, radius: int, most: int) -> Neighbourhood:
    """At most so many items beside the first, the nearest; of equally near ones those with the least numbers."""
    found = Neighbourhood({start: 0})
    level, met = [start], {start}
    for distance in range(1, radius + 1):
        desk.check()
        fresh = found.read_links(desk, level) - met
        met |= fresh
        living = desk.rows(_LIVING, numbers=json.dumps(sorted(fresh))) if fresh else []
        level = sorted(id for (id,) in living)
        room = most + 1 - len(found.distances)
        if len(level) > room:
            found.complete, level = False, level[:room]
        found.distances |= dict.fromkeys(level, distance)
        if not level or not found.complete:
            break
    return found


def _find_references(desk: Desk, distances: dict[int, int]) -> list[ItemReference]:
    nearest: dict[str, int] = {}
    for address, item in desk.rows(_REFERENCES, numbers=json.dumps(sorted(distances)), most=10 * _MAX_REFERENCES):
        nearest[address] = min(distances[item] + 1, nearest.get(address, 99))
    return [
        {"address": address, "module": record.module, "title": format_title(record), "distance": distance}
        for address, distance in list(nearest.items())[:_MAX_REFERENCES]
        if (record := find_record(desk, address)) is not None
    ]


def find_paths(
    graph: Graph, start: int, goal: int, longest: int, most: int, steps: int = _MAX_STEPS
) -> tuple[list[tuple[int, ...]], bool]:
    """Paths that meet no node twice, by length and then by their nodes; whether these are all of them. False: there are
    more than `most`, or finding them would take more than `steps` steps. Pure."""
    if start == goal:
        return [(start,)], True
    found: list[tuple[int, ...]] = []
    distances = _measure_distances(graph, goal)
    budget = iter(range(steps))
    for length in range(distances.get(start, longest + 1), longest + 1):
        for path in _iterate_paths(graph, distances, start, goal, length, budget):
            if path is None or len(found) == most:
                return found, False
            found.append(path)
    return found, True


def _measure_distances(graph: Graph, goal: int) -> dict[int, int]:
    found, waiting = {goal: 0}, [goal]
    for node in waiting:  # it grows meanwhile
        for other in graph.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found


def _iterate_paths(
    graph: Graph, distances: Mapping[int, int], start: int, goal: int, length: int, budget: Iterator[int]
) -> Iterator[tuple[int, ...] | None]:
    """The paths of this length; None when the budget is spent. A step whose end is too far from the goal is not taken.
    Without recursion: an iterator over the next steps for each node of the path so far."""
    path, branches = [start], [iter(graph.get(start, ()))]
    while branches:
        left = length - len(path)  # steps that are left after the next one
        for node in branches[-1]:
            if next(budget, None) is None:
                yield None
                return
            if node in path or distances.get(node, length) > left or (node == goal) != (left == 0):
                continue
            if left == 0:
                yield (*path, node)
                continue
            path.append(node)
            branches.append(iter(graph.get(node, ())))
            break
        else:
            branches.pop()
            path.pop()
