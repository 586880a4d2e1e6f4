"""`/admin/items/{name}`: one item with comments and links, and what can be done with it in one step."""

from collections.abc import Callable
from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.items.view import (
    ITEMS,
    list_statuses,
    list_types,
    load_item,
    locate_item,
    read_count,
    read_number,
    render_items,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_COMMENTS = 20
_MOST_COMMENTS = 1_000
_MOST_MINUTES = 43_200


def show_item(request: PageRequest) -> PageResponse:
    return _render_item(request)


def change_item(request: PageRequest) -> PageResponse:
    """One of the small forms. What was typed stands in its form again, if the tool refuses it."""
    act = _ACTIONS.get(request.get_field("action"))
    if act is None:
        problem = "Choose what to do."
        return _render_item(request, problem)
    number = read_number(request)
    try:
        act(request, number)
    except (Invalid, Conflict, Missing) as error:
        return _render_item(request, error.message)
    return redirect(build_path(locate_item(number), notice="saved"))


def show_delete(request: PageRequest) -> PageResponse:
    return render_items(request, "delete.html", item=load_item(request))


def delete(request: PageRequest) -> PageResponse:
    expected = read_count(request.get_field("revision"), 10**9) or None
    try:
        request.call("items", "delete_item", type="items", id=read_number(request), expected_revision=expected)
    except Conflict as error:
        return render_items(request, "delete.html", 409, item=load_item(request), problem=error.message)
    return redirect(build_path(f"{ITEMS}/table", state="trash", notice="deleted"))


def _render_item(request: PageRequest, problem: str = "") -> PageResponse:
    wanted = read_count(request.get_parameter("comments"), _MOST_COMMENTS, _COMMENTS)
    item = load_item(request, wanted)
    kinds: dict[str, list[dict[str, Any]]] = {}
    for link in item["relations"]:
        kinds.setdefault(link["kind"], []).append(link)
    return render_items(
        request,
        "item.html",
        status=400 if problem else 200,
        item=item,
        kinds=kinds,
        statuses=[each["name"] for each in list_statuses(request)],
        types=list_types(request),
        all_comments=build_path(locate_item(item["id"]), comments=_MOST_COMMENTS),
        typed={name: request.get_field(name) for name in ("text", "assignee", "minutes", "to_type")},
        problem=problem,
    )


def _set_status(request: PageRequest, number: int) -> None:
    _update(request, number, status=request.get_field("status"))


def _add_comment(request: PageRequest, number: int) -> None:
    text = request.get_field("text")
    if not text.strip():
        raise Invalid("Write a comment first.")
    request.call("items", "update_item", type="items", id=number, comment=text)


def _assign(request: PageRequest, number: int) -> None:
    _update(request, number, assignee=request.get_field("assignee").strip())


def _claim(request: PageRequest, number: int) -> None:
    minutes = read_count(request.get_field("minutes"), _MOST_MINUTES)
    request.call(
        "items",
        "claim_item",
        type="items",
        id=number,
        assignee=request.get_field("assignee").strip() or None,
        minutes=minutes or None,
    )


def _release(request: PageRequest, number: int) -> None:
    """By the name of the one that holds it: a person at the pages may free what an agent left behind."""
    holder = load_item(request, 0).get("assignee")
    request.call("items", "claim_item", type="items", id=number, assignee=holder, release=True)


def _change_type(request: PageRequest, number: int) -> None:
    request.call(
        "items",
        "change_item_type",
        from_type="items",
        from_id=number,
        to_type=request.get_field("to_type").strip(),
        expected_revision=read_count(request.get_field("revision"), 10**9) or None,
    )


def _update(request: PageRequest, number: int, **fields: str) -> None:
    expected = read_count(request.get_field("revision"), 10**9) or None
    request.call("items", "update_item", type="items", id=number, expected_revision=expected, **fields)


_ACTIONS: dict[str, Callable[[PageRequest, int], None]] = {
    "status": _set_status,
    "comment": _add_comment,
    "assign": _assign,
    "claim": _claim,
    "release": _release,
    "type": _change_type,
}
