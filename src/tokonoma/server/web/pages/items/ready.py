"""`/admin/items/ready`: what can be done now, since nothing open blocks it, and what is due."""

from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.items.view import ITEMS, choose, list_types, read_count, render_items
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_SIZE = 50


def show_ready(request: PageRequest, problem: str = "") -> PageResponse:
    names = ("type", "tag", "assignee", "due_before")
    given = {name: request.get_parameter(name).strip() for name in names}
    given["sort"] = choose(request.get_parameter("sort"), ("priority", "due"), "priority")
    is_free = request.get_parameter("free") == "1"
    asked = {name: value or None for name, value in given.items()}
    if is_free:
        asked["assignee"] = ""  # only what no one holds
    page: dict[str, Any] = {"items": [], "has_more": False}
    due = page
    try:
        cursor = request.get_parameter("cursor") or None
        page = request.call("items", "get_ready_items", limit=_SIZE, cursor=cursor, **asked)
        due = request.ask("items", "search_items", due, query="has:due is:open", sort="due", limit=_SIZE)
    except Invalid as error:
        problem = problem or error.message
    following = page.get("next_cursor", "")
    kept = {**given, "free": "1" if is_free else ""}
    return render_items(
        request,
        "ready.html",
        status=400 if problem else 200,
        page=page,
        due_items=due,
        given=given,
        is_free=is_free,
        types=list_types(request),
        more=build_path(f"{ITEMS}/ready", **kept, cursor=following) if following else "",
        all_due=build_path(f"{ITEMS}/table", q="has:due is:open", sort="due") if due["has_more"] else "",
        problem=problem,
    )


def take_ready(request: PageRequest) -> PageResponse:
    """Claim an item of the list, as the person who is signed in."""
    number = read_count(request.get_field("id"), 10**9)
    try:
        request.call("items", "claim_item", type="items", id=number)
    except (Conflict, Invalid, Missing) as error:
        return show_ready(request, error.message)
    return redirect(build_path(f"{ITEMS}/{number}", notice="claimed"))
