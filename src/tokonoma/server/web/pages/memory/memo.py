"""One memo: its text, what is known about it, what it replaces, its relations and links."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from tokonoma.core.errors import Missing, Refusal
from tokonoma.server.web.pages.memory.read import EVERYWHERE, find_memo, read_memo, read_version
from tokonoma.server.web.pages.memory.shown import complete, list_chips, name_memo
from tokonoma.server.web.pages.memory.view import PATH, MemoView
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect

_NEIGHBOURS = 200  # memos of a thread among which the one before and the one after are looked for
_SIMILAR = 3
_EMPTY = dict.fromkeys(("target", "tag", "weight", "reason", "direction", "replaced"), "")


def show_memo(request: PageRequest) -> PageResponse:
    memo_id, _, version = request.names["name"].partition("@")
    if version.isdecimal():  # the address of an earlier version
        return redirect(f"{link_memo(memo_id)}/history?version={version}")
    return show_current(request, memo_id)


def show_current(request: PageRequest, memo_id: str, *, problem: str = "", typed: Any = None) -> PageResponse:
    """`problem` and `typed`: a relation that was not stored, and what its form held."""
    memo = find_memo(request, memo_id)
    if memo is None:
        return _show_removed(request, memo_id)
    around = {"startMemoId": memo_id, "namespace": EVERYWHERE, "direction": "both", "maxDepth": 1}
    related = request.ask("memory", "relation.graph", {"nodes": [], "edges": [], "has_more": False}, **around)
    named = {each["memo_id"]: name_memo(each) for each in related["nodes"]}
    for each in (*memo.get("supersedes", ()), memo.get("superseded_by", "")):
        if each and each not in named:
            named[each] = name_other(request, each)
    return PageResponse(
        "memory/memo.html",
        {
            "memo": complete(memo),
            "name": name_memo(memo),
            "chips": list_chips(memo["metadata"]),
            "metadata": format_metadata(memo["metadata"]),
            "edges": [complete(each) for each in related["edges"]],
            "edges_are_cut": related["has_more"],
            "named": named,
            "links": _list_foreign_links(request, memo_id),
            "around": _find_neighbours(request, memo),
            "similar": _list_similar(request),
            "here": link_memo(memo_id),
            "view": MemoView(),
            "problem": problem,
            "typed": {**_EMPTY, **(typed or {})},
        },
        400 if problem else 200,
    )


def link_memo(memo_id: str) -> str:
    return f"{PATH}/{quote(memo_id, safe='')}"


def name_other(request: PageRequest, memo_id: str) -> str:
    """The name of a memo that another one mentions, also of one in the trash."""
    try:
        (newest,) = request.call("memory", "history", memo_id=memo_id, limit=1)["items"]
    except Missing:
        return memo_id
    return name_memo({"memo_id": memo_id, **newest})


def format_metadata(metadata: Mapping[str, Any]) -> str:
    return json.dumps(metadata, ensure_ascii=False, indent=2) if metadata else ""


def _show_removed(request: PageRequest, memo_id: str) -> PageResponse:
    """A memo that was deleted or has expired: what it held last, and how it comes back. Missing if there is none."""
    newest = request.call("memory", "history", memo_id=memo_id, limit=1)["items"][0]
    memo = complete({"memo_id": memo_id, **read_version(request, memo_id, newest["version"])})
    merged_into = memo["merged_into"]
    return PageResponse(
        "memory/removed.html",
        {
            "memo": memo,
            "name": name_memo(memo),
            "here": link_memo(memo_id),
            "merged_into": merged_into,
            "merged_name": name_other(request, merged_into) if merged_into else "",
        },
    )


def _list_foreign_links(request: PageRequest, memo_id: str) -> list[dict[str, Any]]:
    """Links to records of other modules. Relations to memos stand in a table of their own."""
    address = f"tokonoma://memory/{memo_id}"
    try:
        links = request.call("gateway", "fetch", id=address)["metadata"].get("links", [])
    except Refusal:  # this reader may not use it: the page stands without
        return []
    return [each for each in links if not each["id"].startswith("tokonoma://memory/")]


def _find_neighbours(request: PageRequest, memo: Mapping[str, Any]) -> dict[str, dict[str, Any] | None]:
    """The memos before and after this one in its thread."""
    if not memo.get("thread"):
        return {"before": None, "after": None}
    of_thread = {"namespace": EVERYWHERE, "thread": memo["thread"], "limit": _NEIGHBOURS}
    listed = request.ask("memory", "list", {"items": []}, **of_thread)["items"]
    named = [{**each, "name": name_memo(each)} for each in listed]
    place = next((number for number, each in enumerate(named) if each["memo_id"] == memo["memo_id"]), None)
    if place is None:  # the thread is longer than what was looked at
        return {"before": None, "after": None}
    return {
        "before": named[place - 1] if place else None,
        "after": named[place + 1] if place + 1 < len(named) else None,
    }


def _list_similar(request: PageRequest) -> list[dict[str, Any]]:
    """Earlier memos that memory.save has named; the address of the page carries their ids."""
    return list(_read_all(request, request.list_parameter("similar")[:_SIMILAR]))


def _read_all(request: PageRequest, ids: Iterable[str]) -> Iterable[dict[str, Any]]:
    for memo_id in ids:
        try:
            memo = read_memo(request, memo_id)
        except Missing:
            continue
        yield {**memo, "name": name_memo(memo)}
