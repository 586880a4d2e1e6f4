"""delete_item, restore_item, change_item_type and get_item_history; and the owner's items.purge."""

import json
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.core.ids import Opaque
from tokonoma.modules.items import rows
from tokonoma.modules.items.errors import ItemProblems, check_revision, check_type
from tokonoma.modules.items.fields import apply_columns, diff_items
from tokonoma.modules.items.model import DAY, TRASH, ItemDetail, PageCursor, Revision, Type, parse_target
from tokonoma.modules.items.relations import build_detail
from tokonoma.modules.items.revert import find_earlier_fields

_PURGE_PAGE = 500  # items in one transaction: other writers wait no longer than that takes
_PURGEABLE = "deleted_at is not null and deleted_at <= :before and {visible}"
_HISTORY = """select c.id, c.revision, c.at, c.action, c.principal, c.transport, c.tool, c.request_id, c.changes
from item_change c join item i on i.id = c.item_id
where c.item_id = :id and c.id < :before and {visible:i} order by c.id desc limit :most"""
_MAX_SHOWN = 500  # characters of a text in a history; `full` shows the whole text


class DeletedItem(TypedDict):
    deleted: bool
    id: int
    type: str
    address: str
    revision: int


class RetypedItem(ItemDetail):
    previous_address: NotRequired[str]


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
    next_cursor: NotRequired[Opaque]


def delete_item(desk: Desk, type: Type, id: int, expected_revision: Revision = None) -> DeletedItem:
    """Move an item to the trash."""
    with desk.write() as tx:
        old = rows.require_item(tx, type, id, lock=True)
        check_revision(old, expected_revision)
        item = rows.save_change(tx, desk, old._replace(state=TRASH, deleted_at=desk.now()), "deleted")
        rows.drop_derived(tx, item)
    return {"deleted": True, "id": id, "type": item.type, "address": item.address, "revision": item.revision}


def forget_item(desk: Desk, address: str) -> DeletedItem:
    """The owner's own command: also for an item that the policy hides."""
    target = parse_target(address)
    number = target.item if target is not None else None
    row = desk.row("select type from item where id = :id and {visible}", id=number or 0)
    if number is None or row is None:
        raise Missing(f"Item {address[:80]} not found.", requested_id=address[:80])
    return delete_item(desk, row[0], number)


def restore_item(
    desk: Desk,
    type: Type,
    id: int,
    revision: Annotated[int | None, Field(ge=1, description="type, links and comments stay")] = None,
    expected_revision: Revision = None,
) -> ItemDetail:
    """Restore an item from the trash, with its links; or set its fields back to a revision."""
    with desk.write() as tx:
        old = rows.require_item(tx, type, id, lock=True, least=TRASH)
        check_revision(old, expected_revision)
        if old.deleted_at is None and revision is None:
            problems = ItemProblems()
            problems.add("id", id, f"{old.address} is not in the trash; to revert it, give a revision", "constraint")
            problems.raise_if_any()
        columns = {} if revision is None else find_earlier_fields(tx, old, revision)
        new = apply_columns(desk, old._replace(deleted_at=None), columns)
        changes = diff_items(desk, old, new)
        if old.deleted_at is not None or changes:
            word, more = ("restored", {}) if revision is None else ("reverted", {"to_revision": revision})
            item = rows.save_change(tx, desk, new, word, {**changes, **more})
            rows.update_derived(tx, item, None if old.deleted_at is not None else old, same_text=not changes)
        else:
            item = old
    return build_detail(desk, item)


def change_item_type(
    desk: Desk,
    from_type: str,
    from_id: int,
    to_type: str,
    expected_revision: Revision = None,
) -> RetypedItem:
    """Change the type of an item. The old address still works."""
    problems = ItemProblems()
    check_type("to_type", to_type, problems)
    with desk.write() as tx:
        old = rows.require_item(tx, from_type, from_id, lock=True)
        if old.type == to_type:
            problems.add("to_type", to_type, "The item already has this type", "constraint")
        problems.raise_if_any()
        check_revision(old, expected_revision)
        rows.add_alias(tx, old.id, old.type)
        tx.run("delete from item_alias where item_id = :id and type = :type", id=old.id, type=to_type)
        changes = {"type": {"from": old.type, "to": to_type}}
        item = rows.save_change(tx, desk, old._replace(type=to_type), "retyped", changes)
        rows.update_derived(tx, item, old, same_text=True)
    return {**build_detail(desk, item), "previous_address": old.address}


def get_item_history(
    desk: Desk,
    type: str,
    id: int,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: PageCursor = None,
    full: Annotated[bool, Field(description="texts beyond 500 characters, too")] = False,
) -> ItemHistory:
    """List the changes of an item, also of a deleted one, newest first."""
    item = rows.require_item(desk, type, id, least=TRASH)
    (before,) = desk.open_cursor("item_history", cursor) if cursor else (2**62,)
    found = desk.rows(_HISTORY, id=item.id, before=before, most=limit + 1)
    for row in found[:limit]:
        desk.cite(f"{item.uri} {row[0]}", row[4])  # what a change held is the text of who made it
    history: ItemHistory = {
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "items": [
            {
                "revision": revision, "at": format_time(at), "action": action, "by": principal, "transport": transport,
                "tool": tool, "request_id": request_id,
                "changes": json.loads(changes) if full else _shorten(json.loads(changes)),
            }
            for _, revision, at, action, principal, transport, tool, request_id, changes in found[:limit]
        ],
        "has_more": len(found) > limit,
    }  # fmt: skip
    if len(found) > limit:
        history["next_cursor"] = desk.seal_cursor("item_history", found[limit - 1][0])
    return history


def purge_items(desk: Desk, days: int, dry_run: bool = False) -> dict[str, int]:
    """Delete permanently a page of the items that were deleted at least `days` days ago, with their links, tags and
    history. With `dry_run` only count all of them."""
    before = desk.now() - days * DAY
    if dry_run:
        counted = f"select count(*) from item where {_PURGEABLE}"  # noqa: S608 - our own
        return {"deleted": rows.fetch_number(desk, counted, before=before)}
    with desk.write() as tx:
        rows.lock_links(tx)  # links go with their items
        # Locked: an item that is restored at this moment stays.
        found = tx.rows(
            f"select id from item where {_PURGEABLE} order by id limit {_PURGE_PAGE} {{for_update}}",  # noqa: S608
            before=before,
        )
        tx.run_many("delete from item where id = :id and {visible}", [{"id": id} for (id,) in found])
    return {"deleted": len(found)}


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, str) and len(value) > _MAX_SHOWN:
        return f"{value[:_MAX_SHOWN]}… ({len(value)} characters)"
    return value
