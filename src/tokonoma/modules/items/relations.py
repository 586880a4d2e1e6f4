"""Links between items, and from items to other modules' records; the tools add_relation and remove_relation."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Record, Rows, Tx, format_address
from tokonoma.core.errors import Missing
from tokonoma.modules.items import model
from tokonoma.modules.items.cycles import check_cycle
from tokonoma.modules.items.errors import ItemProblems, check_kind, check_target
from tokonoma.modules.items.model import Item, ItemDetail, ItemRelation, Type
from tokonoma.modules.items.rows import increment_revisions, lock_items, lock_links, require_item, save_change

MAX_RELATIONS = 1000  # that one answer shows
SHOWN_COMMENTS = 20
_MAX_TITLE = 80  # characters of a record's text that stand for a title it has not

_LIVING = "select id, type from item where id in ({numbers}) and state >= 0 and {visible}"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers})"
_RELATIONS = """select l.other_id, l.kind, i.type, i.title, i.status, i.state
from item_link l join item i on i.id = l.other_id
where l.item_id = :id and {visible:i} order by l.other_id, l.kind limit :most"""
_OTHERS = """select distinct l.other_id, i.type from item_link l join item i on i.id = l.other_id
where l.item_id = :id and l.kind not in ('mentions', 'mentioned_by') and i.state >= 0 and {visible:i}"""
_REFERENCES = "select address from item_reference where item_id = :id order by address limit :most"
_LINK = "insert into item_link (item_id, other_id, kind) values (:id, :other, :kind) on conflict do nothing"
_BY_HAND = "kind not in ('mentions', 'mentioned_by')"
_UNLINK = f"""delete from item_link
where (item_id = :id and other_id = :other and (kind = :kind or (:kind = '' and {_BY_HAND})))
    or (item_id = :other and other_id = :id and (kind = :opposite or (:kind = '' and {_BY_HAND})))"""  # noqa: S608
_ADD_REFERENCE = "insert into item_reference (item_id, address) values (:id, :address) on conflict do nothing"
_REMOVE_REFERENCE = "delete from item_reference where item_id = :id and address = :address"

Address = Annotated[str, Field(description="an address")]
Kind = Annotated[str | None, Field(json_schema_extra={"enum": list(model.LINK_KINDS)})]


class RelationChange(TypedDict):
    changed: bool
    address: str
    target: str
    kind: str
    revision: int


@dataclass(slots=True)
class LinkSet:
    """Where addresses lead: items with their types, and records of other modules."""

    items: dict[int, str] = field(default_factory=dict[int, str])
    references: list[str] = field(default_factory=list[str])

    def format_addresses(self) -> list[str]:
        return [*(model.format_short_address(type, id) for id, type in sorted(self.items.items())), *self.references]

    def subtract(self, other: "LinkSet") -> "LinkSet":
        return LinkSet(
            {id: type for id, type in self.items.items() if id not in other.items},
            [address for address in self.references if address not in other.references],
        )


class LinkChange(NamedTuple):
    """What happens to an item's links."""

    added: LinkSet
    removed: LinkSet

    def describe(self) -> dict[str, list[str]]:
        """As the history shows it; empty if nothing happens."""
        return {word: addresses for word, ends in self._asdict().items() if (addresses := ends.format_addresses())}


def add_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> RelationChange:
    """Link an item to another item or record: `type`-`id` is related to (default), blocks, … the target."""
    problems = ItemProblems()
    link_kind = check_kind(kind, problems)
    parsed = check_target("target", target, problems)
    if parsed is not None and parsed.address and link_kind != "related":
        problems.add("kind", kind, "A record of another module can only be `related`")
    check_references(desk, [target], problems)
    with desk.write() as tx:
        item = require_item(tx, type, id)
        ends = resolve_links(tx, [target], ItemProblems() if parsed is None else problems, itself=item.id)
        problems.raise_if_any()
        lock_links(tx)
        lock_items(tx, {item.id, *ends.items})
        if ends.references:
            is_new = ends.references[0] not in list_references(tx, item.id)
            apply_link_change(tx, item.id, LinkChange(ends, LinkSet()))
        else:
            (other,) = ends.items
            is_new = add_link(tx, item.id, other, link_kind)
        if is_new:
            item = _record_link_change(tx, desk, item, link_kind, "added", ends)
    return {"changed": is_new, "address": item.address, "target": target, "kind": link_kind, "revision": item.revision}


def remove_relation(desk: Desk, type: Type, id: int, target: Address, kind: Kind = None) -> RelationChange:
    """Remove a link; without kind, all links between the two."""
    problems = ItemProblems()
    link_kind = check_kind(kind, problems) if kind is not None else ""
    parsed = check_target("target", target, problems)
    problems.raise_if_any()
    assert parsed is not None
    with desk.write() as tx:
        item = require_item(tx, type, id)
        removed, ends = 0, LinkSet()
        if parsed.address:
            ends.references.append(parsed.address)
            removed = tx.run(_REMOVE_REFERENCE, id=item.id, address=parsed.address)
        elif row := tx.row("select id, type from item where id = :id and {visible}", id=parsed.item):
            lock_links(tx)
            lock_items(tx, {item.id, row[0]})
            ends.items[row[0]] = row[1]
            removed = remove_link(tx, item.id, row[0], link_kind)
        if not removed:
            problems.add("target", target, f"{item.address} has no such link to the target", "constraint")
            problems.raise_if_any()
        item = _record_link_change(tx, desk, item, link_kind or "related", "removed", ends)
    kind = link_kind or "any"
    return {"changed": True, "address": item.address, "target": target, "kind": kind, "revision": item.revision}


def find_record(desk: Desk, address: str) -> Record | None:
    """Another module's record, if the caller may see that module and it."""
    try:
        return desk.read(address)
    except Missing:
        return None


def format_title(record: Record) -> str:
    text = record.title.strip() or record.text.strip().partition("\n")[0]
    return text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"


def check_references(desk: Desk, addresses: Sequence[str], problems: ItemProblems, known: Collection[str] = ()) -> None:
    """Other modules are read before a transaction starts: one thread must not hold two connections."""
    for number, address in enumerate(addresses):
        target = model.parse_target(address)
        if target is not None and target.address and address not in known and find_record(desk, address) is None:
            problems.add(f"related[{number}]", address, "Nothing found at this address", "constraint")


def resolve_links(rows: Rows, addresses: Sequence[str], problems: ItemProblems, itself: int | None = None) -> LinkSet:
    """Where these addresses lead; each that leads nowhere is a problem."""
    ids = {target.item for target in map(model.parse_target, addresses) if target and target.item}
    found = _find_types(rows, json.dumps(sorted(ids))) if ids else {}
    ends = LinkSet()
    for number, address in enumerate(addresses):
        place = f"related[{number}]"
        target = check_target(place, address, problems)
        if target is None:
            continue
        if target.address:
            ends.references.append(target.address)
        elif target.item == itself:
            problems.add(place, address, "An item cannot be related to itself")
        elif target.item in found and (target.type is None or target.type in found[target.item]):
            ends.items[target.item] = found[target.item][0]
        else:
            problems.add(place, address, "Nothing found at this address", "constraint")
    return ends


def _find_types(rows: Rows, numbers: str) -> dict[int, tuple[str, ...]]:
    """Living items that the caller sees: the type of each, then those that it had before."""
    found: dict[int, tuple[str, ...]] = {id: (type,) for id, type in rows.rows(_LIVING, numbers=numbers)}
    for id, type in rows.rows(_ALIASES, numbers=numbers):
        if id in found:
            found[id] = (*found[id], type)
    return found


def list_references(rows: Rows, id: int) -> list[str]:
    """The records of other modules that an item refers to. They may have vanished since, and can still be named."""
    return [row[0] for row in rows.rows(_REFERENCES, id=id, most=10**6)]


def plan_link_change(rows: Rows, id: int, wanted: LinkSet) -> LinkChange:
    """What replacing all links by these would do. Links to what is in the trash, or hidden from the caller, stay."""
    current = LinkSet(dict(rows.rows(_OTHERS, id=id)), list_references(rows, id))
    return LinkChange(wanted.subtract(current), current.subtract(wanted))


def apply_link_change(tx: Tx, id: int, change: LinkChange) -> None:
    for other in sorted(change.removed.items):
        remove_link(tx, id, other)
    for other in sorted(change.added.items):
        add_link(tx, id, other, "related")
    for address in change.removed.references:
        tx.run(_REMOVE_REFERENCE, id=id, address=address)
    for address in change.added.references:
        tx.run(_ADD_REFERENCE, id=id, address=address)


def add_link(tx: Tx, id: int, other: int, kind: str) -> bool:
    """True if it is new. Invalid if it would close a circle."""
    check_cycle(tx, id, other, kind)
    added = tx.run(_LINK, id=id, other=other, kind=kind)
    tx.run(_LINK, id=other, other=id, kind=model.OPPOSITE_KIND[kind])
    return added > 0


def remove_link(tx: Tx, id: int, other: int, kind: str = "") -> int:
    """Both rows of the links of this kind between two items; without a kind, of all links."""
    return tx.run(_UNLINK, id=id, other=other, kind=kind, opposite=model.OPPOSITE_KIND.get(kind, ""))


def build_detail(desk: Desk, item: Item, comments: int = SHOWN_COMMENTS) -> ItemDetail:
    """The item with its links: what they lead to, those that lead nowhere any more, and how many are not shown; and its
    newest comments."""
    relations: list[ItemRelation] = []
    vanished: list[str] = []
    rows = desk.rows(_RELATIONS, id=item.id, most=MAX_RELATIONS + 1)
    for id, kind, type, title, status, state in rows[:MAX_RELATIONS]:
        address = model.format_short_address(type, id)
        if state == model.TRASH:
            vanished.append(address)
        else:
            desk.cite(format_address(model.MODULE_NAME, str(id)))
            relations.append(
                {"address": address, "kind": kind, "module": model.MODULE_NAME, "title": title, "status": status}
            )
    references = desk.rows(_REFERENCES, id=item.id, most=MAX_RELATIONS + 1)
    for (address,) in references[:MAX_RELATIONS]:
        if record := find_record(desk, address):
            title = format_title(record)
            relations.append({"address": address, "kind": "related", "module": record.module, "title": title})
        else:
            vanished.append(address)
    detail: ItemDetail = {
        **model.to_summary(desk, item),
        "description": item.description,
        "content": item.content,
        "related": list(dict.fromkeys(each["address"] for each in relations if each["kind"] in model.LINK_KINDS)),
        "relations": relations,
    }
    if vanished:
        detail["vanished"] = vanished
    if more := max(0, len(rows) - MAX_RELATIONS) + max(0, len(references) - MAX_RELATIONS):
        detail["more_relations"] = more
    if item.comments:
        shown = item.comments[max(0, len(item.comments) - comments) :]
        detail["comments"] = [{**each, "at": format_time(each["at"])} for each in shown]
        if more := len(item.comments) - len(shown):
            detail["more_comments"] = more
    return detail


def _record_link_change(tx: Tx, desk: Desk, item: Item, kind: str, word: str, ends: LinkSet) -> Item:
    """A link that was added or removed counts a revision on both of its ends."""
    item = require_item(tx, item.type, item.id, least=model.TRASH)
    item = save_change(tx, desk, item, "linked", {"related": {word: ends.format_addresses(), "kind": kind}})
    tx.put(model.to_document(item), same_text=True)
    changes = {"related": {word: [item.address], "kind": model.OPPOSITE_KIND[kind]}}
    increment_revisions(tx, desk, ends.items, item.updated_at, changes)
    return item
