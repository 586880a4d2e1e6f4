"""delete_item, restore_item and change_item_type: into the trash and back, and from one type to another."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items.checks import check_type
from tokonoma.modules.items.constants import TRASH
from tokonoma.modules.items.find import found
from tokonoma.modules.items.history import note
from tokonoma.modules.items.item import Item, Whole, document, state_of
from tokonoma.modules.items.problems import Faults
from tokonoma.modules.items.write import Revision, Type, row_of, spread, stale, told

_SET = """update item set type = :type, state = :state, deleted_at = :deleted_at, updated_at = :updated_at,
    updated_by = :updated_by, revision = :revision where id = :id and {visible}"""


class Deleted(TypedDict):
    deleted: bool
    id: int
    type: str
    address: str
    revision: int


class Retyped(Whole):
    previous_address: NotRequired[str]


def delete_item(desk: Desk, type: Type, id: int, expected_revision: Revision = None) -> Deleted:
    """Put an item into the trash: no longer found, its links hidden. restore_item brings both back."""
    with desk.write() as tx:
        old = found(tx, type, id, lock=True)
        if expected_revision is not None and expected_revision != old.revision:
            raise stale(old, expected_revision)
        item = old._replace(state=TRASH, deleted_at=now())
        item = _kept(tx, desk, item, "deleted")
        tx.drop(item.uri)
        tx.run("delete from item_hint where item_id = :id", id=id)
    return {"deleted": True, "id": id, "type": item.type, "address": item.address, "revision": item.revision}


def restore_item(desk: Desk, type: Type, id: int) -> Whole:
    """Take an item out of the trash, with its links, tags and history."""
    with desk.write() as tx:
        old = found(tx, type, id, lock=True, least=TRASH)
        if old.deleted_at is None:
            faults = Faults()
            faults.constraint("id", id, f"{old.address} is not in the trash")
            faults.settle()
        item = _kept(tx, desk, old._replace(state=state_of(old.status), deleted_at=None), "restored")
        spread(tx, item, None)
    return told(desk, item)


def change_item_type(
    desk: Desk,
    from_type: Type,
    from_id: int,
    to_type: Annotated[str, Field(description="a-z 0-9 _")],
    expected_revision: Revision = None,
) -> Retyped:
    """Give an item another type. Number, links and history stay; the old address still leads to it."""
    faults = Faults()
    check_type("to_type", to_type, faults)
    with desk.write() as tx:
        old = found(tx, from_type, from_id, lock=True)
        if old.type == to_type:
            faults.constraint("to_type", to_type, "The item has this type already")
        faults.settle()
        if expected_revision is not None and expected_revision != old.revision:
            raise stale(old, expected_revision)
        tx.run(
            "insert into item_alias (item_id, type) values (:source, :type) on conflict do nothing",
            source=old.id,
            type=old.type,
        )
        tx.run("delete from item_alias where item_id = :source and type = :type", source=old.id, type=to_type)
        item = _kept(tx, desk, old._replace(type=to_type), "retyped", {"type": {"from": old.type, "to": to_type}})
        tx.put(document(item))
    return {**told(desk, item), "previous_address": old.address}


def _kept(tx: Tx, desk: Desk, item: Item, action: str, changes: dict[str, dict[str, str]] | None = None) -> Item:
    at = max(now(), item.updated_at)
    item = item._replace(updated_at=at, updated_by=desk.principal.name, revision=item.revision + 1)
    row = row_of(item)
    tx.run(_SET, **{name: row[name] for name in _NAMES})
    note(tx, desk, item.id, item.revision, at, action, changes)
    return item


_NAMES = ("id", "type", "state", "deleted_at", "updated_at", "updated_by", "revision")
