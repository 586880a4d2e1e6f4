"""get_statuses and get_stats."""

from collections import Counter

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.modules.items import model
from tokonoma.modules.items.rows import fetch_number
from tokonoma.modules.items.tags import list_masked_tags

_MAX_COUNTED = 200  # types and tags in the statistics
_GROUPS = """select state, type, status, priority, count(*), min(created_at), max(updated_at) from item
where {visible} group by state, type, status, priority"""
_LINKS = """select count(*) from item_link l join item i on i.id = l.item_id join item o on o.id = l.other_id
where l.item_id < l.other_id and i.state >= 0 and o.state >= 0 and {visible:i} and {visible:o}"""
_REFERENCES = """select count(*) from item_reference r join item i on i.id = r.item_id
where i.state >= 0 and {visible:i}"""
_TOP_TAGS = """select min(t.tag) as tag, count(distinct i.id) as items from item_tag t join item i on i.id = t.item_id
where i.state >= 0 and {visible:i} group by t.folded order by items desc, tag limit :most"""
_RECENT = "select count(*) from item where state >= 0 and updated_at >= :since and {visible}"


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


def get_statuses(desk: Desk) -> StatusList:
    """List all statuses in order."""
    rows = desk.rows("select status, count(*) from item where state >= 0 and {visible} group by status")
    counts: dict[str, int] = {status: count for status, count in rows}  # noqa: C416 - a row is a tuple of anything
    items: list[StatusCount] = [
        {"name": name, "is_closable": name in model.CLOSED_STATUSES, "count": counts.get(name, 0)}
        for name in model.STATUSES
    ]
    return {"items": items, "has_more": False}


def _count_tags(desk: Desk) -> dict[str, int]:
    if not desk.call.record_masks.covers(model.MODULE_NAME):
        return dict(desk.rows(_TOP_TAGS, most=_MAX_COUNTED))
    found = sorted(list_masked_tags(desk), key=lambda row: (-row[2], row[1]))
    return {tag: count for _, tag, count in found[:_MAX_COUNTED]}


def get_stats(desk: Desk) -> ItemStats:
    """Count items."""
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
        "top_tags": _count_tags(desk),
        "links": fetch_number(desk, _LINKS),
        "references": fetch_number(desk, _REFERENCES),
        "changed_last_7_days": fetch_number(desk, _RECENT, since=desk.now() - 7 * model.DAY),
        "oldest_open": format_time(min(oldest)) if oldest else None,
        "last_change": format_time(max(newest)) if newest else None,
    }
