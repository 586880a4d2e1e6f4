"""get_tags, search_items_by_tag and get_statuses: the words that items are sorted by."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.items.constants import STATUSES, is_open
from tokonoma.modules.items.listing import ItemPage, ItemQuery, Limit, PageCursor

_TAGS = """select t.tag, count(*) from item_tag t join item i on i.id = t.item_id
where t.tag > :last and i.state >= 0 and {visible:i} group by t.tag order by t.tag limit :most"""


class TagCount(TypedDict):
    tag: str
    count: int


class TagPage(TypedDict):
    items: list[TagCount]
    has_more: bool
    next_cursor: NotRequired[str]


class StatusCount(TypedDict):
    name: str
    is_closable: bool
    count: int


class StatusList(TypedDict):
    items: list[StatusCount]
    has_more: bool


def get_tags(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
    cursor: PageCursor = None,
) -> TagPage:
    """The tags in use, by name, with how many items carry each."""
    (last,) = cursors.decode("tags", cursor) if cursor else ("",)
    rows = desk.rows(_TAGS, last=last, most=limit + 1)
    told: TagPage = {
        "items": [{"tag": tag, "count": count} for tag, count in rows[:limit]],
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        told["next_cursor"] = cursors.encode("tags", rows[limit - 1][0])
    return told


def search_items_by_tag(
    desk: Desk,
    tag: str,
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """Items that carry a tag, open and closed, last changed first."""
    where = ItemQuery()
    where.add("state >= 0")
    where.add("id in (select item_id from item_tag where tag = :tag)", tag=tag)
    if types:
        where.add_in("type", types)
    return where.fetch_page(desk, "updated", "desc", limit, cursor)


def get_statuses(desk: Desk) -> StatusList:
    """The statuses that an item can have, in their order, with how many items have each."""
    rows = desk.rows("select status, count(*) from item where state >= 0 and {visible} group by status")
    counts: dict[str, int] = {status: count for status, count in rows}  # noqa: C416 - a row is a tuple of anything
    items: list[StatusCount] = [
        {"name": name, "is_closable": not is_open(name), "count": counts.get(name, 0)} for name in STATUSES
    ]
    return {"items": items, "has_more": False}
