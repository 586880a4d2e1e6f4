"""memory.threads: the conversations and documents that memos belong to."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.modules.memory.model import MODULE_NAME, Namespace
from tokonoma.modules.memory.read import PageCursor
from tokonoma.modules.memory.tables import ALIVE, INSIDE, bind_namespace

_KIND = "threads"
_MEMOS = f"from memo where thread <> '' and {ALIVE} and {INSIDE} and {{visible}}"
_EACH = f"select thread, created_at, updated_at {_MEMOS}"
_GROUPED = f"""select thread, memos, begun, changed from (
    select thread, count(*) as memos, min(created_at) as begun, max(updated_at) as changed {_MEMOS} group by thread
) grouped where changed < :changed or (changed = :changed and thread > :last)
order by changed desc, thread limit :most"""  # noqa: S608 - our own
_LATEST = 2**62

ThreadRow = tuple[str, int, int, int]
"""thread, number of memos, when the first was saved, when one was changed last"""


class ThreadEntry(TypedDict):
    thread: str
    memos: int
    begun_at: str
    changed_at: str


class ThreadList(TypedDict):
    items: list[ThreadEntry]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def list_threads(
    desk: Desk,
    namespace: Namespace = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> ThreadList:
    """List the threads of the memos of a namespace and those below it, last changed first."""
    changed, last = desk.open_cursor(_KIND, cursor) if cursor else (_LATEST, "")
    params = {**bind_namespace(resolve_namespace(namespace, desk.principal)), "now": desk.now()}
    if desk.call.record_masks.covers(MODULE_NAME):  # as the caller sees them: the database must not group them
        rows = _group_here(desk, params, (changed, last))[: limit + 1]
    else:
        rows = [(*row,) for row in desk.rows(_GROUPED, **params, changed=changed, last=last, most=limit + 1)]
    page: ThreadList = {"items": [_to_thread_entry(row) for row in rows[:limit]], "has_more": len(rows) > limit}
    if len(rows) > limit:
        end = rows[limit - 1]
        page["next_cursor"] = desk.seal_cursor(_KIND, end[3], end[0])
    return page


def _group_here(desk: Desk, params: dict[str, Any], after: tuple[int, str]) -> list[ThreadRow]:
    found: dict[str, ThreadRow] = {}
    for thread, created, updated in desk.rows(_EACH, **params):
        _, count, begun, changed = found.get(thread, (thread, 0, created, updated))
        found[thread] = (thread, count + 1, min(begun, created), max(changed, updated))
    ordered = sorted(found.values(), key=_sort_key)
    return [row for row in ordered if _sort_key(row) > (-after[0], after[1])]


def _sort_key(row: Sequence[Any]) -> tuple[int, str]:
    return -row[3], row[0]


def _to_thread_entry(row: Sequence[Any]) -> ThreadEntry:
    thread, count, begun, changed = row
    return {"thread": thread, "memos": count, "begun_at": format_time(begun), "changed_at": format_time(changed)}
