"""items.sync and items.sync.links: store items that `tokonoma sync` has merged with those of another home.

They stand in no catalogue. An item that was changed here since it was merged is not overwritten: it is merged again.
Items come first, and then their links: these may lead to any of them.
"""

from typing import NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.items import model
from tokonoma.modules.items.portable import PortableItem, PortableLink, to_portable
from tokonoma.modules.items.relations import add_link, remove_link
from tokonoma.modules.items.rows import lock_links
from tokonoma.modules.items.tables import COLUMNS
from tokonoma.modules.items.transfer import build_item, resolve_link, write_item

_STORED = f"select {COLUMNS} from item where uid = :uid and {{visible}}"  # noqa: S608 - our own columns
_REFER = "insert into item_reference (item_id, address) values (:id, :address) on conflict do nothing"
_UNREFER = "delete from item_reference where item_id = :id and address = :address"


class SyncedItem(TypedDict):
    item: PortableItem
    expected: int  # the revision here that was merged; 0: there was none


class SyncedLinks(TypedDict):
    uid: str
    add: list[PortableLink]
    remove: list[PortableLink]


class ItemSyncOutcome(TypedDict):
    """`moved`: it was changed here meanwhile. `skipped`: it cannot be stored."""

    outcome: str
    revision: NotRequired[int]
    why: NotRequired[str]


class LinkSyncOutcome(TypedDict):
    items: list[PortableItem]  # as they are stored now
    lost: list[dict[str, str]]  # uid, why


def sync_items(desk: Desk, items: list[SyncedItem], dry_run: bool = False, seal: bool = False) -> list[ItemSyncOutcome]:
    """Store merged items without their links; returns the outcome of each, in their order. With `dry_run` nothing is
    written. What the policy refuses is skipped or, with `seal`, stored with the class secret."""
    screened = [(screen_import(desk.policy, each["item"], ("uid",), seal=seal), each["expected"]) for each in items]
    if dry_run:
        return [_store_item(desk, desk, each, expected, None, 0) for each, expected in screened]
    greatest = max((each["item"].get("id", 0) for each in items), default=0)
    with desk.write() as tx:
        return [_store_item(tx, desk, each, expected, tx, greatest) for each, expected in screened]


def sync_links(desk: Desk, items: list[SyncedLinks]) -> LinkSyncOutcome:
    """Add and remove links, after all items are stored; returns the items as they are then."""
    outcome: LinkSyncOutcome = {"items": [], "lost": []}
    with desk.write() as tx:
        lock_links(tx)
        for each in items:
            row = tx.row(_STORED, uid=each["uid"])
            if row is None:
                continue
            item = model.to_item(row)
            for link in each["remove"]:
                _remove(tx, item.id, link)
            for link in each["add"]:
                if why := _add(tx, item.id, link):
                    outcome["lost"].append({"uid": each["uid"], "why": why})
            (portable,) = to_portable(tx, desk, [item])
            outcome["items"].append({**portable, "boundary": item.classification})
    return outcome


def _store_item(
    rows: Rows, desk: Desk, screened: ScreenedImport, expected: int, tx: Tx | None, beyond: int
) -> ItemSyncOutcome:
    given = cast("PortableItem", {**screened.fields, "edited": False, "revision": expected + 1})
    row = rows.row(_STORED, uid=given.get("uid"))
    old = model.to_item(row) if row else None
    if expected != (old.revision if old is not None else 0):
        return {"outcome": "moved"}
    try:
        if screened.refusal or (screened.note and not screened.sealed):
            # A text that the policy here would change is not stored: the change would go back to where it came from.
            raise Invalid(screened.refusal or f"The policy here does not store it as it is. {screened.note}")
        item = build_item(desk, given, old)
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message.removesuffix(" Nothing was changed.")}
    item = item._replace(classification="secret") if screened.sealed else item
    if tx is not None:
        write_item(tx, desk, given, item, {}, beyond)
    return {"outcome": "written", "revision": item.revision}


def _add(tx: Tx, id: int, link: PortableLink) -> str:
    """Why it could not be added; empty if it was."""
    other = resolve_link(tx, link, id)
    if other is None:
        return f"The item that it links to, {link.get('uid') or link['to']}, is not here."
    if isinstance(other, str):
        tx.run(_REFER, id=id, address=other)
        return ""
    try:
        add_link(tx, id, other, link.get("kind", "related"))
    except Invalid as error:  # it would close a circle
        return error.message
    return ""


def _remove(tx: Tx, id: int, link: PortableLink) -> None:
    other = resolve_link(tx, link, id)
    if isinstance(other, int):
        remove_link(tx, id, other, link.get("kind", "related"))
    elif other is not None:
        tx.run(_UNREFER, id=id, address=other)
