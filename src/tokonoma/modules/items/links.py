"""Links: between items both ways in one table, and from items to other modules' records."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import Desk, Record, Rows, Tx
from tokonoma.core.errors import Missing
from tokonoma.modules.items.addresses import Target, short, target_of
from tokonoma.modules.items.constants import MODULE_NAME, OPPOSITE
from tokonoma.modules.items.item import Item, Relation
from tokonoma.modules.items.problems import Faults

MOST_SHOWN = 1000
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
class Ends:
    """Where the addresses of a call lead: items with their types, and records of other modules."""

    items: dict[int, str] = field(default_factory=dict[int, str])
    references: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Shift:
    """What happens to an item's links."""

    added: dict[int, str] = field(default_factory=dict[int, str])  # id → type
    removed: dict[int, str] = field(default_factory=dict[int, str])
    referred: list[str] = field(default_factory=list[str])
    dropped: list[str] = field(default_factory=list[str])

    @property
    def touched(self) -> set[int]:
        return {*self.added, *self.removed}

    def told(self) -> dict[str, list[str]]:
        """As a change remembers it; empty if nothing happens."""
        told = {
            "added": [*(short(type, id) for id, type in sorted(self.added.items())), *self.referred],
            "removed": [*(short(type, id) for id, type in sorted(self.removed.items())), *self.dropped],
        }
        return {key: value for key, value in told.items() if value}


def record_at(desk: Desk, address: str) -> Record | None:
    """Another module's record, if the caller may see that module and it."""
    module, _ = parts_of(address)
    if all(shelf.name != module for shelf in desk.house.shelves(desk.principal)):
        return None
    try:
        return desk.read(address)
    except Missing:
        return None


def title_of(record: Record) -> str:
    text = record.title.strip() or record.text.strip().partition("\n")[0]
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}…"


def check_references(desk: Desk, written: Sequence[str], faults: Faults, known: Collection[str] = ()) -> None:
    """Other modules are asked before anything is written: one thread must not hold two connections."""
    for number, address in enumerate(written):
        target = target_of(address)
        if target is not None and target.address and address not in known and record_at(desk, address) is None:
            _unknown(f"related[{number}]", address, faults)


def resolved(rows: Rows, written: Sequence[str], faults: Faults, itself: int | None = None) -> Ends:
    """Where these addresses lead; each that leads nowhere is a fault."""
    targets = [target_of(address) for address in written]
    there = types_of(rows, [each.item for each in targets if each is not None and each.item is not None])
    ends = Ends()
    for number, (address, target) in enumerate(zip(written, targets, strict=True)):
        place = f"related[{number}]"
        if target is None:
            faults.value(place, address, "It is not an address. One looks like docs-12 or tokonoma://memory/<id>")
        elif target.address:
            ends.references.append(target.address)
        elif target.item == itself:
            faults.value(place, address, "An item cannot be related to itself")
        elif target.item is None or not leads(target, there):
            _unknown(place, address, faults)
        else:
            ends.items[target.item] = there[target.item][0]
    return ends


def types_of(rows: Rows, ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Living items that the caller sees: the type of each, then those that it had before."""
    numbers = json.dumps(sorted(set(ids)))
    if numbers == "[]":
        return {}
    found: dict[int, tuple[str, ...]] = {id: (type,) for id, type in rows.rows(_THERE, numbers=numbers)}
    for id, type in rows.rows(_ALIASES, numbers=numbers):
        if id in found:
            found[id] = (*found[id], type)
    return found


def leads(target: Target, there: dict[int, tuple[str, ...]]) -> bool:
    types = there.get(target.item or 0, ())
    return bool(types) if target.type is None else target.type in types


def shift_of(rows: Rows, item: int, wanted: Ends) -> Shift:
    """What replacing all links by these would do. Links to what is in the trash, or hidden from the caller, stay."""
    there = dict(rows.rows(_OTHERS, id=item))
    referred = [row[0] for row in rows.rows(_REFERENCES, id=item, most=10**6)]
    return Shift(
        {id: type for id, type in wanted.items.items() if id not in there},
        {id: type for id, type in there.items() if id not in wanted.items},
        [address for address in wanted.references if address not in referred],
        [address for address in referred if address not in wanted.references],
    )


def shift(tx: Tx, item: int, done: Shift) -> None:
    for id in sorted(done.removed):
        tx.run(_UNLINK, source=item, other=id)
    for id in sorted(done.added):
        link(tx, item, id, "related")
    for address in done.dropped:
        tx.run(_UNREFER, source=item, address=address)
    for address in done.referred:
        tx.run(_REFER, source=item, address=address)


def link(tx: Tx, item: int, other: int, kind: str) -> bool:
    """True if it is new."""
    made = tx.run(_LINK, source=item, other=other, kind=kind)
    tx.run(_LINK, source=other, other=item, kind=OPPOSITE[kind])
    return made > 0


def relations(desk: Desk, item: Item) -> tuple[list[Relation], list[str], int]:
    """An item's links with what they lead to, those that lead nowhere any more, and how many are not shown."""
    told: list[Relation] = []
    vanished: list[str] = []
    rows = desk.rows(_LINKS, id=item.id, most=MOST_SHOWN + 1)
    for id, kind, type, title, status, state in rows[:MOST_SHOWN]:
        if state < 0:
            vanished.append(short(type, id))
        else:
            told.append(
                {"address": short(type, id), "kind": kind, "module": MODULE_NAME, "title": title, "status": status}
            )
    addresses = desk.rows(_REFERENCES, id=item.id, most=MOST_SHOWN + 1)
    for (address,) in addresses[:MOST_SHOWN]:
        record = record_at(desk, address)
        if record is None:
            vanished.append(address)
        else:
            told.append(
                {"address": address, "kind": "related", "module": record.module, "title": title_of(record)}
            )  # fmt: skip
    more = max(0, len(rows) - MOST_SHOWN) + max(0, len(addresses) - MOST_SHOWN)
    return told, vanished, more


def _unknown(place: str, address: str, faults: Faults) -> None:
    faults.constraint(place, address, "There is nothing at this address")
