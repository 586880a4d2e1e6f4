"""Items as rows and as responses; their words (statuses, priorities, kinds of links), addresses and limits."""

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Classification, Desk, Document, Record, Row, format_address, parse_address
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Scalar

MODULE_NAME = "items"

CLOSED_STATUSES = ("Completed", "Closed", "Canceled", "Rejected")
STATUSES = (
    "Open", "Specification", "Waiting", "Ready", "In Progress", "Review", "Testing", "Pending", *CLOSED_STATUSES,
)  # fmt: skip
PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL")

# A link has two rows, one for each end; seen from the other end its kind may have another name.
OPPOSITE_KIND = {
    "related": "related",
    "blocks": "blocked_by",
    "blocked_by": "blocks",
    "parent_of": "child_of",
    "child_of": "parent_of",
    # From the texts: nobody adds or removes these by hand.
    "mentions": "mentioned_by",
    "mentioned_by": "mentions",
}
LINK_KINDS = tuple(kind for kind in OPPOSITE_KIND if "mention" not in kind)

# The state of a row of `item`. One number, so that an index can lead to the open ones.
OPEN, CLOSED, TRASH = 1, 0, -1
DAY = 86_400_000  # milliseconds

Type = Annotated[str, Field(description="any name of a-z 0-9 _: issue, docs, …")]
Tags = Annotated[list[str] | None, Field(description="replaces all")]
Revision = Annotated[int | None, Field(ge=1, description="fail if it is at another revision")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]

SHORT_ADDRESS = re.compile(r"([a-z0-9_]+)-([1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_MAX_ADDRESS = 1000


class StoredComment(TypedDict):
    at: int  # milliseconds
    by: str
    text: str


class Item(NamedTuple):
    """The fields are those of tables.COLUMNS, in their order. A tuple, since long lists of them are built from rows."""

    tags: tuple[str, ...]
    id: int
    uid: str
    namespace: str
    classification: Classification
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
    assignee: str
    claimed_until: int | None
    comments: tuple[StoredComment, ...]

    @property
    def address(self) -> str:
        """The short address, as people write it."""
        return format_short_address(self.type, self.id)

    @property
    def uri(self) -> str:
        """The address in the server; it does not change with the type."""
        return format_address(MODULE_NAME, str(self.id))


class LinkTarget(NamedTuple):
    """An item by its number, with the type if one was named; or a record of another module by its address."""

    item: int | None = None
    type: str | None = None  # None: any; `items-12` and `tokonoma://items/12` name none
    address: str = ""


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
    assignee: NotRequired[str]
    claimed_until: NotRequired[str]
    deleted_at: NotRequired[str]


class ItemComment(TypedDict):
    at: str
    by: str
    text: str


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
    comments: NotRequired[list[ItemComment]]
    more_comments: NotRequired[int]


def compute_state(status: str) -> int:
    return CLOSED if status in CLOSED_STATUSES else OPEN


def format_short_address(type: str, id: int) -> str:
    return f"{type}-{id}"


def parse_target(address: str) -> LinkTarget | None:
    """What an address leads to; None if it is not an address."""
    found = SHORT_ADDRESS.fullmatch(address)
    if found is not None:
        return LinkTarget(int(found[2]), None if found[1] == MODULE_NAME else found[1])
    try:
        module, name = parse_address(address) if len(address) <= _MAX_ADDRESS else ("", "")
    except Invalid:
        return None
    if module == MODULE_NAME:
        return LinkTarget(int(name)) if _NUMBER.fullmatch(name) else None
    return LinkTarget(address=address) if module and "\0" not in address else None


def fold_tag(tag: str) -> str:
    """By width and case: Bug, BUG and ｂｕｇ are one tag."""
    return unicodedata.normalize("NFKC", tag).casefold().strip()


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, as it is written first."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(fold_tag(tag), tag)
    return tuple(found.values())


def to_item(row: Row) -> Item:
    """From the columns of tables.COLUMNS or tables.SUMMARY_COLUMNS."""
    tags, *rest, comments = row
    return Item._make((_load_list(tags), *rest, _load_list(comments)))


def _load_list(text: str) -> tuple[Any, ...]:
    return tuple(orjson.loads(text)) if text != "[]" else ()


def to_row(item: Item) -> dict[str, Any]:
    """Column → value."""
    row = item._asdict()
    row["space"], row["label"] = row.pop("namespace"), row.pop("classification")
    return row | {name: json.dumps(row[name], ensure_ascii=False) for name in ("tags", "comments")}


def to_summary(desk: Desk, item: Item) -> ItemSummary:
    desk.cite(item.uri)
    created = format_time(item.created_at)
    summary: ItemSummary = {
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "title": item.title,
        "status": item.status,
        "priority": PRIORITIES[item.priority],
        "category": item.category or None,
        "start_date": None if item.start_at is None else format_time(item.start_at),
        "end_date": None if item.end_at is None else format_time(item.end_at),
        "version": item.version or None,
        "tags": list(item.tags),
        "created_at": created,
        "updated_at": created if item.updated_at == item.created_at else format_time(item.updated_at),
        "revision": item.revision,
    }
    if item.assignee:
        summary["assignee"] = item.assignee
    if item.claimed_until is not None:
        summary["claimed_until"] = format_time(item.claimed_until)
    if item.deleted_at is not None:
        summary["deleted_at"] = format_time(item.deleted_at)
    return summary


def build_text(item: Item) -> str:
    """The text that is searched beside the title. Tags, category, comments and people are words, too."""
    words = " ".join(filter(None, (*item.tags, item.category, item.assignee)))
    comments = (f"{each['by']}: {each['text']}" for each in item.comments)
    return "\n\n".join(filter(None, (item.description, item.content, words, *comments)))


def to_document(item: Item) -> Document:
    """The item's row in the shared index; its facts are what the fields of a query compare with."""
    facts: list[tuple[str, Scalar]] = [
        ("type", item.type),
        ("status", item.status),
        ("priority", PRIORITIES[item.priority]),
        ("is", "closed" if item.status in CLOSED_STATUSES else "open"),
        ("created", float(item.created_at)),
        ("updated", float(item.updated_at)),
        *(("tag", tag) for tag in item.tags),
        *((key, text) for key in ("category", "version", "assignee") if (text := getattr(item, key))),
        *((key, float(at)) for key, at in (("start", item.start_at), ("end", item.end_at)) if at is not None),
    ]
    return Document(
        item.uri, item.namespace, build_text(item), item.title, item.classification, facts, at=item.updated_at
    )


def to_record(item: Item) -> Record:
    return Record(
        item.uri,
        MODULE_NAME,
        item.namespace,
        item.classification,
        item.title,
        build_text(item),
        item.revision,
        kind=item.type,
        details=_list_details(item),
    )


def _list_details(item: Item) -> dict[str, str]:
    details = {"type": item.type, "status": item.status, "priority": PRIORITIES[item.priority]}
    dates = (("start_date", item.start_at), ("end_date", item.end_at))
    return details | {name: format_time(at) for name, at in dates if at is not None}
