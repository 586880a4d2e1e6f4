"""get_stats: how many items there are of what."""

from collections.abc import Iterable
from typing import TypeVar

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Desk
from tokonoma.modules.items.constants import CLOSED, OPEN, PRIORITIES, TRASH
from tokonoma.modules.items.listing import DAY

K = TypeVar("K")

_MOST = 200  # types and tags that are counted out
_BY = """select state, type, status, priority, count(*), min(created_at), max(updated_at) from item
where {visible} group by state, type, status, priority"""
_LINKS = """select count(*) from item_link l join item i on i.id = l.item_id join item o on o.id = l.other_id
where l.item_id < l.other_id and i.state >= 0 and o.state >= 0 and {visible:i} and {visible:o}"""
_REFERENCES = """select count(*) from item_reference r join item i on i.id = r.item_id
where i.state >= 0 and {visible:i}"""
_TAGS = """select t.tag, count(*) as items from item_tag t join item i on i.id = t.item_id
where i.state >= 0 and {visible:i} group by t.tag order by items desc, t.tag limit :most"""
_RECENT = "select count(*) from item where state >= 0 and updated_at >= :since and {visible}"


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


def get_stats(desk: Desk) -> ItemStats:
    """How many items there are by type, status, priority and tag; links; what is in the trash."""
    rows = desk.rows(_BY)
    living = [row for row in rows if row[0] != TRASH]
    states = _sum_counts((row[0], row[4]) for row in rows)
    created = [row[5] for row in living if row[0] == OPEN]
    updated = [row[6] for row in living]
    types = sorted(_sum_counts((row[1], row[4]) for row in living).items(), key=lambda each: (-each[1], each[0]))
    return {
        "total": states.get(OPEN, 0) + states.get(CLOSED, 0),
        "open": states.get(OPEN, 0),
        "closed": states.get(CLOSED, 0),
        "trash": states.get(TRASH, 0),
        "by_type": dict(types[:_MOST]),
        "by_status": _sum_counts((row[2], row[4]) for row in living),
        "by_priority": {
            PRIORITIES[key]: count for key, count in _sum_counts((row[3], row[4]) for row in living).items()
        },
        "top_tags": dict(desk.rows(_TAGS, most=_MOST)),
        "links": _count(desk, _LINKS),
        "references": _count(desk, _REFERENCES),
        "changed_last_7_days": _count(desk, _RECENT, since=now() - 7 * DAY),
        "oldest_open": format_time(min(created)) if created else None,
        "last_change": format_time(max(updated)) if updated else None,
    }


def _sum_counts(pairs: Iterable[tuple[K, int]]) -> dict[K, int]:
    counts: dict[K, int] = {}
    for key, count in pairs:
        counts[key] = counts.get(key, 0) + count
    return counts


def _count(desk: Desk, sql: str, **params: int) -> int:
    row = desk.row(sql, **params)
    assert row is not None
    return row[0]
