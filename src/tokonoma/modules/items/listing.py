"""get_items and get_ready_items: items by type, status, tag, priority, category and time, in pages."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.items.checks import check_priority, check_status, check_time
from tokonoma.modules.items.constants import OPEN, PRIORITIES, STATUSES, TRASH
from tokonoma.modules.items.item import ItemSummary, to_item, to_summary
from tokonoma.modules.items.problems import ItemProblems
from tokonoma.modules.items.tables import SUMMARY_COLUMNS

DAY = 86_400_000

Sort = Literal["updated", "created", "priority", "title", "id"]
Limit = Annotated[int, Field(ge=1, le=100)]
PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]

_COLUMN = {"updated": "updated_at", "created": "created_at", "priority": "priority", "title": "title", "id": "id"}
# An open item stands back while one that blocks it is open, too.
_NOT_BLOCKED = """not exists (select 1 from item_link l join item b on b.id = l.other_id
    where l.item_id = item.id and l.kind = 'blocked_by' and b.state = 1 and {visible:b})"""


class ItemPage(TypedDict):
    items: list[ItemSummary]
    has_more: bool
    next_cursor: NotRequired[str]


class ItemQuery:
    """Parts of a `where`, and their parameters."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.params: dict[str, Any] = {}

    def add(self, sql: str, **params: Any) -> None:
        self.parts.append(sql)
        self.params |= params

    def add_in(self, column: str, values: Sequence[Any]) -> None:
        names = {f"{column}{number}": value for number, value in enumerate(values)}
        self.add(f"{column} in ({', '.join(f':{name}' for name in names)})", **names)

    def fetch_page(self, desk: Desk, sort: str, order: str, limit: int, cursor: str | None) -> ItemPage:
        """One page in this order. Equal ones are told apart by their number."""
        column, kind = _COLUMN[sort], f"items:{sort}:{order}"
        if cursor:
            last, id = cursors.decode(kind, cursor)
            sign = "<" if order == "desc" else ">"
            self.add(f"({column}, id) {sign} (:last, :last_id)", last=last, last_id=id)
        sql = f"""select {SUMMARY_COLUMNS} from item where {" and ".join(self.parts)} and {{visible}}
            order by {column} {order}, id {order} limit :most"""  # noqa: S608 - names of ours
        items = [to_item(row) for row in desk.rows(sql, most=limit + 1, **self.params)]
        told: ItemPage = {"items": [to_summary(item) for item in items[:limit]], "has_more": len(items) > limit}
        if len(items) > limit:
            told["next_cursor"] = cursors.encode(kind, getattr(items[limit - 1], column), items[limit - 1].id)
        return told


def get_items(
    desk: Desk,
    type: Annotated[str | None, Field(description="without one: all types")] = None,
    statuses: Annotated[list[str] | None, Field(max_length=len(STATUSES), description="any of these")] = None,
    includeClosedStatuses: Annotated[
        bool, Field(description="Completed, Closed, Canceled, Rejected too; not needed if `statuses` names them")
    ] = False,
    limit: Limit = 20,
    start_date: Annotated[str | None, Field(description="changed on or after this day (YYYY-MM-DD)")] = None,
    end_date: Annotated[str | None, Field(description="changed on or before this day")] = None,
    tag: str | None = None,
    priority: Annotated[str | None, Field(json_schema_extra={"enum": list(PRIORITIES)})] = None,
    category: str | None = None,
    sort: Sort = "updated",
    order: Annotated[Literal["asc", "desc"] | None, Field(description="default: what matters most first")] = None,
    state: Annotated[Literal["kept", "trash"], Field(description="trash: those that were deleted")] = "kept",
    cursor: PageCursor = None,
) -> ItemPage:
    """Items that meet all conditions, last changed first, without their texts."""
    faults, where = ItemProblems(), ItemQuery()
    for number, status in enumerate(statuses or ()):
        check_status(f"statuses[{number}]", status, faults)
    if state == "trash":
        where.add("state = :state", state=TRASH)
    elif statuses:
        where.add("state >= 0")
    elif not includeClosedStatuses:
        where.add("state = :state", state=OPEN)
    else:
        where.add("state >= 0")
    if statuses:
        where.add_in("status", list(dict.fromkeys(statuses)))
    if type is not None:
        where.add("type = :type", type=type)
    if priority is not None:
        where.add("priority = :priority", priority=check_priority("priority", priority, faults))
    if category is not None:
        where.add("category = :category", category=category)
    if tag is not None:
        where.add("id in (select item_id from item_tag where tag = :tag)", tag=tag)
    _add_date_range(where, start_date, end_date, faults)
    faults.raise_if_any()
    return where.fetch_page(desk, sort, order or ("desc" if sort in ("updated", "created") else "asc"), limit, cursor)


def get_ready_items(
    desk: Desk,
    type: str | None = None,
    tag: str | None = None,
    category: str | None = None,
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """What can be worked on: open items that no open item blocks (add_relation kind blocked_by), most urgent first."""
    where = ItemQuery()
    where.add("state = :state", state=OPEN)
    where.add(_NOT_BLOCKED)
    for column, value in (("type", type), ("category", category)):
        if value is not None:
            where.add(f"{column} = :{column}", **{column: value})
    if tag is not None:
        where.add("id in (select item_id from item_tag where tag = :tag)", tag=tag)
    return where.fetch_page(desk, "priority", "asc", limit, cursor)


def _add_date_range(where: ItemQuery, start: str | None, end: str | None, faults: ItemProblems) -> None:
    """Both days belong to it; a time is taken as it is."""
    low = check_time("start_date", start, faults) if start else None
    high = check_time("end_date", end, faults) if end else None
    if high is not None and end is not None and len(end) == len("2026-01-31"):
        high += DAY - 1
    if low is not None and high is not None and high < low:
        faults.add_value("end_date", end, "It lies before start_date")
    if low is not None:
        where.add("updated_at >= :low", low=low)
    if high is not None:
        where.add("updated_at <= :high", high=high)
