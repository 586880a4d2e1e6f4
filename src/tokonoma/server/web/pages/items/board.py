"""`/admin/items`: open items in columns by status. A select moves a card; with scripts, keys do, too."""

from typing import Any
from urllib.parse import urlencode

from tokonoma.core.errors import Invalid, Refusal
from tokonoma.server.web.pages.items.view import (
    ITEMS,
    SORTS,
    choose,
    list_statuses,
    list_types,
    read_count,
    render_items,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_CARDS = 20  # of a column
_MOST_CARDS = 100


def show_board(request: PageRequest, problem: str = "") -> PageResponse:
    query, type = request.get_parameter("q"), request.get_parameter("type")
    sort, has_closed = choose(request.get_parameter("sort"), SORTS, "priority"), request.get_parameter("closed") == "1"
    statuses = list_statuses(request)
    columns: list[dict[str, Any]] = []
    try:
        if query:  # alone, so that a mistake is shown at its place in what was typed
            request.call("items", "search_items", query=query, sort=sort, limit=1)
        for status in statuses:
            if has_closed or not status["is_closable"]:
                columns.append(load_column(request, status, query, type, sort))
    except Invalid as error:
        problem = error.message
    return render_items(
        request,
        "board.html",
        status=400 if problem else 200,
        columns=columns,
        statuses=[each["name"] for each in statuses],
        types=list_types(request),
        query=query,
        type=type,
        sort=sort,
        sorts=SORTS,
        has_closed=has_closed,
        total=sum(each["count"] for each in statuses),
        action=_locate_board(request),
        problem=problem,
    )


def load_column(request: PageRequest, status: dict[str, Any], query: str, type: str, sort: str) -> dict[str, Any]:
    """The first cards of a status, how many there are, and where to see the others."""
    name = status["name"]
    limit = read_count(request.get_parameter("most"), _MOST_CARDS, _CARDS) or _CARDS
    wanted = f'({query}) status:"{name}"' if query else f'status:"{name}"'
    page: dict[str, Any] = {"items": [], "has_more": False}
    if query:
        types = [type] if type else None
        page = request.call("items", "search_items", query=wanted, types=types, sort=sort, limit=limit)
    elif status["count"]:
        page = request.call(
            "items", "get_items", statuses=[name], includeClosedStatuses=True, type=type or None, sort=sort, limit=limit
        )
    shown = len(page["items"])
    count = f"{shown}+" if page["has_more"] else str(shown)
    if not query and not type:
        count = str(status["count"])
    whole = f"{wanted} type:{type}" if type else wanted
    return {
        "name": name,
        "items": page["items"],
        "count": count,
        "rest": build_path(f"{ITEMS}/table", q=whole, sort=sort) if page["has_more"] else "",
    }


def move_card(request: PageRequest) -> PageResponse:
    """Another status for one item; back to its card."""
    number = request.get_field("id")
    try:
        request.call(
            "items",
            "update_item",
            type="items",
            id=read_count(number, 10**9),
            status=request.get_field("status"),
            expected_revision=read_count(request.get_field("revision"), 10**9) or None,
        )
    except Refusal as error:
        if error.kind not in ("invalid", "conflict", "missing"):
            raise
        return show_board(request, error.message)
    return redirect(f"{_locate_board(request, notice='moved')}#item-{read_count(number, 10**9)}")


def _locate_board(request: PageRequest, notice: str = "") -> str:
    """The same board with the same filters."""
    kept = [(name, value) for name, value in request.pairs if name in ("q", "type", "sort", "closed", "most") and value]
    query = urlencode([*kept, *([("notice", notice)] if notice else [])])
    return f"{ITEMS}?{query}" if query else ITEMS
