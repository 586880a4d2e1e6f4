"""claim_item: an item belongs to one of several agents, until it is released or the time of the claim is over."""

from typing import Annotated, Any

from pydantic import Field

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.modules.items import rows
from tokonoma.modules.items.errors import ItemProblems, check_text
from tokonoma.modules.items.fields import diff_items
from tokonoma.modules.items.model import MODULE_NAME, OPEN, Item, ItemDetail, compute_state
from tokonoma.modules.items.pages import NOT_BLOCKED, UNCLAIMED, ItemOrder, ItemQuery
from tokonoma.modules.items.relations import build_detail

_MINUTE = 60_000  # milliseconds
_STARTED = "In Progress"
_NOT_STARTED = ("Open", "Ready")


def claim_item(
    desk: Desk,
    type: str | None = None,
    id: Annotated[int | None, Field(description="default: the first ready item that is unclaimed")] = None,
    tag: str | None = None,
    assignee: Annotated[str | None, Field(description="default: the caller")] = None,
    minutes: Annotated[
        int | None,
        Field(ge=1, le=43_200, description="default: until released; call again to prolong"),
    ] = None,
    release: bool = False,
) -> ItemDetail:
    """Claim an item for one of several agents; the others get error 1004. It becomes In Progress."""
    problems, who = ItemProblems(), assignee or desk.principal.name
    check_text("assignee", who, problems)
    problems.raise_if_any()
    if release and id is None:
        raise Invalid("Name the item to release by its type and id.", field="id")
    now = desk.now()
    free = ItemQuery(desk, OPEN, type=type, tag=tag)
    free.add(NOT_BLOCKED)
    free.add(UNCLAIMED, now=now)
    with desk.write() as tx:
        found = _find_next(tx, free) if id is None else id
        old = rows.require_item(tx, (id and type) or MODULE_NAME, found, lock=True)
        _check_holder(old, who, now)
        new = _release(old) if release else _claim(old, who, None if minutes is None else now + minutes * _MINUTE)
        item = old if new == old else _save(tx, desk, old, new, "released" if release else "claimed")
    return build_detail(desk, item)


def _save(tx: Tx, desk: Desk, old: Item, new: Item, word: str) -> Item:
    changes: dict[str, Any] = diff_items(desk, old, new)
    if new.claimed_until is not None:
        changes["claimed_until"] = format_time(new.claimed_until)
    item = rows.save_change(tx, desk, new, word, changes)
    rows.update_derived(tx, item, old, same_text=True)
    return item


def _find_next(tx: Tx, query: ItemQuery) -> int:
    """The number of the most urgent item that is free, locked. Those that another call is about to take are skipped."""
    sql = f"""select item.id from item where {" and ".join(query.parts)} and {{visible:item}}
        order by {ItemOrder("priority").sql} limit 1 {{for_update_free}}"""  # noqa: S608 - names of ours
    row = tx.row(sql, **query.params)
    if row is None:
        raise Missing("No item is ready and unclaimed. get_ready_items lists who holds the others.")
    return row[0]


def _check_holder(item: Item, who: str, now: int) -> None:
    is_over = item.claimed_until is not None and item.claimed_until <= now
    if item.assignee in ("", who) or is_over:
        return
    until = None if item.claimed_until is None else format_time(item.claimed_until)
    held = f"until {until}" if until else "until it is released"
    raise Conflict(
        f"{item.address} is held by {item.assignee} {held}. Claim another item. Nothing was changed.",
        constraint="claimed", field="assignee", id=item.id, type=item.type, assignee=item.assignee, claimed_until=until,
    )  # fmt: skip


def _claim(item: Item, who: str, until: int | None) -> Item:
    if item.state != OPEN:
        problems = ItemProblems()
        problems.add("id", item.id, f"{item.address} is {item.status}; only an open item can be claimed", "constraint")
        problems.raise_if_any()
    status = _STARTED if item.status in _NOT_STARTED else item.status
    return item._replace(assignee=who, claimed_until=until, status=status, state=compute_state(status))


def _release(item: Item) -> Item:
    status = "Open" if item.status == _STARTED else item.status
    return item._replace(assignee="", claimed_until=None, status=status, state=compute_state(status))
