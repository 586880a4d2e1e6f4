"""Walking links by SQL, a level at a time: whoever was met is not met again, so that loops end, and every walk is
bounded. Only living items that the caller sees are walked through."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import orjson

from tokonoma.core.desk import Desk

# The others of an item as one list: a dense graph has very many links, and a row for each costs more than the link.
_AROUND = """select l.item_id, {json_list}(l.other_id) from item_link l
where l.item_id in ({numbers}) group by l.item_id"""
_THERE = "select id from item where id in ({numbers}) and state >= 0 and {visible}"
_NAMED = "select l.item_id, l.other_id, l.kind from item_link l where l.item_id in ({numbers})"


@dataclass(slots=True)
class Neighbourhood:
    """Everything within some distance of an item. `around` holds the links of those that were walked from."""

    distances: dict[int, int] = field(default_factory=dict[int, int])
    complete: bool = True  # False: there was more than was allowed
    links: dict[int, list[int]] = field(default_factory=dict[int, list[int]])


def find_neighbourhood(desk: Desk, start: int, radius: int, most: int) -> Neighbourhood:
    """At most so many items beside the first, the nearest; of equally near ones those with the least numbers."""
    found = Neighbourhood({start: 0})
    level = [start]
    met = {start}
    for distance in range(1, radius + 1):
        desk.check()
        fresh = _read_links(desk, found, level) - met
        met |= fresh
        level = _select_living(desk, fresh)
        room = most + 1 - len(found.distances)
        if len(level) > room:
            found.complete, level = False, level[:room]
        found.distances |= dict.fromkeys(level, distance)
        if not level or not found.complete:
            break
    return found


def find_inner_links(desk: Desk, found: Neighbourhood) -> dict[int, set[int]]:
    """Which of them are linked: each with those of them that it is linked to."""
    _read_links(desk, found, [id for id in found.distances if id not in found.links])
    inside = found.distances.keys()
    return {id: inside & found.links.get(id, ()) for id in found.distances}


def count_inner_links(desk: Desk, found: Neighbourhood, ids: Collection[int]) -> int:
    """How many links there are among these."""
    inside = set(ids)
    _read_links(desk, found, [id for id in ids if id not in found.links])
    return sum(len(inside.intersection(found.links.get(id, ()))) for id in ids) // 2


def list_edges(desk: Desk, ids: Iterable[int]) -> list[tuple[int, int, str]]:
    """The links among these with what they mean, each once: from whoever blocks or is the parent."""
    inside = set(ids)
    rows = desk.rows(_NAMED, numbers=json.dumps(sorted(inside)))
    kept = (
        (one, other, kind)
        for one, other, kind in rows
        if other in inside and (kind in ("blocks", "parent_of") or (kind == "related" and one < other))
    )
    return sorted(kept)


def _read_links(desk: Desk, found: Neighbourhood, ids: list[int]) -> set[int]:
    """Read the links of these; gives all others that they lead to."""
    if not ids:
        return set()
    rows = desk.rows(_AROUND, numbers=json.dumps(ids))
    read: dict[int, list[int]] = {id: orjson.loads(it) if isinstance(it, str) else it for id, it in rows}
    found.links |= read
    return set[int]().union(*read.values())


def _select_living(desk: Desk, ids: set[int]) -> list[int]:
    if not ids:
        return []
    return sorted(id for (id,) in desk.rows(_THERE, numbers=json.dumps(sorted(ids))))
