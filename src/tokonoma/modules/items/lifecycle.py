"""delete_item, restore_item and change_item_type: into the trash and back, and from one type to another."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items.checks import check_type
from tokonoma.modules.items.constants import TRASH
from tokonoma.modules.items.find import require_item
from tokonoma.modules.items.history import record_change
from tokonoma.modules.items.item import Item, ItemDetail, compute_state, to_document
from tokonoma.modules.items.problems import ItemProblems
from tokonoma.modules.items.write import Revision, Type, build_detail, build_stale_error, to_row, update_derived

_SET = """update item set type = :type, state = :state, deleted_at = :deleted_at, updated_at = :updated_at,
    updated_by = :updated_by, revision = :revision where id = :id and {visible}"""


class DeletedItem(TypedDict):
    deleted: bool
    id: int
    type: str
    address: str
    revision: int


class RetypedItem(ItemDetail):
    previous_address: NotRequired[str]


def delete_item(desk: Desk, type: Type, id: int, expected_revision: Revision = None) -> DeletedItem:
    """Put an item into the trash: no longer found, its links hidden. restore_item brings both back."""
    with desk.write() as tx:
        old = require_item(tx, type, id, lock=True)
        if expected_revision is not None and expected_revision != old.revision:
            raise build_stale_error(old, expected_revision)
        item = old._replace(state=TRASH, deleted_at=now())
        item = _save_transition(tx, desk, item, "deleted")
        tx.drop(item.uri)
        tx.run("delete from item_hint where item_id = :id", id=id)
    return {"deleted": True, "id": id, "type": item.type, "address": item.address, "revision": item.revision}


def restore_item(desk: Desk, type: Type, id: int) -> ItemDetail:
    """Take an item out of the trash, with its links, tags and history."""
    with desk.write() as tx:
        old = require_item(tx, type, id, lock=True, least=TRASH)
        if old.deleted_at is None:
            faults = ItemProblems()
            faults.add_constraint("id", id, f"{old.address} is not in the trash")
            faults.raise_if_any()
        item = _save_transition(tx, desk, old._replace(state=compute_state(old.status), deleted_at=None), "restored")
        update_derived(tx, item, None)
    return build_detail(desk, item)


def change_item_type(
    desk: Desk,
    from_type: Type,
    from_id: int,
    to_type: Annotated[str, Field(description="a-z 0-9 _")],
    expected_revision: Revision = None,
) -> RetypedItem:
    """Give an item another type. Number, links and history stay; the old address still leads to it."""
    faults = ItemProblems()
    check_type("to_type", to_type, faults)
    with desk.write() as tx:
        old = require_item(tx, from_type, from_id, lock=True)
        if old.type == to_type:
            faults.add_constraint("to_type", to_type, "The item has this type already")
        faults.raise_if_any()
        if expected_revision is not None and expected_revision != old.revision:
            raise build_stale_error(old, expected_revision)
        tx.run(
            "insert into item_alias (item_id, type) values (:source, :type) on conflict do nothing",
            source=old.id,
            type=old.type,
        )
        tx.run("delete from item_alias where item_id = :source and type = :type", source=old.id, type=to_type)
        item = _save_transition(
            tx, desk, old._replace(type=to_type), "retyped", {"type": {"from": old.type, "to": to_type}}
        )
        tx.put(to_document(item))
    return {**build_detail(desk, item), "previous_address": old.address}


def _save_transition(
    tx: Tx, desk: Desk, item: Item, action: str, changes: dict[str, dict[str, str]] | None = None
) -> Item:
    at = max(now(), item.updated_at)
    item = item._replace(updated_at=at, updated_by=desk.principal.name, revision=item.revision + 1)
    row = to_row(item)
    tx.run(_SET, **{name: row[name] for name in _NAMES})
    record_change(tx, desk, item.id, item.revision, at, action, changes)
    return item


_NAMES = ("id", "type", "state", "deleted_at", "updated_at", "updated_by", "revision")
