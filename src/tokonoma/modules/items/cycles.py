"""A link that would close a circle is refused: what blocks itself is never ready, and no item is its own ancestor."""

import json

from tokonoma.core.desk import Tx
from tokonoma.core.errors import Invalid
from tokonoma.modules.items.model import OPPOSITE_KIND, format_short_address

_DIRECTED = ("blocks", "parent_of")
_NEXT = "select item_id, other_id from item_link where kind = :kind and item_id in ({numbers})"
_NAMES = "select id, type from item where id in ({numbers}) and {visible}"
_SHOWN = 10  # items of a path in a message


def check_cycle(tx: Tx, id: int, other: int, kind: str) -> None:
    """Refuse the link if its target already leads back to its source. Links are locked: rows.lock_links.

    Items in the trash count: they can be restored with their links. So do items that the caller does not see, which
    are not named."""
    source, target, forward = (id, other, kind) if kind in _DIRECTED else (other, id, OPPOSITE_KIND[kind])
    if forward not in _DIRECTED:
        return
    path = _find_path(tx, target, source, forward)
    if path is not None:
        named = _format_path(tx, [source, *path], forward)
        raise Invalid(
            f"Constraint violation: this link would close a circle: {named}. Remove one of these links first. Nothing"
            " was changed.",
            reason="constraint", field="kind", value=kind, constraint=f"{forward} must not form a circle", path=named,
        )  # fmt: skip


def _find_path(tx: Tx, start: int, goal: int, kind: str) -> list[int] | None:
    """The shortest way along links of this kind, both ends included."""
    came_from: dict[int, int] = {start: start}
    level = [start]
    while level and goal not in came_from:
        found = tx.rows(_NEXT, kind=kind, numbers=json.dumps(level))
        level = list[int]()
        for one, other in sorted(found):
            if other not in came_from:
                came_from[other] = one
                level.append(other)
    if goal not in came_from:
        return None
    path = [goal]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _format_path(tx: Tx, path: list[int], kind: str) -> str:
    types = dict(tx.rows(_NAMES, numbers=json.dumps(path)))
    names = [format_short_address(types[id], id) if id in types else "an item you cannot see" for id in path]
    if len(names) > _SHOWN:
        names[_SHOWN // 2 : -_SHOWN // 2] = ["…"]
    return f" {kind} ".join(names)
