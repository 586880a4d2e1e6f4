"""What was done to an item, by whom: a row for each change, written with it. The request's id leads to the journal."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items.constants import TRASH
from tokonoma.modules.items.find import require_item
from tokonoma.modules.items.item import Item, to_summary

_CHANGE = """insert into item_change (item_id, revision, at, action, principal, transport, tool, request_id, changes)
values (:source, :revision, :at, :action, :principal, :transport, :tool, :request_id, :changes)"""
_PAGE = """select c.id, c.revision, c.at, c.action, c.principal, c.transport, c.tool, c.request_id, c.changes
from item_change c join item i on i.id = c.item_id
where c.item_id = :source and c.id < :before and {visible:i} order by c.id desc limit :most"""
_TEXTS = ("title", "description", "content", "status", "priority", "category", "start_date", "end_date", "version")
_SHORT = 500  # characters of a text in a history; the whole one is asked for with `full`


class ItemChange(TypedDict):
    revision: int
    at: str
    action: str
    by: str
    transport: str
    tool: str
    request_id: str
    changes: dict[str, Any]


class ItemHistory(TypedDict):
    id: int
    type: str
    address: str
    items: list[ItemChange]
    has_more: bool
    next_cursor: NotRequired[str]


def record_change(
    tx: Tx, desk: Desk, item: int, revision: int, at: int, action: str, changes: Mapping[str, Any] | None = None
) -> None:
    call = desk.call
    tx.run(
        _CHANGE,
        source=item,
        revision=revision,
        at=at,
        action=action,
        principal=call.principal.name,
        transport=call.caller.transport,
        tool=call.tool,
        request_id=call.request_id,
        changes=json.dumps(changes or {}, ensure_ascii=False, separators=(",", ":")),
    )


def diff_items(old: Item, new: Item) -> dict[str, Any]:
    """Fields that differ, as the outside calls them, each with what it was and what it is."""
    before, after = _to_comparable(old), _to_comparable(new)
    return {
        name: {"from": before[name], "to": after[name]} for name in (*_TEXTS, "tags") if before[name] != after[name]
    }


def _to_comparable(item: Item) -> dict[str, Any]:
    return {**to_summary(item), "description": item.description, "content": item.content}


def increment_revisions(tx: Tx, desk: Desk, ids: Iterable[int], at: int, changes: Mapping[str, Any]) -> None:
    """The other end of a link: what it is related to has changed, so whoever looked before is out of date."""
    numbers = json.dumps(sorted(ids))
    if numbers == "[]":
        return
    tx.run("update item set revision = revision + 1 where id in ({numbers}) and {visible}", numbers=numbers)
    rows = tx.rows("select id, revision from item where id in ({numbers}) and {visible} order by id", numbers=numbers)
    for id, revision in rows:
        record_change(tx, desk, id, revision, at, "linked", changes)


def get_item_history(
    desk: Desk,
    type: str,
    id: int,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
    full: Annotated[bool, Field(description="long texts whole instead of their first 500 characters")] = False,
) -> ItemHistory:
    """Who changed what in an item, newest first, the trash included. request_id is that of the journal."""
    item = require_item(desk, type, id, least=TRASH)
    (before,) = cursors.decode("item_history", cursor) if cursor else (2**62,)
    rows = desk.rows(_PAGE, source=item.id, before=before, most=limit + 1)
    changes: list[ItemChange] = [
        {
            "revision": revision,
            "at": format_time(at),
            "action": action,
            "by": principal,
            "transport": transport,
            "tool": tool,
            "request_id": request_id,
            "changes": {key: value if full else _shorten(value) for key, value in json.loads(changes).items()},
        }
        for _, revision, at, action, principal, transport, tool, request_id, changes in rows[:limit]
    ]
    told: ItemHistory = {
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "items": changes,
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        told["next_cursor"] = cursors.encode("item_history", rows[limit - 1][0])
    return told


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, str) and len(value) > _SHORT:
        return f"{value[:_SHORT]}… ({len(value)} characters)"
    return value
