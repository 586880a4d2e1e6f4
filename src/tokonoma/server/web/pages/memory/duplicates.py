"""Memos that say nearly the same, and joining them."""

from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.memory.compare import compare_texts
from tokonoma.server.web.pages.memory.listing import list_namespaces
from tokonoma.server.web.pages.memory.memo import format_metadata, link_memo
from tokonoma.server.web.pages.memory.read import read_memo
from tokonoma.server.web.pages.memory.shown import name_memo
from tokonoma.server.web.pages.memory.view import PATH
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_GROUPS = 20
_MOST = 51  # memos of one merge: the one that stays, and as many as memory.merge takes
_LEVELS = ("0.7", "0.8", "0.9", "1")


def show_duplicates(request: PageRequest) -> PageResponse:
    namespace, level = request.get_parameter("namespace").strip(), request.get_parameter("level")
    level = level if level in _LEVELS else "0.8"
    cursor = request.get_parameter("cursor") or None
    found: dict[str, Any] = {"items": [], "compared": 0}
    problem = ""
    try:
        found = request.call(
            "memory",
            "duplicates",
            namespace=namespace or "/",
            minimum_similarity=float(level),
            limit=_GROUPS,
            cursor=cursor,
        )
    except Invalid as error:
        problem = error.message
    for group in found["items"]:
        for memo in group["memos"]:
            memo["name"] = name_memo(memo)
    following = build_path(f"{PATH}/duplicates", namespace=namespace, level=level, cursor=found.get("next_cursor", ""))
    return PageResponse(
        "memory/duplicates.html",
        {
            "groups": found["items"],
            "compared": found["compared"],
            "namespace": namespace,
            "namespaces": [each["namespace"] for each in list_namespaces(request)["items"]],
            "level": level,
            "levels": _LEVELS,
            "problem": problem,
            "next": following if found.get("next_cursor") else "",
        },
        400 if problem else 200,
    )


def show_merge(request: PageRequest) -> PageResponse:
    return _show_group(request, request.list_parameter("id"), request.get_parameter("keep"))


def merge_group(request: PageRequest) -> PageResponse:
    ids, keep = request.list_field("id"), request.get_field("keep")
    others = [each for each in dict.fromkeys(ids) if each != keep and f"out-{each}" not in request.form]
    try:
        if keep not in ids:
            raise Invalid("Choose the memo that stays.")
        if not others:
            raise Invalid("Choose at least two memos.")
        version = request.get_field(f"version-{keep}")
        request.call(
            "memory",
            "merge",
            keep=keep,
            merge=others,
            join=request.get_field("text") == "join",
            expected_version=int(version) if version.isdecimal() else None,
        )
    except (Invalid, Conflict, Missing) as error:
        return _show_group(request, ids, keep, error.message)
    return redirect(build_path(link_memo(keep), "merged"))


def _show_group(request: PageRequest, ids: list[str], keep: str, problem: str = "") -> PageResponse:
    """Side by side, each with what it differs in from the one that stays."""
    memos: list[dict[str, Any]] = []
    for memo_id in list(dict.fromkeys(ids))[:_MOST]:
        try:
            memo = read_memo(request, memo_id)
        except Missing:  # deleted or merged since the list was made
            continue
        memos.append({**memo, "name": name_memo(memo), "shown_metadata": format_metadata(memo["metadata"])})
    status = 400 if problem else 200
    if len(memos) < 2 and not problem:  # none is chosen, or this reader may not see them
        status, problem = 404, "Choose at least two memos."
    kept = next((each for each in memos if each["memo_id"] == keep), memos[0] if memos else None)
    for memo in memos:
        same = kept is None or memo is kept
        memo["diff"] = [] if same or kept is None else compare_texts(kept["content"], memo["content"])
    return PageResponse(
        "memory/merge.html",
        {
            "memos": memos,
            "keep": kept["memo_id"] if kept else "",
            "ids": [each["memo_id"] for each in memos],
            "problem": problem,
            "text": request.get_field("text") or "keep",
        },
        status,
    )
