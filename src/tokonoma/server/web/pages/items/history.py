"""`/admin/items/{name}/history`: every revision and what it changed, two revisions beside each other, and the way
back."""

from collections.abc import Mapping
from typing import Any, cast

from tokonoma.core.errors import Conflict, Invalid
from tokonoma.server.web.pages.items.view import TEXTS, diff_texts, locate_item, read_count, read_number, render_items
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_PAGE = 20
_MOST_CHANGES = 1_000  # that are walked through to compare two revisions


def show_history(request: PageRequest, problem: str = "", status: int = 200) -> PageResponse:
    number = read_number(request)
    cursor = request.get_parameter("cursor") or None
    page = request.call("items", "get_item_history", type="items", id=number, limit=_PAGE, cursor=cursor, full=True)
    latest = request.call("items", "get_item_history", type="items", id=number, limit=1)["items"][0]
    back = read_count(request.get_parameter("back"), 10**9)
    old, new = (read_count(request.get_parameter(name), 10**9) for name in ("old", "new"))
    first, last = (back, latest["revision"]) if back else (min(old, new), max(old, new))
    compared = compare_revisions(request, number, first, last, is_back=bool(back)) if first else None
    following = page.get("next_cursor", "")
    return render_items(
        request,
        "history.html",
        status=status,
        number=number,
        item={"id": number, "title": page["address"], "address": page["address"]},
        changes=[(each, describe_changes(each["changes"])) for each in page["items"]],
        current=latest["revision"],
        is_deleted=latest["action"] == "deleted",
        back=back,
        first=first,
        last=last,
        compared=compared,
        more=build_path(locate_item(number, "history"), cursor=following) if following else "",
        problem=problem,
    )


def revert(request: PageRequest) -> PageResponse:
    number, wanted = read_number(request), read_count(request.get_field("revision"), 10**9)
    expected = read_count(request.get_field("expected"), 10**9) or None
    try:
        request.call(
            "items", "restore_item", type="items", id=number, revision=wanted or None, expected_revision=expected
        )
    except (Conflict, Invalid) as error:
        return show_history(request, error.message, 409 if error.kind == "conflict" else 400)
    return redirect(build_path(locate_item(number), notice="restored"))


def describe_changes(changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Field by field: before and after, long texts as lines that differ."""
    found: list[dict[str, Any]] = []
    for field, change in changes.items():
        if not isinstance(change, dict):
            found.append({"field": field, "kind": "note", "text": str(change)})
        elif (values := cast("dict[str, Any]", change)).keys() & {"from", "to"}:
            found.append(_describe_values(field, values.get("from"), values.get("to")))
        else:
            found.append({"field": field, "kind": "links", "change": change})
    return found


def compare_revisions(
    request: PageRequest, number: int, first: int, last: int, *, is_back: bool = False
) -> list[dict[str, Any]]:
    """What became different between two revisions: the oldest `from` and the newest `to` of each field. `is_back`: on
    the way back to the first one."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    cursor: str | None = None
    for _ in range(_MOST_CHANGES // 100):
        page = request.call("items", "get_item_history", type="items", id=number, limit=100, cursor=cursor, full=True)
        for change in page["items"]:
            if not first < change["revision"] <= last:
                continue
            changes: Mapping[str, Any] = change["changes"]
            for field, value in changes.items():
                if isinstance(value, dict) and "from" in value:
                    values = cast("dict[str, Any]", value)
                    after.setdefault(field, values["to"])
                    before[field] = values["from"]
        cursor = page.get("next_cursor")
        if cursor is None or page["items"][-1]["revision"] <= first:
            break
    old, new = (after, before) if is_back else (before, after)
    return [_describe_values(field, old[field], new[field]) for field in after if old[field] != new[field]]


def _describe_values(field: str, old: Any, new: Any) -> dict[str, Any]:
    if field in TEXTS:
        return {"field": field, "kind": "text", "lines": diff_texts(str(old or ""), str(new or ""))}
    return {"field": field, "kind": "values", "old": _format_value(old), "new": _format_value(new)}


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value)))
    return "" if value is None else str(value).removesuffix("T00:00:00.000Z")
