"""get_item_detail, get_items, get_ready_items, get_tags, search_items_by_tag, get_statuses and get_stats."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.modules.items import model
from tokonoma.modules.items.errors import ItemProblems, check_dates, check_priority, check_status, check_time
from tokonoma.modules.items.model import ItemDetail, ItemSummary, PageCursor, Type
from tokonoma.modules.items.relations import build_detail
from tokonoma.modules.items.rows import fetch_number, require_item
from tokonoma.modules.items.tables import SUMMARY_COLUMNS

Sort = Literal["updated", "created", "priority", "title", "id"]
Limit = Annotated[int, Field(ge=1, le=100)]

_COLUMN = {"updated": "updated_at", "created": "created_at", "priority": "priority", "title": "title", "id": "id"}
# An open item is not ready while an item that blocks it is open, too.
_NOT_BLOCKED = """not exists (select 1 from item_link l join item b on b.id = l.other_id
    where l.item_id = item.id and l.kind = 'blocked_by' and b.state = 1 and {visible:b})"""
_TAGS = """select t.tag, count(*) from item_tag t join item i on i.id = t.item_id
where t.tag > :last and i.state >= 0 and {visible:i} group by t.tag order by t.tag limit :most"""

_MAX_COUNTED = 200  # types and tags in the statistics
_GROUPS = """select state, type, status, priority, count(*), min(created_at), max(updated_at) from item
where {visible} group by state, type, status, priority"""
_LINKS = """select count(*) from item_link l join item i on i.id = l.item_id join item o on o.id = l.other_id
where l.item_id < l.other_id and i.state >= 0 and o.state >= 0 and {visible:i} and {visible:o}"""
_REFERENCES = """select count(*) from item_reference r join item i on i.id = r.item_id
where i.state >= 0 and {visible:i}"""
_TOP_TAGS = """select t.tag, count(*) as items from item_tag t join item i on i.id = t.item_id
where i.state >= 0 and {visible:i} group by t.tag order by items desc, t.tag limit :most"""
_RECENT = "select count(*) from item where state >= 0 and updated_at >= :since and {visible}"


class ItemPage(TypedDict):
    items: list[ItemSummary]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class TagCount(TypedDict):
    tag: str
    count: int


class TagPage(TypedDict):
    items: list[TagCount]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class StatusCount(TypedDict):
    name: str
    is_closable: bool
    count: int


class StatusList(TypedDict):
    items: list[StatusCount]
    has_more: bool


class ItemStats(TypedDict):
    total: int
    open: int
    closed: int
    trash: int
    by_type: dict[str, int]
    by_status: dict[str, int]
    by_priority: dict[str, int]
    top_tags: dict[str, int]
    links: int
    references: int
    changed_last_7_days: int
    oldest_open: str | None
    last_change: str | None


class _ItemQuery:
    """Conditions of a select on items, and their parameters. Without a state, the trash is left out."""

    def __init__(self, state: int | None = None, *, tag: str | None = None, **equal: Any) -> None:
        self.parts = ["state >= 0" if state is None else "state = :state"]
        self.params: dict[str, Any] = {"state": state}
        self.add("id in (select item_id from item_tag where tag = :tag)", tag=tag)
        for column, value in equal.items():
            self.add(f"{column} = :{column}", **{column: value})

    def add(self, sql: str, **params: Any) -> None:
        """Without effect where a parameter is None."""
        if None not in params.values():
            self.parts.append(sql)
            self.params |= params

    def add_in(self, column: str, values: Sequence[Any]) -> None:
        names = {f"{column}{number}": value for number, value in enumerate(values)}
        if names:
            self.add(f"{column} in ({', '.join(f':{name}' for name in names)})", **names)

    def fetch_page(self, desk: Desk, sort: str, order: str, limit: int, cursor: str | None) -> ItemPage:
        """One page in this order. Equal ones are ordered by their numbers."""
        column, kind = _COLUMN[sort], f"items:{sort}:{order}"
        if cursor:
            last, id = desk.open_cursor(kind, cursor)
            sign = "<" if order == "desc" else ">"
            self.add(f"({column}, id) {sign} (:last, :last_id)", last=last, last_id=id)
        sql = f"""select {SUMMARY_COLUMNS} from item where {" and ".join(self.parts)} and {{visible:item}}
            order by {column} {order}, id {order} limit :most"""  # noqa: S608 - names of ours
        items = [model.to_item(row) for row in desk.rows(sql, most=limit + 1, **self.params)]
        page: ItemPage = {
            "items": [model.to_summary(desk, item) for item in items[:limit]],
            "has_more": len(items) > limit,
        }
        if len(items) > limit:
            page["next_cursor"] = desk.seal_cursor(kind, getattr(items[limit - 1], column), items[limit - 1].id)
        return page


def get_item_detail(desk: Desk, type: Type, id: int) -> ItemDetail:
    """Read one item with its content and links. `vanished` lists linked addresses that no longer exist."""
    return build_detail(desk, require_item(desk, type, id))


def get_items(
    desk: Desk,
    type: Annotated[str | None, Field(description="default: all types")] = None,
    statuses: Annotated[list[str] | None, Field(max_length=len(model.STATUSES), description="any of these")] = None,
    includeClosedStatuses: Annotated[
        bool, Field(description="Completed, Closed, Canceled, Rejected too; not needed if `statuses` names them")
    ] = False,
    limit: Limit = 20,
    start_date: Annotated[str | None, Field(description="changed on or after this day (YYYY-MM-DD)")] = None,
    end_date: Annotated[str | None, Field(description="changed on or before this day")] = None,
    tag: str | None = None,
    priority: Annotated[str | None, Field(json_schema_extra={"enum": list(model.PRIORITIES)})] = None,
    category: str | None = None,
    sort: Sort = "updated",
    order: Annotated[
        Literal["asc", "desc"] | None, Field(description="default: desc for updated and created, else asc")
    ] = None,
    state: Annotated[Literal["kept", "trash"], Field(description="trash: deleted items")] = "kept",
    cursor: PageCursor = None,
) -> ItemPage:
    """List the items that match all filters, last changed first, without description and content."""
    problems = ItemProblems()
    for number, status in enumerate(statuses or ()):
        check_status(f"statuses[{number}]", status, problems)
    in_state = model.TRASH if state == "trash" else None if statuses or includeClosedStatuses else model.OPEN
    urgency = None if priority is None else check_priority("priority", priority, problems)
    query = _ItemQuery(in_state, type=type, priority=urgency, category=category, tag=tag)
    query.add_in("status", list(dict.fromkeys(statuses or ())))
    low = check_time("start_date", start_date, problems) if start_date else None
    high = check_time("end_date", end_date, problems) if end_date else None
    if high is not None and end_date is not None and len(end_date) == len("2026-01-31"):
        high += model.DAY - 1  # the day belongs to it; a time is taken as it is
    check_dates(low, high, end_date, problems)
    query.add("updated_at >= :low", low=low)
    query.add("updated_at <= :high", high=high)
    problems.raise_if_any()
    return query.fetch_page(desk, sort, order or ("desc" if sort in ("updated", "created") else "asc"), limit, cursor)


def get_ready_items(
    desk: Desk,
    type: str | None = None,
    tag: str | None = None,
    category: str | None = None,
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """List the open items that no open item blocks (add_relation kind blocked_by), most urgent first."""
    query = _ItemQuery(model.OPEN, type=type, category=category, tag=tag)
    query.add(_NOT_BLOCKED)
    return query.fetch_page(desk, "priority", "asc", limit, cursor)


def search_items_by_tag(
    desk: Desk,
    tag: str,
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """List the items with a tag, open and closed, last changed first."""
    query = _ItemQuery(tag=tag)
    query.add_in("type", types or ())
    return query.fetch_page(desk, "updated", "desc", limit, cursor)


def get_tags(desk: Desk, limit: Annotated[int, Field(ge=1, le=1000)] = 200, cursor: PageCursor = None) -> TagPage:
    """List the tags in use, by name, with the number of items of each."""
    (last,) = desk.open_cursor("tags", cursor) if cursor else ("",)
    rows = desk.rows(_TAGS, last=last, most=limit + 1)
    page: TagPage = {
        "items": [{"tag": tag, "count": count} for tag, count in rows[:limit]],
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor("tags", rows[limit - 1][0])
    return page


def get_statuses(desk: Desk) -> StatusList:
    """List all statuses in order, with the number of items in each."""
    rows = desk.rows("select status, count(*) from item where state >= 0 and {visible} group by status")
    counts: dict[str, int] = {status: count for status, count in rows}  # noqa: C416 - a row is a tuple of anything
    items: list[StatusCount] = [
        {"name": name, "is_closable": name in model.CLOSED_STATUSES, "count": counts.get(name, 0)}
        for name in model.STATUSES
    ]
    return {"items": items, "has_more": False}


def get_stats(desk: Desk) -> ItemStats:
    """Count items by type, status, priority and tag, links, and items in the trash."""
    states, types, statuses, priorities = Counter[int](), Counter[str](), Counter[str](), Counter[str]()
    oldest, newest = list[int](), list[int]()
    for state, type, status, priority, count, created, updated in desk.rows(_GROUPS):
        states[state] += count
        if state == model.TRASH:
            continue
        types[type] += count
        statuses[status] += count
        priorities[model.PRIORITIES[priority]] += count
        newest.append(updated)
        if state == model.OPEN:
            oldest.append(created)
    return {
        "total": states[model.OPEN] + states[model.CLOSED],
        "open": states[model.OPEN],
        "closed": states[model.CLOSED],
        "trash": states[model.TRASH],
        "by_type": dict(sorted(types.items(), key=lambda each: (-each[1], each[0]))[:_MAX_COUNTED]),
        "by_status": dict(statuses),
        "by_priority": dict(priorities),
        "top_tags": dict(desk.rows(_TOP_TAGS, most=_MAX_COUNTED)),
        "links": fetch_number(desk, _LINKS),
        "references": fetch_number(desk, _REFERENCES),
        "changed_last_7_days": fetch_number(desk, _RECENT, since=desk.now() - 7 * model.DAY),
        "oldest_open": format_time(min(oldest)) if oldest else None,
        "last_change": format_time(max(newest)) if newest else None,
    }
