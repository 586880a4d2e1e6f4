"""items.export: whole items in pages, the trash included. For the owner's own commands: it stands in no catalogue."""

import json
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.desk import Desk, Rows
from tokonoma.modules.items.addresses import format_short_address
from tokonoma.modules.items.export_format import PortableItem, PortableLink, to_portable
from tokonoma.modules.items.item import Item, to_item
from tokonoma.modules.items.tables import COLUMNS

_PAGE = 100
_ITEMS = f"""select {COLUMNS} from item
where id > :after and (:type = '' or type = :type) and {{visible}} order by id limit :most"""  # noqa: S608 - our own
_LINKS = """select l.item_id, l.kind, i.uid, i.type, i.id from item_link l join item i on i.id = l.other_id
where l.item_id in ({numbers}) and {visible:i} order by l.item_id, i.id, l.kind"""
_REFERENCES = "select item_id, address from item_reference where item_id in ({numbers}) order by item_id, address"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers}) order by item_id, type"


class ItemExportPage(TypedDict):
    items: list[PortableItem]
    next: NotRequired[int]


def export_items(desk: Desk, after: int = 0, type: str = "") -> ItemExportPage:
    """A page of items in the order of their numbers."""
    rows = desk.rows(_ITEMS, after=after, type=type, most=_PAGE + 1)
    items = [to_item(row) for row in rows[:_PAGE]]
    page: ItemExportPage = {"items": to_portable_items(desk, desk, items)}
    if len(rows) > _PAGE:
        page["next"] = items[-1].id
    return page


def to_portable_items(rows: Rows, desk: Desk, items: list[Item]) -> list[PortableItem]:
    numbers = json.dumps([item.id for item in items])
    links: dict[int, list[PortableLink]] = {}
    for item_id, kind, uid, type, id in rows.rows(_LINKS, numbers=numbers):
        links.setdefault(item_id, []).append({"to": format_short_address(type, id), "uid": uid, "kind": kind})
    for item_id, address in rows.rows(_REFERENCES, numbers=numbers):
        links.setdefault(item_id, []).append({"to": address, "kind": "related"})
    aliases: dict[int, list[str]] = {}
    for item_id, type in rows.rows(_ALIASES, numbers=numbers):
        aliases.setdefault(item_id, []).append(type)
    return [
        to_portable(
            item, spaces.format_namespace(item.space, desk.principal), links.get(item.id, []), aliases.get(item.id, [])
        )
        for item in items
    ]
