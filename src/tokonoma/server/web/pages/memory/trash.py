"""The trash: memos that were deleted, until they are restored or purged."""

from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.memory.shown import complete, name_memo
from tokonoma.server.web.pages.memory.view import PATH
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

TRASH = f"{PATH}/trash"
_PAGE = 50
_ROUNDS = 200  # of 500 memos each: a request ends, also with a very full trash
_DAYS = 30


def show_trash(request: PageRequest) -> PageResponse:
    namespace, cursor = request.get_parameter("namespace").strip(), request.get_parameter("cursor")
    state = "expired" if request.get_parameter("state") == "expired" else "trash"
    found: dict[str, Any] = {"items": []}
    problem = ""
    try:
        found = request.call(
            "memory", "list", namespace=namespace or "/", state=state, limit=_PAGE, cursor=cursor or None
        )
    except Invalid as error:
        problem = error.message
    following = build_path(TRASH, namespace=namespace, state=state, cursor=found.get("next_cursor", ""))
    return PageResponse(
        "memory/trash.html",
        {
            "memos": [{**complete(each), "name": name_memo(each)} for each in found["items"]],
            "state": state,
            "namespace": namespace,
            "back": build_path(TRASH, namespace=namespace, state=state),
            "problem": problem,
            "next": following if found.get("next_cursor") else "",
        },
        400 if problem else 200,
    )


def show_purge(parts: PageParts, request: PageRequest) -> PageResponse:
    """How much would go, before anything goes."""
    text = request.get_parameter("days") or str(_DAYS)
    return _show_count(parts, request, text)


def purge_trash(parts: PageParts, request: PageRequest) -> PageResponse:
    days = _parse_days(request.get_field("days"))
    if days is None or not request.get_field("sure"):
        problem = "Tick the box first: this cannot be undone."
        return _show_count(parts, request, request.get_field("days"), problem)
    for _ in range(_ROUNDS):
        done = parts.run_owner_tool(request.owner_caller, "memory", "purge", {"days": days})
        if not any(done.values()):
            break
    return redirect(build_path(TRASH, "purged"))


def _show_count(parts: PageParts, request: PageRequest, text: str, problem: str = "") -> PageResponse:
    days = _parse_days(text)
    if days is None:
        problem = "Give a number of days from 0 to 36500."
    count = {"deleted": 0, "expired": 0}
    if days is not None:
        count = parts.run_owner_tool(request.owner_caller, "memory", "purge", {"days": days, "dry_run": True})
    values = {"days": text, "count": count, "is_known": days is not None, "problem": problem}
    return PageResponse("memory/purge.html", values, 400 if problem else 200)


def _parse_days(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and int(text[:6]) <= 36_500 and len(text) <= 6 else None
