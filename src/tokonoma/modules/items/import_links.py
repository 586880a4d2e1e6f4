"""items.import.links: the links of items that an import has just written, once all of them are there."""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items.addresses import target_of
from tokonoma.modules.items.constants import KINDS, OPPOSITE
from tokonoma.modules.items.export_format import CarriedLink
from tokonoma.modules.items.history import bump
from tokonoma.modules.items.links import leads, link, types_of
from tokonoma.modules.items.write import gate

_ID = "select id from item where uid = :uid and {visible}"
_LINKS = "select other_id, kind from item_link where item_id = :id"
_UNLINK = """delete from item_link where (item_id = :id and other_id = :other and kind = :kind)
    or (item_id = :other and other_id = :id and kind = :opposite)"""


class Linked(TypedDict):
    uid: str
    links: list[CarriedLink]


class Lost(TypedDict):
    uid: str
    to: str


class LinkLanding(TypedDict):
    linked: int
    unlinked: int
    lost: list[Lost]


def take_in_links(desk: Desk, items: list[Linked], accepted: list[str]) -> LinkLanding:
    """Make the links of each item what its file says. `accepted` names all items that this import has written: on the
    others a new link counts a revision, as it does in every other case."""
    told: LinkLanding = {"linked": 0, "unlinked": 0, "lost": []}
    with desk.write() as tx:
        gate(tx)
        fresh = {row[0] for uid in accepted if (row := tx.row(_ID, uid=uid)) is not None}
        for each in items:
            row = tx.row(_ID, uid=each["uid"])
            if row is not None:
                lost: list[str] = []
                made, gone = _replaced(tx, row[0], each["links"], lost)
                told["lost"] += [Lost(uid=each["uid"], to=to) for to in lost]
                told["linked"] += len(made)
                told["unlinked"] += len(gone)
                bump(tx, desk, {*made, *gone} - fresh, now(), {"related": {"imported": True}})
    return told


def _replaced(tx: Tx, id: int, links: list[CarriedLink], lost: list[str]) -> tuple[set[int], set[int]]:
    wanted: set[tuple[int, str]] = set()
    references: set[str] = set()
    for each in links:
        other = _other(tx, each)
        if isinstance(other, int) and other != id:
            wanted.add((other, each.get("kind", "related")))
        elif isinstance(other, str):
            references.add(other)
        else:
            lost.append(each["to"])
    there = {(other, kind) for other, kind in tx.rows(_LINKS, id=id)}
    for other, kind in sorted(there - wanted):
        tx.run(_UNLINK, id=id, other=other, kind=kind, opposite=OPPOSITE[kind])
    for other, kind in sorted(wanted - there):
        link(tx, id, other, kind)
    # Whether a record of another module is there is not asked: it may come with another import.
    tx.run("delete from item_reference where item_id = :id", id=id)
    for address in sorted(references):
        tx.run("insert into item_reference (item_id, address) values (:id, :address)", id=id, address=address)
    return {other for other, _ in wanted - there}, {other for other, _ in there - wanted}


def _other(tx: Tx, link: CarriedLink) -> int | str | None:
    """The number of an item, or the address of another module's record; None if it leads nowhere."""
    if link.get("kind", "related") not in KINDS:
        return None
    if link.get("uid"):
        row = tx.row(_ID, uid=link.get("uid"))
        return row[0] if row else None
    target = target_of(link["to"])
    if target is None or target.address:
        return target.address if target else None
    assert target.item is not None
    return target.item if leads(target, types_of(tx, [target.item])) else None
