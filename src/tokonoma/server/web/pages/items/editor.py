"""`/admin/items/new` and `/admin/items/{name}/edit`: all fields of an item, a preview, and both texts of a conflict."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.items.view import (
    PRIORITIES,
    TEXTS,
    diff_texts,
    list_statuses,
    list_types,
    load_item,
    locate_item,
    read_count,
    render_items,
    split_tags,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

FIELDS = (
    "title", "description", "content", "status", "priority", "category", "start_date", "end_date", "version",
    "assignee", "tags",
)  # fmt: skip
_BLANK = dict.fromkeys(FIELDS, "") | {"status": "Open", "priority": "MEDIUM", "type": "issue", "related": ""}


def show_new(request: PageRequest) -> PageResponse:
    wanted = {name: request.get_parameter(name) for name in ("type", "status", "title")}
    return _render_new(request, _BLANK | {name: value for name, value in wanted.items() if value})


def create(request: PageRequest) -> PageResponse:
    typed = {name: request.get_field(name) for name in (*FIELDS, "type", "related")}
    if request.get_field("action") == "preview":
        return _render_new(request, typed, preview=True)
    given: dict[str, Any] = {name: value for name, value in typed.items() if value}
    given |= {"title": typed["title"], "type": typed["type"]}
    if typed["tags"]:
        given["tags"] = split_tags(typed["tags"])
    if typed["related"]:
        given["related"] = typed["related"].replace(",", " ").split()
    try:
        item = request.call("items", "create_item", **given)
    except (Invalid, Missing) as error:
        return _render_new(request, typed, error.message)
    return redirect(build_path(locate_item(item["id"]), notice="saved"))


def show_editor(request: PageRequest) -> PageResponse:
    item = load_item(request)
    return _render_editor(request, item, format_fields(item))


def save(request: PageRequest) -> PageResponse:
    """Only what was changed is sent: a text that is shown with masks is not stored with them."""
    item, typed = load_item(request), {name: request.get_field(name) for name in FIELDS}
    expected = read_count(request.get_field("revision"), 10**9) or item["revision"]
    if request.get_field("action") == "preview":
        return _render_editor(request, item | {"revision": expected}, typed, preview=True)
    stored = format_fields(item)
    changed: dict[str, Any] = {name: value for name, value in typed.items() if value != stored[name]}
    if "tags" in changed:
        changed["tags"] = split_tags(typed["tags"])
    if comment := request.get_field("comment"):
        changed["comment"] = comment
    if not changed:
        return redirect(locate_item(item["id"]))
    try:
        request.call("items", "update_item", type="items", id=item["id"], **changed, expected_revision=expected)
    except Conflict:
        # Read again: it may have changed since the lines above, too.
        return _show_conflict(request, load_item(request), typed)
    except (Invalid, Missing) as error:
        return _render_editor(request, item | {"revision": expected}, typed, error.message)
    return redirect(build_path(locate_item(item["id"]), notice="saved"))


def format_fields(item: Mapping[str, Any]) -> dict[str, str]:
    """As the fields of the form hold them."""
    fields = {name: (item.get(name) or "").replace("\r\n", "\n") for name in FIELDS if name != "tags"}
    for name in ("start_date", "end_date"):
        fields[name] = fields[name].removesuffix("T00:00:00.000Z")
    return fields | {"tags": ", ".join(item["tags"])}


def _show_conflict(request: PageRequest, item: dict[str, Any], typed: dict[str, str]) -> PageResponse:
    """Both versions, field by field. The form keeps what was typed; saved again, it replaces what is stored now."""
    stored = format_fields(item)
    both = [
        (name, stored[name], typed[name], diff_texts(stored[name], typed[name]) if name in TEXTS else [])
        for name in FIELDS
        if stored[name] != typed[name]
    ]
    problem = "This item was changed after you opened it. Nothing was saved yet."
    return _render_editor(request, item, typed, problem, status=409, both=both)


def _render_editor(
    request: PageRequest,
    item: Mapping[str, Any],
    typed: Mapping[str, str],
    problem: str = "",
    status: int = 0,
    **values: Any,
) -> PageResponse:
    common: dict[str, Any] = {"preview": False, "both": [], "comment": request.get_field("comment"), **values}
    return render_items(
        request,
        "edit.html",
        status=status or (400 if problem else 200),
        item=item,
        form=typed,
        statuses=[each["name"] for each in list_statuses(request)],
        priorities=PRIORITIES,
        problem=problem,
        **common,
    )


def _render_new(
    request: PageRequest, typed: Mapping[str, str], problem: str = "", *, preview: bool = False
) -> PageResponse:
    return render_items(
        request,
        "new.html",
        status=400 if problem else 200,
        form=typed,
        types=list_types(request),
        statuses=[each["name"] for each in list_statuses(request)],
        priorities=PRIORITIES,
        problem=problem,
        preview=preview,
    )
