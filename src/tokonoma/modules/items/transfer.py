"""items.export, items.import and items.import.links: whole items, with their numbers, times and revisions.

They stand in no catalogue: an agent must not choose numbers or set clocks back. An import writes the items first and
then, when all of them exist, their links.
"""

import json
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import format_namespace, resolve_namespace
from tokonoma.modules.items.errors import EARLIEST, LATEST, ItemProblems, check_dates, check_type, parse_fields
from tokonoma.modules.items.model import (
    LINK_KINDS,
    PRIORITIES,
    TRASH,
    Item,
    compute_state,
    format_short_address,
    parse_target,
    to_item,
    to_row,
)
from tokonoma.modules.items.relations import add_link, find_types, remove_link, target_exists
from tokonoma.modules.items.rows import drop_derived, increment_revisions, lock_links, record_change, update_derived
from tokonoma.modules.items.tables import COLUMN_NAMES, COLUMNS
from tokonoma.modules.items.write import build_blank

_PAGE = 100
_ITEMS = f"""select {COLUMNS} from item
where id > :after and (:type = '' or type = :type) and {{visible}} order by id limit :most"""  # noqa: S608 - our own
_LINKED = """select l.item_id, l.kind, i.uid, i.type, i.id from item_link l join item i on i.id = l.other_id
where l.item_id in ({numbers}) and {visible:i} order by l.item_id, i.id, l.kind"""
_REFERENCES = "select item_id, address from item_reference where item_id in ({numbers}) order by item_id, address"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers}) order by item_id, type"
_STORED = f"select {COLUMNS} from item where uid = :uid and {{visible}}"  # noqa: S608 - our own columns
_ID = "select id from item where uid = :uid and {visible}"
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in COLUMN_NAMES if name not in ("id", "uid"))
_PUT = f"""insert into item ({COLUMNS}) values ({", ".join(f":{name}" for name in COLUMN_NAMES)})
on conflict (uid) do update set {_REPLACED}"""  # noqa: S608 - our own columns

Outcome = Literal["saved", "changed", "unchanged", "kept", "conflict", "skipped"]
# What an item says; the other fields tell where it comes from.
_CONTENT: dict[str, Any] = {
    "type": "", "title": "", "description": "", "content": "", "status": "Open", "priority": "MEDIUM", "category": "",
    "start_at": None, "end_at": None, "version": "", "tags": [],
}  # fmt: skip


_EXPORTED = (
    "uid", "id", "namespace", *_CONTENT, "links", "aliases", "created_at", "updated_at", "deleted_at", "created_by",
    "updated_by", "revision",
)  # fmt: skip


class PortableLink(TypedDict):
    to: str  # an address, as people read it
    uid: NotRequired[str]  # of an item: on another server, the address may be that of another item
    kind: NotRequired[str]


class PortableItem(TypedDict):
    """Times are milliseconds. `uid`, `id` and `revision` are missing in a file that was written by hand."""

    uid: NotRequired[str]
    id: NotRequired[int]
    namespace: NotRequired[str]
    type: str
    title: str
    description: NotRequired[str]
    content: NotRequired[str]
    status: NotRequired[str]
    priority: NotRequired[str]
    category: NotRequired[str]
    start_at: NotRequired[int | None]
    end_at: NotRequired[int | None]
    version: NotRequired[str]
    tags: NotRequired[list[str]]
    links: NotRequired[list[PortableLink]]
    aliases: NotRequired[list[str]]
    created_at: NotRequired[int]
    updated_at: NotRequired[int]
    deleted_at: NotRequired[int | None]
    created_by: NotRequired[str]
    updated_by: NotRequired[str]
    revision: NotRequired[int]
    edited: NotRequired[bool]  # changed by hand since it was exported


class ItemExportPage(TypedDict):
    items: list[PortableItem]
    next: NotRequired[int]


class ItemImportOutcome(TypedDict):
    outcome: str
    address: NotRequired[str]
    uid: NotRequired[str]
    why: NotRequired[str]


class ItemImportResult(TypedDict):
    items: list[ItemImportOutcome]


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


def export_items(desk: Desk, after: int = 0, type: str = "") -> ItemExportPage:
    """A page of items in the order of their numbers."""
    rows = desk.rows(_ITEMS, after=after, type=type, most=_PAGE + 1)
    items = [to_item(row) for row in rows[:_PAGE]]
    page: ItemExportPage = {"items": _to_portable(desk, desk, items)}
    if len(rows) > _PAGE:
        page["next"] = items[-1].id
    return page


def import_items(desk: Desk, items: list[PortableItem], dry_run: bool = False, beyond: int = 0) -> ItemImportResult:
    """Items as they were elsewhere, without their links; what becomes of each is told. One whose number is taken gets
    another, beyond those that the rest of the import will want."""
    if dry_run:
        return {"items": [_import_item(desk, desk, given) for given in items]}
    with desk.write() as tx:
        return {"items": [_import_item(tx, desk, given, tx, beyond) for given in items]}


def import_links(desk: Desk, items: list[ItemLinks], accepted: list[str]) -> LinkImportResult:
    """Make the links of each item what its file says. `accepted` names all items that this import has written: on the
    others a new link counts a revision, as it does in every other case."""
    result: LinkImportResult = {"linked": 0, "unlinked": 0, "lost": []}
    with desk.write() as tx:
        lock_links(tx)
        imported = {row[0] for uid in accepted if (row := tx.row(_ID, uid=uid)) is not None}
        for each in items:
            row = tx.row(_ID, uid=each["uid"])
            if row is not None:
                lost: list[str] = []
                added, removed = _replace_links(tx, row[0], each["links"], lost)
                result["lost"] += [LostLink(uid=each["uid"], to=to) for to in lost]
                result["linked"] += len(added)
                result["unlinked"] += len(removed)
                changes = {"related": {"imported": True}}
                increment_revisions(tx, desk, {*added, *removed} - imported, now(), changes)
    return result


def merge_item(new: PortableItem, stored: PortableItem | None) -> tuple[Outcome, str]:
    """What becomes of an imported item beside the stored one, and why. Pure.

    An import never discards a change that was made here. A file that was not edited since its export is only older or
    newer; an edited one counts if the item is still at the revision of the export, and is a conflict otherwise.
    """
    if stored is None:
        return "saved", ""
    if _to_comparable(new) == _to_comparable(stored):
        return "unchanged", ""
    theirs, ours = new.get("revision", 0), stored.get("revision", 0)
    edited = new.get("edited", True)
    if stored.get("deleted_at") is not None and new.get("deleted_at") is None:
        return "conflict" if edited else "kept", "It is in the trash here; restore_item brings it back."
    if edited:
        if theirs == ours:
            return "changed", ""
        return "conflict", f"The file was edited at revision {theirs}, and here it is at {ours}."
    if theirs > ours:
        return "changed", ""
    if theirs < ours:
        return "kept", f"It is newer here: revision {ours}, and {theirs} came."
    return "conflict", f"It was changed here and there since revision {ours - 1}."


def _to_comparable(item: PortableItem) -> tuple[dict[str, Any], set[tuple[str, str]], bool]:
    """What an item says, its links by what does not change (a uid or another module's address), and its state."""
    links = {(link.get("uid") or link["to"], link.get("kind", "related")) for link in item.get("links", ())}
    return _fill_content(item), links, item.get("deleted_at") is not None


def _fill_content(item: PortableItem) -> dict[str, Any]:
    """The fields of the content, with defaults for what is left out."""
    return {name: item.get(name, default) for name, default in _CONTENT.items()}


def _to_portable(rows: Rows, desk: Desk, items: list[Item]) -> list[PortableItem]:
    numbers = json.dumps([item.id for item in items])
    links: dict[int, list[PortableLink]] = {}
    for item_id, kind, uid, type, id in rows.rows(_LINKED, numbers=numbers):
        links.setdefault(item_id, []).append({"to": format_short_address(type, id), "uid": uid, "kind": kind})
    for item_id, address in rows.rows(_REFERENCES, numbers=numbers):
        links.setdefault(item_id, []).append({"to": address, "kind": "related"})
    aliases: dict[int, list[str]] = {}
    for item_id, type in rows.rows(_ALIASES, numbers=numbers):
        aliases.setdefault(item_id, []).append(type)
    portable: list[PortableItem] = []
    for item in items:
        fields = {
            **item._asdict(),
            "namespace": format_namespace(item.namespace, desk.principal),
            "priority": PRIORITIES[item.priority],
            "tags": list(item.tags),
            "links": links.get(item.id, []),
            "aliases": aliases.get(item.id, []),
        }
        portable.append(cast("PortableItem", {name: fields[name] for name in _EXPORTED}))
    return portable


def _import_item(
    rows: Rows, desk: Desk, given: PortableItem, tx: Tx | None = None, beyond: int = 0
) -> ItemImportOutcome:
    """What becomes of it. Written as well if there is a transaction."""
    row = rows.row(_STORED, uid=given.get("uid")) if given.get("uid") else None
    old = to_item(row) if row else None
    merged, why = merge_item(given, _to_portable(rows, desk, [old])[0] if old else None)
    outcome: ItemImportOutcome = {"outcome": merged}
    if why:
        outcome["why"] = why
    if old is not None:
        outcome["address"], outcome["uid"] = old.address, old.uid
    if merged not in ("saved", "changed"):
        return outcome
    try:
        item = _build_item(desk, given, old)
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message.removesuffix(" Nothing was changed.")}
    return outcome if tx is None else _write_item(tx, desk, given, item, {"outcome": merged, "uid": item.uid}, beyond)


def _build_item(desk: Desk, given: PortableItem, old: Item | None) -> Item:
    """The item as it would be stored; Invalid says what is wrong with it."""
    problems, who, fields = ItemProblems(), desk.principal, cast("dict[str, Any]", given)
    content = _fill_content(given)
    type, start, end = content.pop("type"), content.pop("start_at"), content.pop("end_at")
    check_type("type", type, problems)
    columns = parse_fields(content, problems)
    check_dates(start, end, None, problems)
    for name in ("start_at", "end_at", "created_at", "updated_at", "deleted_at"):
        if fields.get(name) is not None and not EARLIEST <= fields[name] <= LATEST:
            problems.add_value(name, fields[name], "Its year must lie between 1000 and 9999")
    problems.raise_if_any()
    kept = ("uid", "created_at", "updated_at", "deleted_at", "created_by", "updated_by")
    id, is_deleted = given.get("id", 0), given.get("deleted_at") is not None
    item = build_blank(desk, type)._replace(
        **{name: fields[name] for name in kept if fields.get(name) not in (None, "")},
        **{**columns, "tags": tuple(columns["tags"]), "start_at": start, "end_at": end},
        id=id if 0 < id < 2**62 else 0,
        state=TRASH if is_deleted else compute_state(columns["status"]),
        revision=max(1, given.get("revision", 1)),
    )
    if old is None:
        return item._replace(namespace=resolve_namespace(given.get("namespace"), who))
    if given.get("edited", True):  # by hand, here and now
        item = item._replace(updated_at=max(now(), old.updated_at), updated_by=who.name, revision=old.revision + 1)
    same = ("id", "namespace", "classification", "created_at", "created_by")
    return item._replace(**{name: getattr(old, name) for name in same})


def _write_item(
    tx: Tx, desk: Desk, given: PortableItem, item: Item, outcome: ItemImportOutcome, beyond: int
) -> ItemImportOutcome:
    taken = tx.row("select uid from item where id = :id and {visible}", id=item.id) if item.id else None
    if not item.id or (taken is not None and taken[0] != item.uid):
        greatest = tx.row("select coalesce(max(id), 0) from item where {visible}")
        assert greatest is not None
        number = max(greatest[0], beyond) + 1
        if item.id:
            outcome["why"] = f"{item.address} is another item here; it became {item.type}-{number}."
        item = item._replace(id=number)
    tx.run(_PUT, **to_row(item))
    aliases = [{"id": item.id, "type": type} for type in given.get("aliases", ())]
    if aliases:
        tx.run_many("insert into item_alias (item_id, type) values (:id, :type) on conflict do nothing", aliases)
    record_change(tx, desk, item.id, item.revision, now(), "imported")
    update_derived(tx, item, None)
    if item.state == TRASH:
        drop_derived(tx, item)
    return {**outcome, "address": item.address}


def _replace_links(tx: Tx, id: int, links: list[PortableLink], lost: list[str]) -> tuple[set[int], set[int]]:
    """Returns the other ends of the links that were added and removed."""
    wanted: set[tuple[int, str]] = set()
    references: set[str] = set()
    for link in links:
        other = _resolve_link(tx, link)
        if isinstance(other, int) and other != id:
            wanted.add((other, link.get("kind", "related")))
        elif isinstance(other, str):
            references.add(other)
        else:
            lost.append(link["to"])
    linked = {
        (other, kind) for other, kind in tx.rows("select other_id, kind from item_link where item_id = :id", id=id)
    }
    for other, kind in sorted(linked - wanted):
        remove_link(tx, id, other, kind)
    for other, kind in sorted(wanted - linked):
        add_link(tx, id, other, kind)
    # Whether a record of another module exists is not checked: it may come with another import.
    tx.run("delete from item_reference where item_id = :id", id=id)
    for address in sorted(references):
        tx.run("insert into item_reference (item_id, address) values (:id, :address)", id=id, address=address)
    return {other for other, _ in wanted - linked}, {other for other, _ in linked - wanted}


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
