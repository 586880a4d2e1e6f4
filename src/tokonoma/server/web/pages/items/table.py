"""`/admin/items/table`: the query language with its help, sorted and page by page; and the trash."""

from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.server.web.pages.items.view import ITEMS, SORTS, choose, read_count, render_items
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_SIZES = ("20", "50", "100")
_MOST_OFFSET = 1_000


def show_table(request: PageRequest, problem: str = "") -> PageResponse:
    query, is_trash = request.get_parameter("q"), request.get_parameter("state") == "trash"
    sort, order = choose(request.get_parameter("sort"), SORTS, ""), request.get_parameter("order")
    order = choose(order, ("asc", "desc"), "")
    size = choose(request.get_parameter("size"), _SIZES, "50")
    page: dict[str, Any] = {"items": [], "has_more": False}
    following = ""
    try:
        if is_trash or not query:
            page = _list_items(request, is_trash, sort, order, int(size))
            following = page.get("next_cursor", "")
        else:
            page = _search_items(request, query, sort, order, int(size))
            following = page.get("next_offset", "")
    except Invalid as error:
        problem = f"{error.message}\n{error.details.get('pointer', '')}".strip()
    given = {"q": query, "sort": sort, "order": order, "size": size, "state": "trash" if is_trash else ""}
    key = "offset" if query and not is_trash else "cursor"
    return render_items(
        request,
        "table.html",
        status=400 if problem else 200,
        page=page,
        given=given,
        sorts=SORTS,
        sizes=_SIZES,
        is_trash=is_trash,
        more=build_path(f"{ITEMS}/table", **given, **{key: following}) if following else "",
        directions={name: _turn(name, sort, order) for name in SORTS},
        problem=problem,
    )


def restore_from_table(request: PageRequest) -> PageResponse:
    number = read_count(request.get_field("id"), 10**9)
    request.call("items", "restore_item", type="items", id=number)
    return redirect(build_path(f"{ITEMS}/{number}", notice="restored"))


def _list_items(request: PageRequest, is_trash: bool, sort: str, order: str, size: int) -> dict[str, Any]:
    return request.call(
        "items",
        "get_items",
        includeClosedStatuses=True,
        limit=size,
        sort=sort or None,
        order=order or None,
        state="trash" if is_trash else None,
        cursor=request.get_parameter("cursor") or None,
    )


def _search_items(request: PageRequest, query: str, sort: str, order: str, size: int) -> dict[str, Any]:
    return request.call(
        "items",
        "search_items",
        query=query,
        limit=size,
        offset=read_count(request.get_parameter("offset"), _MOST_OFFSET),
        sort=sort or None,
        order=(order or None) if sort else None,
    )


def _turn(name: str, sort: str, order: str) -> str:
    """The direction that a click on the head of a column leads to."""
    natural = "desc" if name in ("updated", "created") else "asc"
    current = order or natural
    if name != sort:
        return natural
    return "asc" if current == "desc" else "desc"
