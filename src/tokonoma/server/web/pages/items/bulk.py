"""`/admin/items/bulk`: the same change for all items of a query. First it shows what would change, item by item."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Invalid, Missing
from tokonoma.server.web.pages.items.view import ITEMS, PRIORITIES, list_statuses, render_items, split_tags
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_PLAIN = ("status", "priority", "assignee", "category", "version", "start_date", "end_date")
_CLEARABLE = ("assignee", "category", "version", "start_date", "end_date")
_TYPED = (*_PLAIN, "query", "add_tags", "remove_tags", "comment")
_PAGE = 100


def show_bulk(request: PageRequest) -> PageResponse:
    typed = dict.fromkeys(_TYPED, "") | {"query": request.get_parameter("q")}
    return _render_bulk(request, typed, [])


def change_many(request: PageRequest) -> PageResponse:
    typed = {name: request.get_field(name).strip() for name in _TYPED}
    cleared = [name for name in request.list_field("clear") if name in _CLEARABLE]
    if request.get_field("action") == "edit":
        return _render_bulk(request, typed, cleared)
    problem = ""
    data = read_changes(typed, cleared)
    if not typed["query"]:
        problem = "Write a query first: it says which items are changed."
    elif not data:
        problem = "Choose at least one change."
    if problem:
        return _render_bulk(request, typed, cleared, problem)
    try:
        found = request.call("items", "bulk_update", query=typed["query"], data=data, dry_run=True)["items"]
        current = _fingerprint(found)
        if request.get_field("action") == "apply":
            if request.get_field("seen") == current:
                request.call("items", "bulk_update", query=typed["query"], data=data)
                return redirect(build_path(f"{ITEMS}/table", q=typed["query"], notice="changed-many"))
            problem = "The items have changed since the preview. Look at it again."
        rows = [(item, preview_item(item, data)) for item in _load_items(request, typed["query"], len(found))]
    except (Invalid, Missing) as error:
        return _render_bulk(request, typed, cleared, error.message)
    return render_items(
        request,
        "preview.html",
        status=409 if problem else 200,
        form=typed,
        cleared=cleared,
        found=found,
        rows=rows,
        seen=current,
        changing=sum(bool(changes) for _, changes in rows),
        problem=problem,
    )


def read_changes(typed: Mapping[str, str], cleared: Sequence[str]) -> dict[str, Any]:
    """The data of the tool: what was filled in, and an empty text for what is to be cleared."""
    data: dict[str, Any] = {name: typed[name] for name in _PLAIN if typed[name]}
    data |= dict.fromkeys(cleared, "")
    data |= {name: split_tags(typed[name]) for name in ("add_tags", "remove_tags") if typed[name]}
    return data | ({"comment": typed["comment"]} if typed["comment"] else {})


def preview_item(item: Mapping[str, Any], data: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(field, before, after) of what would differ."""
    changes: list[tuple[str, str, str]] = []
    for name in _PLAIN:
        before = (item.get(name) or "").removesuffix("T00:00:00.000Z")
        if name in data and data[name] != before:
            changes.append((name, before, data[name]))
    removed = {tag.casefold() for tag in data.get("remove_tags", ())}
    present = {tag.casefold() for tag in item["tags"]}
    added = [tag for tag in data.get("add_tags", ()) if tag.casefold() not in present]
    tags = [tag for tag in [*item["tags"], *added] if tag.casefold() not in removed]
    if tags != item["tags"]:
        changes.append(("tags", ", ".join(item["tags"]), ", ".join(tags)))
    if "comment" in data:
        changes.append(("comment", "", data["comment"]))
    return changes


def _load_items(request: PageRequest, query: str, count: int) -> list[dict[str, Any]]:
    """All items of the query with their fields: at most 500, as the change itself takes no more."""
    items: list[dict[str, Any]] = []
    for offset in range(0, count, _PAGE):
        page = request.call("items", "search_items", query=query, sort="id", limit=_PAGE, offset=offset)
        items += page["items"]
    return items


def _fingerprint(found: Sequence[Mapping[str, Any]]) -> str:
    """Of the items and their revisions: what is applied is what was shown."""
    return hashlib.sha256(" ".join(f"{each['id']}:{each['revision']}" for each in found).encode()).hexdigest()


def _render_bulk(
    request: PageRequest, typed: Mapping[str, str], cleared: Sequence[str], problem: str = ""
) -> PageResponse:
    return render_items(
        request,
        "bulk.html",
        status=400 if problem else 200,
        form=typed,
        cleared=cleared,
        clearable=_CLEARABLE,
        statuses=[each["name"] for each in list_statuses(request)],
        priorities=PRIORITIES,
        problem=problem,
    )
