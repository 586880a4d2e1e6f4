"""What `supersedes` of memory.save may name: older memos of the same namespace, never in a circle."""

from collections.abc import Sequence

from tokonoma.core.desk import Desk, Rows
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.namespaces import format_namespace
from tokonoma.modules.memory.model import Memo
from tokonoma.modules.memory.read import fetch_memos
from tokonoma.modules.memory.tables import ALIVE, bind_ids

MAX_SUPERSEDED = 100
_WALKED = 1_000  # memos that are followed to find a circle
_PAGE = 500


def check_superseded(rows: Rows, desk: Desk, memo: Memo, ids: Sequence[str], field: str) -> tuple[str, ...]:
    """All memos that it replaces from now on: those that it did, and these."""
    joined = tuple(dict.fromkeys((*memo.supersedes, *ids)))
    if len(joined) > MAX_SUPERSEDED:
        raise Invalid(f"A memo supersedes at most {MAX_SUPERSEDED} others.", field=field, limit=MAX_SUPERSEDED)
    found = fetch_memos(rows, ids, ALIVE, now=desk.now())
    for each in ids:
        if each == memo.id:
            raise Invalid("A memo cannot supersede itself. Give the ids of older memos.", field=field)
        if each not in found:
            raise Missing(
                f"{field}: memo {each[:80]!r} not found. Give the memo_id of an older memo. Nothing was saved.",
                memo_id=each[:80],
            )
        if found[each].namespace != memo.namespace:
            here, there = (format_namespace(one.namespace, desk.principal) for one in (memo, found[each]))
            raise Invalid(
                f"{field}: memo {each!r} is in {there}, this one in {here}. Both must be in one namespace:"
                " move one of them with memory.move first. Nothing was saved.",
                field=field,
            )
    circle = find_circle(rows, memo.id, ids)
    if circle:
        raise Invalid(
            f"{field}: memo {circle!r} already supersedes this one, itself or through others."
            " Save it with supersedes: [] first. Nothing was saved.",
            field=field,
        )
    return joined


def find_circle(rows: Rows, memo_id: str, ids: Sequence[str]) -> str:
    """The first of these memos that replaces this one, itself or through others, in any state; empty if none does."""
    return next((each for each in ids if memo_id in _collect_superseded(rows, each)), "")


def _collect_superseded(rows: Rows, memo_id: str) -> set[str]:
    seen, waiting = set[str](), {memo_id}
    while waiting and len(seen) < _WALKED:
        listed, params = bind_ids(sorted(waiting)[:_PAGE])
        seen |= waiting
        found = rows.rows(f"select supersedes from memo where id in ({listed}) and {{everyone}}", **params)  # noqa: S608
        waiting = {each for (text,) in found for each in text.split()} - seen
    return seen
