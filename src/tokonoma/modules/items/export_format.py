"""An item as it travels: everything about it, for a file or for another house."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from tokonoma.modules.items.constants import PRIORITIES
from tokonoma.modules.items.item import Item


class PortableLink(TypedDict):
    to: str  # an address, as people read it
    uid: NotRequired[str]  # of an item; two houses count alike, so the address alone may mean another one
    kind: NotRequired[str]


class PortableItem(TypedDict):
    """Times are milliseconds. `uid`, `id` and `revision` are missing where somebody wrote the file by hand."""

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


def to_portable(item: Item, namespace: str, links: list[PortableLink], aliases: list[str]) -> PortableItem:
    return {
        "uid": item.uid,
        "id": item.id,
        "namespace": namespace,
        "type": item.type,
        "title": item.title,
        "description": item.description,
        "content": item.content,
        "status": item.status,
        "priority": PRIORITIES[item.priority],
        "category": item.category,
        "start_at": item.start_at,
        "end_at": item.end_at,
        "version": item.version,
        "tags": list(item.tags),
        "links": links,
        "aliases": aliases,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "deleted_at": item.deleted_at,
        "created_by": item.created_by,
        "updated_by": item.updated_by,
        "revision": item.revision,
    }


CONTENT_FIELDS = (
    "type", "title", "description", "content", "status", "priority", "category", "start_at", "end_at", "version",
    "tags",
)  # fmt: skip
"""What an item says; the rest tells where it comes from."""


def fill_content_fields(item: PortableItem) -> dict[str, Any]:
    """With what is left out filled in, so that two can be compared."""
    blank: dict[str, Any] = {"status": "Open", "priority": "MEDIUM", "start_at": None, "end_at": None, "tags": []}
    return {name: item.get(name, blank.get(name, "")) for name in CONTENT_FIELDS}
