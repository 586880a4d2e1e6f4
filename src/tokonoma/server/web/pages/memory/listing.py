"""The list of memos, filtered and sorted, and the search in them."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.server.web.pages.memory.shown import complete, list_chips, mark_words, name_memo
from tokonoma.server.web.pages.memory.tree import MOST, build_tree
from tokonoma.server.web.pages.memory.view import (
    MODES,
    SORTS,
    MemoView,
    build_metadata_filter,
    end_day,
    parse_memo_id,
    read_view,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse

_PAGE = 50
_FOUND = 50
_STATES = ("kept", "expired")


def show_memos(request: PageRequest) -> PageResponse:
    view = read_view(request)
    namespaces = list_namespaces(request)
    found: dict[str, Any] = {"items": []}
    problem = ""
    try:
        found = _search(request, view) if view.q else _list(request, view)
    except Invalid as error:  # a filter that the reader can correct
        problem = error.message
    return PageResponse(
        "memory/list.html",
        {
            "view": view,
            "tree": build_tree(namespaces["items"], view.namespace or "/"),
            "tree_is_cut": namespaces["has_more"],
            "memos": [describe(each, view.q) for each in found["items"]],
            "found": complete(found),
            "problem": problem,
            "next": view.link(cursor=found["next_cursor"]) if found.get("next_cursor") else "",
        },
        400 if problem else 200,
    )


def list_namespaces(request: PageRequest) -> dict[str, Any]:
    """The first thousand by name. The rest can be reached by typing a namespace."""
    return request.ask("memory", "namespaces", {"items": [], "has_more": False}, limit=MOST)


def describe(memo: dict[str, Any], query: str = "") -> dict[str, Any]:
    """A memo of a list or a hit, with what the template shows of it."""
    details: dict[str, Any] = memo.get("score_details", {})
    terms: dict[str, float] = details["text"]["terms"] if "text" in details else {}
    words = [*terms, *query.split()]
    marked = {"name": mark_words(name_memo(memo), words), "start": mark_words(memo["content"], words)}
    return {**complete(memo), **marked, "chips": list_chips(memo["metadata"]), "scores": _list_scores(memo, details)}


def _list(request: PageRequest, view: MemoView) -> dict[str, Any]:
    sort, order = SORTS.get(view.sort, (None, None))
    return request.call(
        "memory",
        "list",
        namespace=view.namespace or "/",
        state=view.state if view.state in _STATES else None,
        thread=view.thread or None,
        metadata_filter=build_metadata_filter(view.tests),
        since=view.since or None,
        until=end_day(view.until),
        valid_at=view.valid or None,
        sort=sort,
        order=order,
        limit=_PAGE,
        cursor=view.cursor or None,
    )


def _search(request: PageRequest, view: MemoView) -> dict[str, Any]:
    return request.call(
        "memory",
        "search",
        query=view.q,
        namespace=view.namespace or "/",
        thread=view.thread or None,
        metadata_filter=build_metadata_filter(view.tests),
        mode=view.mode if view.mode in MODES else None,
        since=view.since or None,
        until=end_day(view.until),
        valid_at=view.valid or None,
        k=_FOUND,
        explain=True,
        expect_memo_id=parse_memo_id(view.expect) or None,
        detail="full",
    )


def _list_scores(memo: Mapping[str, Any], details: Mapping[str, Any]) -> list[tuple[str, float]]:
    """What the score of a hit was made of, each from 0 to 1; only what took part."""
    if not details:
        return []
    parts = [("score", memo["score"])]
    if "text" in details:
        parts += [("words", details["text"]["level"]), ("coverage", details["text"]["coverage"])]
        if details["text"].get("thread"):
            # What the words around it in its thread add, as a share of all words that were asked for.
            parts.append(("thread", min(1.0, details["text"]["thread"] / (details["text"]["total"] or 1.0))))
    if "vector" in details:
        parts.append(("meaning", details["vector"]["share"]))
    if "time_share" in details or "time" in details:
        parts.append(("date", details.get("time_share", details.get("time", 0.0))))
    return [(name, float(value)) for name, value in parts]
