"""items.import.links: the links of items that an import has just written, once all of them are there."""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items.addresses import parse_target
from tokonoma.modules.items.constants import LINK_KINDS, OPPOSITE_KIND
from tokonoma.modules.items.export_format import PortableLink
from tokonoma.modules.items.history import increment_revisions
from tokonoma.modules.items.links import add_link, find_types, target_exists
from tokonoma.modules.items.write import lock_links

_ID = "select id from item where uid = :uid and {visible}"
_LINKS = "select other_id, kind from item_link where item_id = :id"
_UNLINK = """delete from item_link where (item_id = :id and other_id = :other and kind = :kind)
    or (item_id = :other and other_id = :id and kind = :opposite)"""


class ItemLinks(TypedDict):
    uid: str
    links: list[PortableLink]


class LostLink(TypedDict):
    uid: str
    to: str


class LinkImportResult(TypedDict):
    linked: int
    unlinked: int
    lost: list[LostLink]


def import_links(desk: Desk, items: list[ItemLinks], accepted: list[str]) -> LinkImportResult:
    """Make the links of each item what its file says. `accepted` names all items that this import has written: on the
    others a new link counts a revision, as it does in every other case."""
    told: LinkImportResult = {"linked": 0, "unlinked": 0, "lost": []}
    with desk.write() as tx:
        lock_links(tx)
        fresh = {row[0] for uid in accepted if (row := tx.row(_ID, uid=uid)) is not None}
        for each in items:
            row = tx.row(_ID, uid=each["uid"])
            if row is not None:
                lost: list[str] = []
                made, gone = _replace_links(tx, row[0], each["links"], lost)
                told["lost"] += [LostLink(uid=each["uid"], to=to) for to in lost]
                told["linked"] += len(made)
                told["unlinked"] += len(gone)
                increment_revisions(tx, desk, {*made, *gone} - fresh, now(), {"related": {"imported": True}})
    return told


def _replace_links(tx: Tx, id: int, links: list[PortableLink], lost: list[str]) -> tuple[set[int], set[int]]:
    wanted: set[tuple[int, str]] = set()
    references: set[str] = set()
    for each in links:
        other = _resolve_link(tx, each)
        if isinstance(other, int) and other != id:
            wanted.add((other, each.get("kind", "related")))
        elif isinstance(other, str):
            references.add(other)
        else:
            lost.append(each["to"])
    there = {(other, kind) for other, kind in tx.rows(_LINKS, id=id)}
    for other, kind in sorted(there - wanted):
        tx.run(_UNLINK, id=id, other=other, kind=kind, opposite=OPPOSITE_KIND[kind])
    for other, kind in sorted(wanted - there):
        add_link(tx, id, other, kind)
    # Whether a record of another module is there is not asked: it may come with another import.
    tx.run("delete from item_reference where item_id = :id", id=id)
    for address in sorted(references):
        tx.run("insert into item_reference (item_id, address) values (:id, :address)", id=id, address=address)
    return {other for other, _ in wanted - there}, {other for other, _ in there - wanted}


def _resolve_link(tx: Tx, link: PortableLink) -> int | str | None:
    """The number of an item, or the address of another module's record; None if it leads nowhere."""
    if link.get("kind", "related") not in LINK_KINDS:
        return None
    if link.get("uid"):
        row = tx.row(_ID, uid=link.get("uid"))
        return row[0] if row else None
    target = parse_target(link["to"])
    if target is None or target.address:
        return target.address if target else None
    assert target.item is not None
    return target.item if target_exists(target, find_types(tx, [target.item])) else None
