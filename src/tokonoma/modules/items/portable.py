"""Whole items, as an export writes and an import reads them: with their numbers, times, revisions and links."""

import json
from typing import NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import Classification, Desk, Rows
from tokonoma.core.namespaces import format_namespace
from tokonoma.modules.items import model
from tokonoma.modules.items.model import Item, StoredComment
from tokonoma.modules.items.tables import COLUMNS

_PAGE = 100
_ITEMS = f"""select {COLUMNS} from item
where id > :after and (:type = '' or type = :type) and {{visible}} order by id limit :most"""  # noqa: S608 - our own
_LINKED = """select l.item_id, l.kind, i.uid, i.type, i.id from item_link l join item i on i.id = l.other_id
where l.item_id in ({numbers}) and l.kind not in ('mentions', 'mentioned_by') and {visible:i}
order by l.item_id, i.id, l.kind"""
_REFERENCES = "select item_id, address from item_reference where item_id in ({numbers}) order by item_id, address"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers}) order by item_id, type"


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
    assignee: NotRequired[str]
    comments: NotRequired[list[StoredComment]]
    links: NotRequired[list[PortableLink]]
    aliases: NotRequired[list[str]]
    created_at: NotRequired[int]
    updated_at: NotRequired[int]
    deleted_at: NotRequired[int | None]
    created_by: NotRequired[str]
    updated_by: NotRequired[str]
    revision: NotRequired[int]
    boundary: NotRequired[Classification]
    edited: NotRequired[bool]  # changed by hand since it was exported
    foreign: NotRequired[bool]  # of another tracker: it has no revision


class ItemExportPage(TypedDict):
    items: list[PortableItem]
    next: NotRequired[int]


def export_items(desk: Desk, after: int = 0, type: str = "", classes: bool = False) -> ItemExportPage:
    """Export a page of items in the order of their numbers; with `classes` also the class of each."""
    rows = desk.rows(_ITEMS, after=after, type=type, most=_PAGE + 1)
    items = [model.to_item(row) for row in rows[:_PAGE]]
    page: ItemExportPage = {"items": to_portable(desk, desk, items)}
    if classes:
        for item, portable in zip(items, page["items"], strict=True):
            portable["boundary"] = item.classification
    if len(rows) > _PAGE:
        page["next"] = items[-1].id
    return page


def to_portable(rows: Rows, desk: Desk, items: list[Item]) -> list[PortableItem]:
    numbers = json.dumps([item.id for item in items])
    links: dict[int, list[PortableLink]] = {}
    for item_id, kind, uid, type, id in rows.rows(_LINKED, numbers=numbers):
        links.setdefault(item_id, []).append({"to": model.format_short_address(type, id), "uid": uid, "kind": kind})
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
            "priority": model.PRIORITIES[item.priority],
            "tags": list(item.tags),
            "comments": list(item.comments),
            "links": links.get(item.id, []),
            "aliases": aliases.get(item.id, []),
        }
        portable.append(
            cast("PortableItem", {name: fields[name] for name in PortableItem.__annotations__ if name in fields})
        )
    return portable
