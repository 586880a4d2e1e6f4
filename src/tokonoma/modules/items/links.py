"""Links: between items both ways in one table, and from items to other modules' records."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from tokonoma.core.desk import Desk, Record, Rows, Tx, parse_address
from tokonoma.core.errors import Missing
from tokonoma.modules.items.addresses import LinkTarget, format_short_address, parse_target
from tokonoma.modules.items.constants import MODULE_NAME, OPPOSITE_KIND
from tokonoma.modules.items.item import Item, ItemRelation
from tokonoma.modules.items.problems import ItemProblems

MAX_RELATIONS = 1000
_TITLE = 80  # characters of a record's text that stand for a title it has not

_THERE = "select id, type from item where id in ({numbers}) and state >= 0 and {visible}"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers})"
_LINKS = """select l.other_id, l.kind, i.type, i.title, i.status, i.state
from item_link l join item i on i.id = l.other_id
where l.item_id = :id and {visible:i} order by l.other_id, l.kind limit :most"""
_OTHERS = """select distinct l.other_id, i.type from item_link l join item i on i.id = l.other_id
where l.item_id = :id and i.state >= 0 and {visible:i}"""
_REFERENCES = "select address from item_reference where item_id = :id order by address limit :most"
_LINK = "insert into item_link (item_id, other_id, kind) values (:source, :other, :kind) on conflict do nothing"
_UNLINK = (
    "delete from item_link where (item_id = :source and other_id = :other) or (item_id = :other and other_id = :source)"
)
_REFER = "insert into item_reference (item_id, address) values (:source, :address) on conflict do nothing"
_UNREFER = "delete from item_reference where item_id = :source and address = :address"


@dataclass(slots=True)
class LinkEnds:
    """Where the addresses of a call lead: items with their types, and records of other modules."""

    items: dict[int, str] = field(default_factory=dict[int, str])
    references: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class LinkChange:
    """What happens to an item's links."""

    added: dict[int, str] = field(default_factory=dict[int, str])  # id → type
    removed: dict[int, str] = field(default_factory=dict[int, str])
    added_references: list[str] = field(default_factory=list[str])
    removed_references: list[str] = field(default_factory=list[str])

    @property
    def touched_ids(self) -> set[int]:
        return {*self.added, *self.removed}

    def describe(self) -> dict[str, list[str]]:
        """As a change remembers it; empty if nothing happens."""
        told = {
            "added": [
                *(format_short_address(type, id) for id, type in sorted(self.added.items())),
                *self.added_references,
            ],
            "removed": [
                *(format_short_address(type, id) for id, type in sorted(self.removed.items())),
                *self.removed_references,
            ],
        }
        return {key: value for key, value in told.items() if value}


def find_record(desk: Desk, address: str) -> Record | None:
    """Another module's record, if the caller may see that module and it."""
    module, _ = parse_address(address)
    if all(shelf.name != module for shelf in desk.server.visible_modules(desk.principal)):
        return None
    try:
        return desk.read(address)
    except Missing:
        return None


def format_title(record: Record) -> str:
    text = record.title.strip() or record.text.strip().partition("\n")[0]
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}…"


def check_references(desk: Desk, written: Sequence[str], faults: ItemProblems, known: Collection[str] = ()) -> None:
    """Other modules are asked before anything is written: one thread must not hold two connections."""
    for number, address in enumerate(written):
        target = parse_target(address)
        if target is not None and target.address and address not in known and find_record(desk, address) is None:
            _report_unknown(f"related[{number}]", address, faults)


def resolve_links(rows: Rows, written: Sequence[str], faults: ItemProblems, itself: int | None = None) -> LinkEnds:
    """Where these addresses lead; each that leads nowhere is a fault."""
    targets = [parse_target(address) for address in written]
    there = find_types(rows, [each.item for each in targets if each is not None and each.item is not None])
    ends = LinkEnds()
    for number, (address, target) in enumerate(zip(written, targets, strict=True)):
        place = f"related[{number}]"
        if target is None:
            faults.add_value(place, address, "It is not an address. One looks like docs-12 or tokonoma://memory/<id>")
        elif target.address:
            ends.references.append(target.address)
        elif target.item == itself:
            faults.add_value(place, address, "An item cannot be related to itself")
        elif target.item is None or not target_exists(target, there):
            _report_unknown(place, address, faults)
        else:
            ends.items[target.item] = there[target.item][0]
    return ends


def find_types(rows: Rows, ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Living items that the caller sees: the type of each, then those that it had before."""
    numbers = json.dumps(sorted(set(ids)))
    if numbers == "[]":
        return {}
    found: dict[int, tuple[str, ...]] = {id: (type,) for id, type in rows.rows(_THERE, numbers=numbers)}
    for id, type in rows.rows(_ALIASES, numbers=numbers):
        if id in found:
            found[id] = (*found[id], type)
    return found


def target_exists(target: LinkTarget, there: dict[int, tuple[str, ...]]) -> bool:
    types = there.get(target.item or 0, ())
    return bool(types) if target.type is None else target.type in types


def plan_link_change(rows: Rows, item: int, wanted: LinkEnds) -> LinkChange:
    """What replacing all links by these would do. Links to what is in the trash, or hidden from the caller, stay."""
    there = dict(rows.rows(_OTHERS, id=item))
    referred = [row[0] for row in rows.rows(_REFERENCES, id=item, most=10**6)]
    return LinkChange(
        {id: type for id, type in wanted.items.items() if id not in there},
        {id: type for id, type in there.items() if id not in wanted.items},
        [address for address in wanted.references if address not in referred],
        [address for address in referred if address not in wanted.references],
    )


def apply_link_change(tx: Tx, item: int, done: LinkChange) -> None:
    for id in sorted(done.removed):
        tx.run(_UNLINK, source=item, other=id)
    for id in sorted(done.added):
        add_link(tx, item, id, "related")
    for address in done.removed_references:
        tx.run(_UNREFER, source=item, address=address)
    for address in done.added_references:
        tx.run(_REFER, source=item, address=address)


def add_link(tx: Tx, item: int, other: int, kind: str) -> bool:
    """True if it is new."""
    made = tx.run(_LINK, source=item, other=other, kind=kind)
    tx.run(_LINK, source=other, other=item, kind=OPPOSITE_KIND[kind])
    return made > 0


def list_relations(desk: Desk, item: Item) -> tuple[list[ItemRelation], list[str], int]:
    """An item's links with what they lead to, those that lead nowhere any more, and how many are not shown."""
    told: list[ItemRelation] = []
    vanished: list[str] = []
    rows = desk.rows(_LINKS, id=item.id, most=MAX_RELATIONS + 1)
    for id, kind, type, title, status, state in rows[:MAX_RELATIONS]:
        if state < 0:
            vanished.append(format_short_address(type, id))
        else:
            told.append(
                {
                    "address": format_short_address(type, id),
                    "kind": kind,
                    "module": MODULE_NAME,
                    "title": title,
                    "status": status,
                }
            )
    addresses = desk.rows(_REFERENCES, id=item.id, most=MAX_RELATIONS + 1)
    for (address,) in addresses[:MAX_RELATIONS]:
        record = find_record(desk, address)
        if record is None:
            vanished.append(address)
        else:
            told.append(
                {"address": address, "kind": "related", "module": record.module, "title": format_title(record)}
            )  # fmt: skip
    more = max(0, len(rows) - MAX_RELATIONS) + max(0, len(addresses) - MAX_RELATIONS)
    return told, vanished, more


def _report_unknown(place: str, address: str, faults: ItemProblems) -> None:
    faults.add_constraint(place, address, "There is nothing at this address")
