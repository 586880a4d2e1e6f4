"""items.import and items.import.links: whole items, with their numbers, times and revisions.

They and items.export stand in no catalogue: an agent must not choose numbers or set clocks back. An import writes the
items first and then, when all of them exist, their links.
"""

from typing import Any, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.items import model
from tokonoma.modules.items.errors import EARLIEST, LATEST, ItemProblems, check_dates, check_type, parse_fields
from tokonoma.modules.items.fields import build_blank, check_comments
from tokonoma.modules.items.merge import LocalState, fill_content, merge_foreign, merge_item
from tokonoma.modules.items.model import Item
from tokonoma.modules.items.portable import PortableItem, PortableLink, to_portable
from tokonoma.modules.items.relations import add_link, remove_link, resolve_links
from tokonoma.modules.items.rows import fetch_number, increment_revisions, lock_links, put_item
from tokonoma.modules.items.tables import COLUMNS

_STORED = f"select {COLUMNS} from item where uid = :uid and {{visible}}"  # noqa: S608 - our own columns
_ID = "select id from item where uid = :uid and {visible}"
_OTHERS = """select other_id, kind from item_link
where item_id = :id and kind not in ('mentions', 'mentioned_by')"""
_IMPORTED = """select c.id, c.at from item_change c join item i on i.id = c.item_id
where c.item_id = :id and c.action = 'imported' and {visible:i} order by c.id desc limit 1"""
_CHANGED = """select 1 from item_change c join item i on i.id = c.item_id
where c.item_id = :id and c.id > :after and c.action <> 'linked' and {visible:i} limit 1"""
_REFER = "insert into item_reference (item_id, address) values (:id, :address) on conflict do nothing"

ImportOutcome = dict[str, str]  # outcome; address and uid, if it is stored; why, if it is not obvious; note


class ItemLinks(TypedDict):
    uid: str
    links: list[PortableLink]


class LinkImportResult(TypedDict):
    linked: int
    unlinked: int
    lost: list[dict[str, str]]  # uid, to; why, if the target exists


def import_items(
    desk: Desk, items: list[PortableItem], dry_run: bool = False, beyond: int = 0, seal: bool = False
) -> dict[str, list[ImportOutcome]]:
    """Import items without their links; returns the outcome of each. An item whose number is taken gets one greater
    than `beyond`, which the rest of the import does not need. What the policy refuses is skipped or, with `seal`,
    stored with the class secret."""
    screened = [screen_import(desk.policy, each, ("uid",), seal=seal) for each in items]
    if dry_run:
        return {"items": [_import_item(desk, desk, each) for each in screened]}
    with desk.write() as tx:
        return {"items": [_import_item(tx, desk, each, tx, beyond) for each in screened]}


def import_links(desk: Desk, items: list[ItemLinks], accepted: list[str], only_add: bool = False) -> LinkImportResult:
    """Replace the links of each item by those of its file; with `only_add`, links that the file does not name stay.
    `accepted` lists the items that this import has written; on other items a changed link increments the revision, as
    usual."""
    result: LinkImportResult = {"linked": 0, "unlinked": 0, "lost": []}
    with desk.write() as tx:
        lock_links(tx)
        imported = {row[0] for uid in accepted if (row := tx.row(_ID, uid=uid)) is not None}
        for each in items:
            row = tx.row(_ID, uid=each["uid"])
            if row is None:
                continue
            links = [(link, resolve_link(tx, link, row[0])) for link in each["links"]]
            result["lost"] += [{"uid": each["uid"], "to": link["to"]} for link, other in links if other is None]
            wanted = {(other, link.get("kind", "related")) for link, other in links if isinstance(other, int)}
            linked = {(other, kind) for other, kind in tx.rows(_OTHERS, id=row[0])}
            if only_add:
                wanted |= linked
            for other, kind in sorted(linked - wanted):
                remove_link(tx, row[0], other, kind)
            for other, kind in sorted(wanted - linked):
                try:
                    add_link(tx, row[0], other, kind)
                except Invalid as error:  # it would close a circle
                    wanted.discard((other, kind))
                    to = next(link["to"] for link, end in links if (end, link.get("kind", "related")) == (other, kind))
                    result["lost"].append({"uid": each["uid"], "to": to, "why": error.message})
            # Whether a record of another module exists is not checked: it may come with another import.
            if not only_add:
                tx.run("delete from item_reference where item_id = :id", id=row[0])
            for address in sorted({other for _, other in links if isinstance(other, str)}):
                tx.run(_REFER, id=row[0], address=address)
            added, removed = ({other for other, _ in ends} for ends in (wanted - linked, linked - wanted))
            result["linked"] += len(added)
            result["unlinked"] += len(removed)
            increment_revisions(tx, desk, (added | removed) - imported, desk.now(), {"related": {"imported": True}})
    return result


def _import_item(
    rows: Rows, desk: Desk, screened: ScreenedImport, tx: Tx | None = None, beyond: int = 0
) -> ImportOutcome:
    """What becomes of it. Written as well if there is a transaction."""
    given = cast("PortableItem", screened.fields)
    row = rows.row(_STORED, uid=given.get("uid")) if given.get("uid") else None
    old = model.to_item(row) if row else None
    stored = to_portable(rows, desk, [old])[0] if old else None
    if given.get("foreign"):
        merged, why = merge_foreign(given, stored, _read_local_state(rows, old.id) if old else LocalState())
    else:
        merged, why = merge_item(given, stored)
    outcome: ImportOutcome = {"outcome": merged, "why": why} if why else {"outcome": merged}
    if old is not None:
        outcome |= {"address": old.address, "uid": old.uid}
    if merged not in ("saved", "changed"):
        return outcome
    if screened.refusal:
        return {"outcome": "skipped", "why": screened.refusal}
    outcome |= {"note": screened.note} if screened.note else {}
    try:
        item = build_item(desk, given, old)
        item = item._replace(classification="secret") if screened.sealed else item
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message.removesuffix(" Nothing was changed.")}
    return outcome if tx is None else write_item(tx, desk, given, item, {**outcome, "uid": item.uid}, beyond)


def _read_local_state(rows: Rows, id: int) -> LocalState:
    """Links do not count: they come and go with the other items of an import."""
    row = rows.row(_IMPORTED, id=id)
    last, at = row if row is not None else (0, 0)
    changed = rows.row(_CHANGED, id=id, after=last) is not None
    return LocalState(at, changed)


def build_item(desk: Desk, given: PortableItem, old: Item | None) -> Item:
    """The item as it would be stored; Invalid says what is wrong with it."""
    problems, who, fields = ItemProblems(), desk.principal, cast("dict[str, Any]", given)
    content = fill_content(given)
    type, start, end = content.pop("type"), content.pop("start_at"), content.pop("end_at")
    comments = check_comments(content.pop("comments"), problems)
    check_type("type", type, problems)
    columns = parse_fields(content, problems)
    check_dates(start, end, None, problems)
    for name in ("start_at", "end_at", "created_at", "updated_at", "deleted_at"):
        if fields.get(name) is not None and not EARLIEST <= fields[name] <= LATEST:
            problems.add(name, fields[name], "The year must be between 1000 and 9999")
    problems.raise_if_any()
    kept = ("uid", "created_at", "updated_at", "deleted_at", "created_by", "updated_by")
    id, is_deleted = given.get("id", 0), given.get("deleted_at") is not None
    item = build_blank(desk, type)._replace(
        **{name: fields[name] for name in kept if fields.get(name) not in (None, "")},
        **{**columns, "tags": tuple(columns["tags"]), "start_at": start, "end_at": end, "comments": comments},
        id=id if 0 < id < 2**62 else 0,
        state=model.TRASH if is_deleted else model.compute_state(columns["status"]),
        revision=max(1, given.get("revision", 1)),
    )
    if old is None:
        item = item._replace(classification=given.get("boundary", item.classification))
        return item._replace(namespace=resolve_namespace(given.get("namespace"), who))
    if given.get("foreign"):
        item = item._replace(revision=old.revision + 1)
    elif given.get("edited", True):  # by hand, here and now
        item = item._replace(updated_at=max(desk.now(), old.updated_at), updated_by=who.name, revision=old.revision + 1)
    same = ("id", "namespace", "classification", "created_at", "created_by")
    return item._replace(**{name: getattr(old, name) for name in same})


def write_item(
    tx: Tx, desk: Desk, given: PortableItem, item: Item, outcome: ImportOutcome, beyond: int
) -> ImportOutcome:
    taken = tx.row("select uid from item where id = :id and {visible}", id=item.id) if item.id else None
    if not item.id or (taken is not None and taken[0] != item.uid):
        number = max(fetch_number(tx, "select coalesce(max(id), 0) from item where {visible}"), beyond) + 1
        if item.id:
            outcome["why"] = f"{item.address} is taken by another item; it became {item.type}-{number}."
        item = item._replace(id=number)
    put_item(tx, desk, item, given.get("aliases", ()))
    return {**outcome, "address": item.address}


def resolve_link(tx: Tx, link: PortableLink, itself: int) -> int | str | None:
    """The number of another item, or the address of another module's record; None if it leads nowhere."""
    if link.get("kind", "related") not in model.LINK_KINDS:
        return None
    if uid := link.get("uid"):
        row = tx.row(_ID, uid=uid)
        return row[0] if row and row[0] != itself else None
    ends = resolve_links(tx, [link["to"]], ItemProblems(), itself)
    return next(iter((*ends.items, *ends.references)), None)
