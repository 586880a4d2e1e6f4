"""add_relation and remove_relation: one link at a time, with what it means."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items import links
from tokonoma.modules.items.addresses import Target, short, target_of
from tokonoma.modules.items.constants import KINDS, OPPOSITE, TRASH
from tokonoma.modules.items.find import found
from tokonoma.modules.items.history import bump, note
from tokonoma.modules.items.item import Item, document
from tokonoma.modules.items.problems import Faults
from tokonoma.modules.items.write import Type, gate, lock

Address = Annotated[str, Field(description="docs-12 or tokonoma://<module>/<name>")]
Kind = Annotated[str | None, Field(json_schema_extra={"enum": list(KINDS)})]

_UNLINK = """delete from item_link where (item_id = :source and other_id = :other and (:kind = '' or kind = :kind))
    or (item_id = :other and other_id = :source and (:kind = '' or kind = :opposite))"""
_ANY = "select type from item where id = :id and {visible}"


class Related(TypedDict):
    changed: bool
    address: str
    target: str
    kind: str
    revision: int


def add_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> Related:
    """Link an item to another item or record. kind (default related): how `type`-`id` stands to the target; the other
    end gets the opposite. An item that is blocked_by an open one is not ready."""
    faults = Faults()
    word = _kind(kind, faults)
    end = _target(target, faults)
    if end is not None and end.address and word != "related":
        faults.value("kind", kind, "A record of another module can only be `related`")
    links.check_references(desk, [target], faults)
    with desk.write() as tx:
        item = found(tx, type, id)
        ends = links.resolved(tx, [target], Faults() if end is None else faults, itself=item.id)
        faults.settle()
        gate(tx)
        lock(tx, {item.id, *ends.items})
        if ends.references:
            done = links.Shift(referred=ends.references)
            known = [row[0] for row in tx.rows("select address from item_reference where item_id = :id", id=item.id)]
            new = ends.references[0] not in known
            links.shift(tx, item.id, done)
        else:
            (other,) = ends.items
            new = links.link(tx, item.id, other, word)
        item = _noted(tx, desk, item, word, "added", target, ends.items) if new else item
    return {"changed": new, "address": item.address, "target": target, "kind": word, "revision": item.revision}


def remove_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> Related:
    """Take a link away, on both ends; without kind every link between the two. The target may have vanished."""
    faults = Faults()
    word = _kind(kind, faults) if kind is not None else ""
    end = _target(target, faults)
    faults.settle()
    assert end is not None
    with desk.write() as tx:
        item = found(tx, type, id)
        gone, others = 0, {}
        if end.address:
            gone = tx.run(
                "delete from item_reference where item_id = :id and address = :address", id=item.id, address=end.address
            )
        elif end.item is not None and (row := tx.row(_ANY, id=end.item)) is not None:
            gate(tx)
            lock(tx, {item.id, end.item})
            gone = tx.run(_UNLINK, source=item.id, other=end.item, kind=word, opposite=OPPOSITE.get(word, ""))
            others = {end.item: row[0]}
        if not gone:
            faults.constraint("target", target, f"{item.address} has no such link to it")
            faults.settle()
        item = _noted(tx, desk, item, word or "related", "removed", target, others)
    return {
        "changed": True,
        "address": item.address,
        "target": target,
        "kind": word or "any",
        "revision": item.revision,
    }


def _noted(tx: Tx, desk: Desk, item: Item, kind: str, word: str, target: str, others: dict[int, str]) -> Item:
    at = max(now(), item.updated_at)
    current = found(tx, item.type, item.id, least=TRASH)
    item = current._replace(updated_at=at, updated_by=desk.principal.name, revision=current.revision + 1)
    tx.run(
        """update item set revision = :revision, updated_at = :at, updated_by = :by where id = :id and {visible}""",
        revision=item.revision,
        at=at,
        by=desk.principal.name,
        id=item.id,
    )
    tx.put(document(item))
    shown = [short(type, id) for id, type in others.items()] or [target]
    note(tx, desk, item.id, item.revision, at, "linked", {"related": {word: shown, "kind": kind}})
    if others:
        bump(tx, desk, others, at, {"related": {word: [item.address], "kind": OPPOSITE[kind]}})
    return item


def _kind(kind: str | None, faults: Faults) -> str:
    word = kind or "related"
    if word not in KINDS:
        faults.value("kind", kind, "There is no such kind of link", allowed=list(KINDS))
    return word


def _target(target: str, faults: Faults) -> Target | None:
    found = target_of(target)
    if found is None:
        faults.value("target", target, "It is not an address. One looks like docs-12 or tokonoma://memory/<id>")
    return found
