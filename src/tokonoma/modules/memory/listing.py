"""memory.list: the memos of a namespace in an order of the caller's choice, filtered, page by page to the end."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Row
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.query import Condition
from tokonoma.modules.memory.filters import (
    MetadataFilter,
    build_conditions,
    matches_all,
    parse_span,
    parse_valid_at,
    reject_fields,
)
from tokonoma.modules.memory.marks import describe_memos
from tokonoma.modules.memory.model import Memo, MemoSummary, Namespace
from tokonoma.modules.memory.read import MemoListEntry, PageCursor, fetch_memos
from tokonoma.modules.memory.tables import ALIVE, INSIDE, VALID, bind_namespace

_LISTED = 200  # characters of content
_SCANNED = 500  # memos that are read at once where a filter looks into their metadata
_STATES = {
    "kept": ALIVE,
    "trash": "deleted_at is not null",
    "expired": "deleted_at is null and expires_at is not null and expires_at <= :now",
}
_NEVER = 2**62  # what does not expire comes after everything that does

SortKey = Literal["updated", "created", "title", "expires"]


class MemoList(TypedDict):
    items: list[MemoListEntry]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def list_memos(
    desk: Desk,
    namespace: Namespace = None,
    state: Annotated[Literal["kept", "trash", "expired"], Field(description="trash: deleted memos")] = "kept",
    thread: Annotated[str | None, Field(description="only memos of this thread")] = None,
    metadata_filter: MetadataFilter = None,
    since: Annotated[str | None, Field(description="changed at this time or later")] = None,
    until: Annotated[str | None, Field(description="changed at this time or before")] = None,
    valid_at: Annotated[str | None, Field(description="only what held on this day, or at this time")] = None,
    has_expiry: Annotated[bool | None, Field(description="only memos that expire, or only those that do not")] = None,
    sort: Annotated[SortKey | None, Field(description="default: updated; of a thread: created")] = None,
    order: Annotated[
        Literal["asc", "desc"] | None, Field(description="default: desc; by title, and of a thread without sort: asc")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> MemoList:
    """List the memos of a namespace and those below it, last changed first, with the start of their content. A
    thread is listed as it was written, oldest first."""
    conditions = build_conditions(metadata_filter or {})
    where, params = f"{_STATES[state]} and {INSIDE}", bind_namespace(resolve_namespace(namespace, desk.principal))
    params["now"], (begin, end) = desk.now(), parse_span(since, until)
    held_at = parse_valid_at(valid_at)
    for name, value, test in (
        ("thread", thread or None, "thread <> '' and thread = :thread"),  # said twice, so that its index is used
        ("since", begin, "updated_at >= :since"),
        ("until", end, "updated_at <= :until"),
        ("valid_at", None if held_at is None else format_time(held_at), VALID),
    ):
        if value is not None:
            where, params[name] = f"{where} and {test}", value
    if has_expiry is not None:
        where += f" and expires_at is {'not ' if has_expiry else ''}null"
    order = order or ("asc" if sort == "title" or (thread and sort is None) else "desc")
    sort = sort or ("created" if thread else "updated")
    kind = f"memos {sort} {order}"
    position = desk.open_cursor(kind, cursor) if cursor else None
    scan = _scan_titles if sort == "title" else _scan_times
    size = _SCANNED if conditions else limit + 1
    found = scan(desk, where, params, sort, order == "desc", position, size)
    chosen = [*islice((each for each in found if _passes(each, conditions)), limit + 1)]
    if not chosen and state == "kept" and cursor is None:
        reject_fields(desk, conditions)
    memos = fetch_memos(desk, [row[0] for row in chosen[:limit]])
    listed = [memos[row[0]] for row in chosen[:limit] if row[0] in memos]
    items = [_to_list_entry(*each) for each in zip(listed, describe_memos(desk, listed), strict=True)]
    page: MemoList = {"items": items, "has_more": len(chosen) > limit}
    if len(chosen) > limit:
        last = chosen[limit - 1]
        page["next_cursor"] = desk.seal_cursor(kind, last[-1], last[0])
    return page


def _scan_times(
    desk: Desk, where: str, params: dict[str, Any], sort: str, descends: bool, position: Sequence[Any] | None, size: int
) -> Iterator[Row]:
    """Rows of id, namespace, metadata, date and the key they are sorted by."""
    column, sign, way = f"{sort}_at", "<" if descends else ">", "desc" if descends else "asc"
    key = f"coalesce({column}, {_NEVER})" if sort == "expires" else column
    while True:
        rest = "" if position is None else f"and {key} {sign}= :key and ({key} {sign} :key or id {sign} :last)"
        bound = {} if position is None else {"key": position[0], "last": position[1]}
        rows = desk.rows(
            f"""select id, space, metadata, date, {column} from memo
            where {where} and {{visible}} {rest} order by {key} {way}, id {way} limit :most""",  # noqa: S608 - our own
            **params,
            **bound,
            most=size,
        )
        for *row, at in rows:
            yield (*row, _NEVER if at is None else at)
        if len(rows) < size:
            return
        desk.check()
        last = rows[-1]
        position = (_NEVER if last[-1] is None else last[-1], last[0])


def _scan_titles(
    desk: Desk, where: str, params: dict[str, Any], sort: str, descends: bool, position: Sequence[Any] | None, size: int
) -> Iterator[Row]:
    """The same by title. Sorted here: a title may be masked for this caller, and databases sort by their own rules."""
    rows = desk.rows(f"select id, space, metadata, date, title from memo where {where} and {{visible}}", **params)  # noqa: S608
    keyed = sorted(((row[-1], row[0]), row) for row in rows)
    last = None if position is None else (position[0], position[1])
    for key, row in reversed(keyed) if descends else keyed:
        if last is None or (key < last if descends else key > last):
            yield row


def _passes(row: Row, conditions: Sequence[Condition]) -> bool:
    return not conditions or matches_all(json.loads(row[2]), conditions, row[3])


def _to_list_entry(memo: Memo, summary: MemoSummary) -> MemoListEntry:
    entry: MemoListEntry = {**summary, "content": memo.content[:_LISTED]}
    if len(memo.content) > _LISTED:
        entry["content_truncated"] = True
    return entry
