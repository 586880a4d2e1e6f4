"""Walking links by SQL, a level at a time: whoever was met is not met again, so that loops end, and every walk is
bounded. Only living items that the caller sees are walked through."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from tokonoma.core.desk import Desk

# Around a level: the others, each once. SQLite reads the links of an item in one piece of its index.
_AROUND = """select i.id from item i where i.state >= 0 and {visible:i}
and i.id in (select l.other_id from item_link l where l.item_id in ({numbers}))"""
_BETWEEN = "select l.item_id, l.other_id from item_link l where l.item_id in ({numbers}) and l.item_id < l.other_id"
_NAMED = "select l.item_id, l.other_id, l.kind from item_link l where l.item_id in ({numbers})"


@dataclass(slots=True)
class Ball:
    """Everything within some distance of an item."""

    distances: dict[int, int] = field(default_factory=dict[int, int])
    complete: bool = True  # False: there was more than was allowed


def ball(desk: Desk, start: int, radius: int, most: int) -> Ball:
    """At most so many items beside the first, the nearest; of equally near ones those with the least numbers."""
    found = Ball({start: 0})
    level = [start]
    for distance in range(1, radius + 1):
        desk.check()
        level = sorted(id for (id,) in desk.rows(_AROUND, numbers=json.dumps(level)) if id not in found.distances)
        room = most + 1 - len(found.distances)
        if len(level) > room:
            found.complete, level = False, level[:room]
        found.distances |= dict.fromkeys(level, distance)
        if not level or not found.complete:
            break
    return found


def edges(desk: Desk, ids: Iterable[int]) -> list[tuple[int, int]]:
    """The pairs of these that are linked, each once, the lesser number first."""
    inside = set(ids)
    rows = desk.rows(_BETWEEN, numbers=json.dumps(sorted(inside)))
    return sorted({(low, high) for low, high in rows if high in inside})


def named_edges(desk: Desk, ids: Iterable[int]) -> list[tuple[int, int, str]]:
    """The links among these with what they mean, each once: from whoever blocks or is the parent."""
    inside = set(ids)
    rows = desk.rows(_NAMED, numbers=json.dumps(sorted(inside)))
    kept = (
        (one, other, kind)
        for one, other, kind in rows
        if other in inside and (kind in ("blocks", "parent_of") or (kind == "related" and one < other))
    )
    return sorted(kept)
