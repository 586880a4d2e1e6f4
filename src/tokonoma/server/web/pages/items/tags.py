"""`/admin/items/tags`: the tags in use; rename one, merge it into another, or remove it, in two steps."""

from tokonoma.core.errors import Invalid, Missing
from tokonoma.server.web.pages.items.view import ITEMS, render_items
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_PAGE = 200


def show_tags(request: PageRequest, problem: str = "") -> PageResponse:
    cursor = request.get_parameter("cursor") or None
    page = request.call("items", "get_tags", limit=_PAGE, cursor=cursor)
    tag = request.get_parameter("tag") or request.get_field("tag")
    following = page.get("next_cursor", "")
    return render_items(
        request,
        "tags.html",
        status=400 if problem else 200,
        page=page,
        tag=tag,
        to=request.get_field("to"),
        more=build_path(f"{ITEMS}/tags", cursor=following) if following else "",
        problem=problem,
    )


def rename(request: PageRequest) -> PageResponse:
    tag, to = request.get_field("tag"), request.get_field("to").strip()
    if request.get_field("confirmed") != "yes":
        return _ask(request, tag, to)
    try:
        request.call("items", "rename_tag", tag=tag, to=to)
    except (Invalid, Missing) as error:
        return show_tags(request, error.message)
    return redirect(build_path(f"{ITEMS}/tags", notice="saved"))


def _ask(request: PageRequest, tag: str, to: str) -> PageResponse:
    """How many items it concerns, and whether the new name is in use: then the two become one."""
    counts = [request.call("items", "search_items_by_tag", tag=each, limit=100) if each else None for each in (tag, to)]
    having, merged = counts
    assert having is not None
    if not having["items"]:
        problem = "No item has this tag."
        return show_tags(request, problem)
    return render_items(
        request,
        "rename.html",
        tag=tag,
        to=to,
        items=having["items"],
        has_more=having["has_more"],
        is_merged=bool(merged and merged["items"]) and tag.casefold() != to.casefold(),
    )
