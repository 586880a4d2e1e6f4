"""add_relation and remove_relation: one link at a time, with what it means."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items import links
from tokonoma.modules.items.addresses import LinkTarget, format_short_address, parse_target
from tokonoma.modules.items.constants import LINK_KINDS, OPPOSITE_KIND, TRASH
from tokonoma.modules.items.find import require_item
from tokonoma.modules.items.history import increment_revisions, record_change
from tokonoma.modules.items.item import Item, to_document
from tokonoma.modules.items.problems import ItemProblems
from tokonoma.modules.items.write import Type, lock_items, lock_links

Address = Annotated[str, Field(description="docs-12 or tokonoma://<module>/<name>")]
Kind = Annotated[str | None, Field(json_schema_extra={"enum": list(LINK_KINDS)})]

_UNLINK = """delete from item_link where (item_id = :source and other_id = :other and (:kind = '' or kind = :kind))
    or (item_id = :other and other_id = :source and (:kind = '' or kind = :opposite))"""
_ANY = "select type from item where id = :id and {visible}"


class RelationChange(TypedDict):
    changed: bool
    address: str
    target: str
    kind: str
    revision: int


def add_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> RelationChange:
    """Link an item to another item or record. kind (default related): how `type`-`id` stands to the target; the other
    end gets the opposite. An item that is blocked_by an open one is not ready."""
    faults = ItemProblems()
    word = _check_kind(kind, faults)
    end = _check_target(target, faults)
    if end is not None and end.address and word != "related":
        faults.add_value("kind", kind, "A record of another module can only be `related`")
    links.check_references(desk, [target], faults)
    with desk.write() as tx:
        item = require_item(tx, type, id)
        ends = links.resolve_links(tx, [target], ItemProblems() if end is None else faults, itself=item.id)
        faults.raise_if_any()
        lock_links(tx)
        lock_items(tx, {item.id, *ends.items})
        if ends.references:
            done = links.LinkChange(added_references=ends.references)
            known = [row[0] for row in tx.rows("select address from item_reference where item_id = :id", id=item.id)]
            new = ends.references[0] not in known
            links.apply_link_change(tx, item.id, done)
        else:
            (other,) = ends.items
            new = links.add_link(tx, item.id, other, word)
        item = _record_link_change(tx, desk, item, word, "added", target, ends.items) if new else item
    return {"changed": new, "address": item.address, "target": target, "kind": word, "revision": item.revision}


def remove_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> RelationChange:
    """Take a link away, on both ends; without kind every link between the two. The target may have vanished."""
    faults = ItemProblems()
    word = _check_kind(kind, faults) if kind is not None else ""
    end = _check_target(target, faults)
    faults.raise_if_any()
    assert end is not None
    with desk.write() as tx:
        item = require_item(tx, type, id)
        gone, others = 0, {}
        if end.address:
            gone = tx.run(
                "delete from item_reference where item_id = :id and address = :address", id=item.id, address=end.address
            )
        elif end.item is not None and (row := tx.row(_ANY, id=end.item)) is not None:
            lock_links(tx)
            lock_items(tx, {item.id, end.item})
            gone = tx.run(_UNLINK, source=item.id, other=end.item, kind=word, opposite=OPPOSITE_KIND.get(word, ""))
            others = {end.item: row[0]}
        if not gone:
            faults.add_constraint("target", target, f"{item.address} has no such link to it")
            faults.raise_if_any()
        item = _record_link_change(tx, desk, item, word or "related", "removed", target, others)
    return {
        "changed": True,
        "address": item.address,
        "target": target,
        "kind": word or "any",
        "revision": item.revision,
    }


def _record_link_change(
    tx: Tx, desk: Desk, item: Item, kind: str, word: str, target: str, others: dict[int, str]
) -> Item:
    at = max(now(), item.updated_at)
    current = require_item(tx, item.type, item.id, least=TRASH)
    item = current._replace(updated_at=at, updated_by=desk.principal.name, revision=current.revision + 1)
    tx.run(
        """update item set revision = :revision, updated_at = :at, updated_by = :by where id = :id and {visible}""",
        revision=item.revision,
        at=at,
        by=desk.principal.name,
        id=item.id,
    )
    tx.put(to_document(item))
    shown = [format_short_address(type, id) for id, type in others.items()] or [target]
    record_change(tx, desk, item.id, item.revision, at, "linked", {"related": {word: shown, "kind": kind}})
    if others:
        increment_revisions(tx, desk, others, at, {"related": {word: [item.address], "kind": OPPOSITE_KIND[kind]}})
    return item


def _check_kind(kind: str | None, faults: ItemProblems) -> str:
    word = kind or "related"
    if word not in LINK_KINDS:
        faults.add_value("kind", kind, "There is no such kind of link", allowed=list(LINK_KINDS))
    return word


def _check_target(target: str, faults: ItemProblems) -> LinkTarget | None:
    found = parse_target(target)
    if found is None:
        faults.add_value("target", target, "It is not an address. One looks like docs-12 or tokonoma://memory/<id>")
    return found
