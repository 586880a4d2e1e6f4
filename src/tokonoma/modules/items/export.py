"""items.export: whole items in pages, the trash included. For the owner's own commands: it stands in no catalogue."""

import json
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.desk import Desk, Rows
from tokonoma.modules.items.addresses import short
from tokonoma.modules.items.export_format import CarriedItem, CarriedLink, carried
from tokonoma.modules.items.item import Item, item_of
from tokonoma.modules.items.tables import COLUMNS

_PAGE = 100
_ITEMS = f"""select {COLUMNS} from item
where id > :after and (:type = '' or type = :type) and {{visible}} order by id limit :most"""  # noqa: S608 - our own
_LINKS = """select l.item_id, l.kind, i.uid, i.type, i.id from item_link l join item i on i.id = l.other_id
where l.item_id in ({numbers}) and {visible:i} order by l.item_id, i.id, l.kind"""
_REFERENCES = "select item_id, address from item_reference where item_id in ({numbers}) order by item_id, address"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers}) order by item_id, type"


class Page(TypedDict):
    items: list[CarriedItem]
    next: NotRequired[int]


def hand_out(desk: Desk, after: int = 0, type: str = "") -> Page:
    """A page of items in the order of their numbers."""
    rows = desk.rows(_ITEMS, after=after, type=type, most=_PAGE + 1)
    items = [item_of(row) for row in rows[:_PAGE]]
    page: Page = {"items": whole(desk, desk, items)}
    if len(rows) > _PAGE:
        page["next"] = items[-1].id
    return page


def whole(rows: Rows, desk: Desk, items: list[Item]) -> list[CarriedItem]:
    numbers = json.dumps([item.id for item in items])
    links: dict[int, list[CarriedLink]] = {}
    for item_id, kind, uid, type, id in rows.rows(_LINKS, numbers=numbers):
        links.setdefault(item_id, []).append({"to": short(type, id), "uid": uid, "kind": kind})
    for item_id, address in rows.rows(_REFERENCES, numbers=numbers):
        links.setdefault(item_id, []).append({"to": address, "kind": "related"})
    aliases: dict[int, list[str]] = {}
    for item_id, type in rows.rows(_ALIASES, numbers=numbers):
        aliases.setdefault(item_id, []).append(type)
    return [
        carried(item, spaces.shown(item.space, desk.principal), links.get(item.id, []), aliases.get(item.id, []))
        for item in items
    ]
