"""The fields of an item as they were at an earlier revision, from its history."""

import json
from typing import Any

from tokonoma.core.desk import Tx
from tokonoma.modules.items.errors import ItemProblems, parse_fields
from tokonoma.modules.items.model import Item

# Every change after the revision, newest first: each says what its fields were before.
_LATER = """select c.revision, c.action, c.changes from item_change c join item i on i.id = c.item_id
where c.item_id = :id and c.revision > :revision and {visible:i} order by c.id desc"""


def find_earlier_fields(tx: Tx, item: Item, revision: int) -> dict[str, Any]:
    """Columns and values; Invalid if the history does not reach back so far."""
    problems = ItemProblems()
    if revision > item.revision:
        problems.add("revision", revision, f"{item.address} is at revision {item.revision}", "constraint")
    earlier: dict[str, Any] = {}
    for at, action, written in tx.rows(_LATER, id=item.id, revision=revision):
        if action == "imported":
            why = f"Revision {at} was imported, and what was before it is not known"
            problems.add("revision", revision, why, "constraint")
            break
        changes: dict[str, Any] = json.loads(written)
        earlier |= {name: change["from"] for name, change in changes.items() if _is_field(name, change)}
    problems.raise_if_any()
    given = {name: value if value is not None else "" for name, value in earlier.items()}
    columns = parse_fields(given, problems)
    problems.raise_if_any()
    return columns


def _is_field(name: str, change: Any) -> bool:
    return name not in ("type", "related") and isinstance(change, dict) and "from" in change
