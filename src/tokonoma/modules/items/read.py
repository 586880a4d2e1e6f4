"""get_item_detail, get_items and get_ready_items."""

from typing import Annotated, Literal

from pydantic import Field

from tokonoma.core.desk import Desk
from tokonoma.modules.items import model
from tokonoma.modules.items.errors import ItemProblems, check_dates, check_priority, check_status, check_time
from tokonoma.modules.items.model import ItemDetail, PageCursor, Type
from tokonoma.modules.items.pages import NOT_BLOCKED, UNCLAIMED, ItemOrder, ItemPage, ItemQuery, Limit, Order, Sort
from tokonoma.modules.items.relations import SHOWN_COMMENTS, build_detail
from tokonoma.modules.items.rows import require_item


def get_item_detail(
    desk: Desk,
    type: Type,
    id: int,
    comments: Annotated[int, Field(ge=0, le=1000)] = SHOWN_COMMENTS,
) -> ItemDetail:
    """Read an item with its links and newest comments."""
    return build_detail(desk, require_item(desk, type, id), comments)


def get_items(
    desk: Desk,
    type: str | None = None,
    statuses: Annotated[list[str] | None, Field(max_length=len(model.STATUSES))] = None,
    includeClosedStatuses: bool = False,
    limit: Limit = 20,
    start_date: Annotated[str | None, Field(description="changed since this day (YYYY-MM-DD)")] = None,
    end_date: Annotated[str | None, Field(description="changed up to this day")] = None,
    tag: str | None = None,
    priority: Annotated[str | None, Field(json_schema_extra={"enum": list(model.PRIORITIES)})] = None,
    category: str | None = None,
    sort: Sort = "updated",
    order: Order | None = None,
    state: Literal["kept", "trash"] = "kept",
    cursor: PageCursor = None,
) -> ItemPage:
    """List the items that match all filters, last changed first."""
    problems = ItemProblems()
    for number, status in enumerate(statuses or ()):
        check_status(f"statuses[{number}]", status, problems)
    in_state = model.TRASH if state == "trash" else None if statuses or includeClosedStatuses else model.OPEN
    urgency = None if priority is None else check_priority("priority", priority, problems)
    query = ItemQuery(desk, in_state, type=type, priority=urgency, category=category, tag=tag)
    query.add_in("status", list(dict.fromkeys(statuses or ())))
    low = check_time("start_date", start_date, problems) if start_date else None
    high = _check_last(end_date, "end_date", problems)
    check_dates(low, high, end_date, problems)
    query.add("updated_at >= :low", low=low)
    query.add("updated_at <= :high", high=high)
    problems.raise_if_any()
    return query.fetch_page(desk, ItemOrder(sort, order), limit, cursor)


def get_ready_items(
    desk: Desk,
    type: str | None = None,
    tag: str | None = None,
    category: str | None = None,
    assignee: Annotated[str | None, Field(description="empty: only unclaimed items")] = None,
    due_before: Annotated[str | None, Field(description="end_date up to this day")] = None,
    sort: Literal["priority", "due"] = "priority",
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """List the open items that no open item blocks, most urgent first, then by due date (end_date)."""
    problems = ItemProblems()
    query = ItemQuery(desk, model.OPEN, type=type, category=category, tag=tag, assignee=assignee or None)
    query.add(NOT_BLOCKED)
    if assignee == "":
        query.add(UNCLAIMED, now=desk.now())
    query.add("end_at <= :due", due=_check_last(due_before, "due_before", problems))
    problems.raise_if_any()
    return query.fetch_page(desk, ItemOrder(sort), limit, cursor)


def _check_last(value: str | None, field: str, problems: ItemProblems) -> int | None:
    """The last millisecond of a day; a time is taken as it is."""
    at = check_time(field, value, problems) if value else None
    return at + model.DAY - 1 if at is not None and value is not None and len(value) == len("2026-01-31") else at
