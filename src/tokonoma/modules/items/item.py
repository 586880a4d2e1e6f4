"""An item as a row, and as the outside sees it."""

from collections.abc import Sequence
from typing import NamedTuple, NotRequired

import orjson
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Classification, Document, Record, Row, format_address
from tokonoma.core.query import Scalar
from tokonoma.modules.items.addresses import format_short_address
from tokonoma.modules.items.constants import CLOSED, MODULE_NAME, OPEN, PRIORITIES, is_open


class Item(NamedTuple):
    """A tuple, since lists of them are long, and made from rows."""

    tags: tuple[str, ...]
    id: int
    uid: str
    space: str
    label: Classification
    type: str
    title: str
    description: str
    content: str
    status: str
    priority: int
    state: int
    category: str
    start_at: int | None
    end_at: int | None
    version: str
    created_at: int
    updated_at: int
    deleted_at: int | None
    created_by: str
    updated_by: str
    revision: int

    @property
    def address(self) -> str:
        """As people write it."""
        return format_short_address(self.type, self.id)

    @property
    def uri(self) -> str:
        """As the house does; it does not change with the type."""
        return format_address(MODULE_NAME, str(self.id))


class ItemSummary(TypedDict):
    """An item in a list: everything but its texts."""

    id: int
    type: str
    address: str
    title: str
    status: str
    priority: str
    category: str | None
    start_date: str | None
    end_date: str | None
    version: str | None
    tags: list[str]
    created_at: str
    updated_at: str
    revision: int
    deleted_at: NotRequired[str]


class ItemRelation(TypedDict):
    address: str
    kind: str
    module: str
    title: str
    status: NotRequired[str]


class ItemDetail(ItemSummary):
    """`related` are the addresses, `relations` the same with what they are; `vanished` led somewhere once."""

    description: str
    content: str
    related: list[str]
    relations: list[ItemRelation]
    vanished: NotRequired[list[str]]
    more_relations: NotRequired[int]


def to_item(row: Row) -> Item:
    """From the columns of tables.COLUMNS or tables.BRIEF, in their order."""
    tags, *rest = row
    return Item(tuple(orjson.loads(tags)) if tags != "[]" else (), *rest)


def compute_state(status: str) -> int:
    return OPEN if is_open(status) else CLOSED


def to_summary(item: Item) -> ItemSummary:
    created = format_time(item.created_at)
    told: ItemSummary = {
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "title": item.title,
        "status": item.status,
        "priority": PRIORITIES[item.priority],
        "category": item.category or None,
        "start_date": _format_optional_time(item.start_at),
        "end_date": _format_optional_time(item.end_at),
        "version": item.version or None,
        "tags": list(item.tags),
        "created_at": created,
        "updated_at": created if item.updated_at == item.created_at else format_time(item.updated_at),
        "revision": item.revision,
    }
    if item.deleted_at is not None:
        told["deleted_at"] = format_time(item.deleted_at)
    return told


def to_detail(item: Item, relations: Sequence[ItemRelation], vanished: Sequence[str], more: int = 0) -> ItemDetail:
    told: ItemDetail = {
        **to_summary(item),
        "description": item.description,
        "content": item.content,
        "related": list(dict.fromkeys(each["address"] for each in relations)),
        "relations": list(relations),
    }
    if vanished:
        told["vanished"] = list(vanished)
    if more:
        told["more_relations"] = more
    return told


def build_text(item: Item) -> str:
    """What an item's words are found in, beside its title. Tags and category are words, too."""
    return "\n\n".join(filter(None, (item.description, item.content, " ".join((*item.tags, item.category)).strip())))


def to_document(item: Item) -> Document:
    """The item's row in the shared index."""
    return Document(
        item.uri, item.space, build_text(item), item.title, item.label, build_facts(item), at=item.updated_at
    )  # fmt: skip


def build_facts(item: Item) -> list[tuple[str, Scalar]]:
    """What a query's fields compare with."""
    told: list[tuple[str, Scalar]] = [
        ("type", item.type),
        ("status", item.status),
        ("priority", PRIORITIES[item.priority]),
        ("is", "open" if is_open(item.status) else "closed"),
        ("created", float(item.created_at)),
        ("updated", float(item.updated_at)),
        *(("tag", tag) for tag in item.tags),
    ]
    texts = (("category", item.category), ("version", item.version))
    times = (("start", item.start_at), ("end", item.end_at))
    told += [(key, text) for key, text in texts if text]
    told += [(key, float(at)) for key, at in times if at is not None]
    return told


def to_record(item: Item) -> Record:
    return Record(item.uri, MODULE_NAME, item.space, item.label, item.title, build_text(item), item.revision)


def _format_optional_time(at: int | None) -> str | None:
    return None if at is None else format_time(at)
