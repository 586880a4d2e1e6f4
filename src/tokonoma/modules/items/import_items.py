"""items.import and items.import.links: items from files or from another house, with their numbers, times and revisions.

In no catalogue, as memory's import: an agent must not choose numbers or set clocks back. First the items, then, when
all of them are there, their links.
"""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import uuid7
from tokonoma.modules.items.checks import EARLIEST, LATEST, check_dates, check_type, parse_fields
from tokonoma.modules.items.constants import TRASH
from tokonoma.modules.items.export import to_portable_items
from tokonoma.modules.items.export_format import PortableItem, fill_content_fields
from tokonoma.modules.items.history import record_change
from tokonoma.modules.items.item import Item, compute_state, to_item
from tokonoma.modules.items.merge import ItemMerge, merge_item
from tokonoma.modules.items.problems import ItemProblems
from tokonoma.modules.items.tables import COLUMNS
from tokonoma.modules.items.write import to_row, update_derived

_STORED = f"select {COLUMNS} from item where uid = :uid and {{visible}}"  # noqa: S608 - our own columns
_TAKEN = "select uid from item where id = :id and {visible}"
_COLUMNS = tuple(name.strip() for name in COLUMNS.split(","))
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name not in ("id", "uid"))
_PUT = f"""insert into item ({COLUMNS}) values ({", ".join(f":{name}" for name in _COLUMNS)})
on conflict (uid) do update set {_REPLACED}"""  # noqa: S608 - our own columns
_GREATEST = "select coalesce(max(id), 0) from item where {visible}"


class ItemImportOutcome(TypedDict):
    outcome: str
    address: NotRequired[str]
    uid: NotRequired[str]
    why: NotRequired[str]


class ItemImportResult(TypedDict):
    items: list[ItemImportOutcome]


def import_items(desk: Desk, items: list[PortableItem], dry_run: bool = False, beyond: int = 0) -> ItemImportResult:
    """Items as they were elsewhere, without their links; what becomes of each is told. One whose number is taken gets
    another, beyond those that the rest of the import will want."""
    if dry_run:
        return {"items": [_plan_import(desk, desk, each)[0] for each in items]}
    told: list[ItemImportOutcome] = []
    with desk.write() as tx:
        for each in items:
            landed, new, fate = _plan_import(tx, desk, each)
            if new is not None and fate is not None:
                landed = _write_item(tx, desk, each, new, fate, beyond)
            told.append(landed)
    return {"items": told}


def _plan_import(
    rows: Rows, desk: Desk, given: PortableItem
) -> tuple[ItemImportOutcome, Item | None, ItemMerge | None]:
    """What becomes of it, and the row to write if there is one."""
    uid = given.get("uid")
    row = rows.row(_STORED, uid=uid) if uid else None
    old = to_item(row) if row else None
    fate = merge_item(given, to_portable_items(rows, desk, [old])[0] if old else None)
    landed: ItemImportOutcome = {"outcome": fate.outcome}
    if fate.why:
        landed["why"] = fate.why
    if old is not None:
        landed["address"], landed["uid"] = old.address, old.uid
    if fate.outcome not in ("saved", "changed"):
        return landed, None, fate
    try:
        return landed, _build_item(desk, given, old, fate), fate
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message.removesuffix(" Nothing was changed.")}, None, None


def _build_item(desk: Desk, given: PortableItem, old: Item | None, fate: ItemMerge) -> Item:
    """As it would be stored; Invalid says what is wrong with it."""
    faults, at, who = ItemProblems(), now(), desk.principal
    said_ = fill_content_fields(given)
    check_type("type", said_["type"], faults)
    columns = parse_fields(
        {name: value for name, value in said_.items() if name not in ("type", "start_at", "end_at")}, faults
    )
    check_dates(said_["start_at"], said_["end_at"], None, faults)
    for name in ("start_at", "end_at", "created_at", "updated_at", "deleted_at"):
        moment: Any = given.get(name)
        if moment is not None and not EARLIEST <= moment <= LATEST:
            faults.add_value(name, moment, "Its year must lie between 1000 and 9999")
    faults.raise_if_any()
    item = Item(
        tags=tuple(columns["tags"]),
        id=given.get("id", 0) if 0 < given.get("id", 0) < 2**62 else 0,
        uid=given.get("uid") or uuid7(),
        space=old.space if old else spaces.resolve_namespace(given.get("namespace"), who),
        label=old.label if old else "internal",
        type=said_["type"],
        title=columns["title"],
        description=columns["description"],
        content=columns["content"],
        status=columns["status"],
        priority=columns["priority"],
        state=TRASH if given.get("deleted_at") is not None else compute_state(columns["status"]),
        category=columns["category"],
        start_at=said_["start_at"],
        end_at=said_["end_at"],
        version=columns["version"],
        created_at=given.get("created_at", at),
        updated_at=given.get("updated_at", at),
        deleted_at=given.get("deleted_at"),
        created_by=given.get("created_by") or who.name,
        updated_by=given.get("updated_by") or who.name,
        revision=max(1, given.get("revision", 1)),
    )
    if fate.edited and old is not None:  # by hand, here and now
        item = item._replace(updated_at=max(at, old.updated_at), updated_by=who.name, revision=old.revision + 1)
    return item if old is None else item._replace(id=old.id, created_at=old.created_at, created_by=old.created_by)


def _write_item(tx: Tx, desk: Desk, given: PortableItem, item: Item, fate: ItemMerge, beyond: int) -> ItemImportOutcome:
    landed: ItemImportOutcome = {"outcome": fate.outcome, "uid": item.uid}
    taken = tx.row(_TAKEN, id=item.id) if item.id else None
    if not item.id or (taken is not None and taken[0] != item.uid):
        greatest = tx.row(_GREATEST)
        assert greatest is not None
        number = max(greatest[0], beyond) + 1
        if item.id:
            landed["why"] = f"{item.address} is another item here; it became {item.type}-{number}."
        item = item._replace(id=number)
    tx.run(_PUT, **to_row(item))
    for type in given.get("aliases", ()):
        tx.run(
            "insert into item_alias (item_id, type) values (:id, :type) on conflict do nothing", id=item.id, type=type
        )
    record_change(tx, desk, item.id, item.revision, now(), "imported")
    update_derived(tx, item, None)
    if item.state == TRASH:
        tx.drop(item.uri)
        tx.run("delete from item_hint where item_id = :id", id=item.id)
    return {**landed, "address": item.address}
