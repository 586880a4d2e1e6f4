"""`/admin/items/{name}/links`: what an item is linked to, what must be done first, and the way from one to another."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.items.view import load_item, locate_item, read_count, read_number, render_items
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

KINDS = ("related", "blocks", "blocked_by", "parent_of", "child_of")
_DEPTH = 3
_MOST = 200
_MOST_LINES = 200


def show_links(request: PageRequest, problem: str = "") -> PageResponse:
    item = load_item(request, 0)
    around = request.call(
        "items", "get_related_items", type="items", id=item["id"], depth=_DEPTH, max_results=_MOST, include_edges=True
    )
    known = {each["item"]["address"]: each["item"] for each in around["related_items"]}
    known[item["address"]] = around["center_item"]
    edges: Sequence[Mapping[str, str]] = around.get("edges", [])
    target = request.get_parameter("to").strip()
    paths, path_problem = _find_paths(request, item, target, edges)
    return render_items(
        request,
        "links.html",
        status=400 if problem else 200,
        item=item,
        kinds=KINDS,
        first=build_tree(item["address"], edges, known, "blocks", forward=False),
        then=build_tree(item["address"], edges, known, "blocks", forward=True),
        parts_of=build_tree(item["address"], edges, known, "parent_of", forward=True),
        around=around["related_items"],
        is_cut=around.get("truncated", False),
        target=target,
        paths=paths,
        path_problem=path_problem,
        typed={name: request.get_field(name) for name in ("target", "kind")},
        problem=problem,
    )


def change_links(request: PageRequest) -> PageResponse:
    number, kind = read_number(request), request.get_field("kind")
    tool = "remove_relation" if request.get_field("action") == "remove" else "add_relation"
    target = request.get_field("target").strip()
    try:
        request.call("items", tool, type="items", id=number, target=target, kind=kind or None)
    except (Invalid, Conflict, Missing) as error:
        return show_links(request, error.message)
    return redirect(build_path(locate_item(number, "links"), notice="saved"))


def build_tree(
    start: str, edges: Sequence[Mapping[str, str]], known: Mapping[str, Any], kind: str, *, forward: bool
) -> list[tuple[int, Any]]:
    """(depth, item) in the order of a tree, without its root. An item that is reached twice stands there once."""
    near, far = ("source", "target") if forward else ("target", "source")
    lines: list[tuple[int, Any]] = []
    seen = {start}

    def walk(address: str, depth: int) -> None:
        for edge in edges:
            other = edge[far]
            if edge["kind"] == kind and edge[near] == address and other in known and other not in seen:
                seen.add(other)
                lines.append((depth, known[other]))
                if len(lines) < _MOST_LINES:
                    walk(other, depth + 1)

    walk(start, 0)
    return lines


def _find_paths(
    request: PageRequest, item: Mapping[str, Any], target: str, edges: Sequence[Mapping[str, str]]
) -> tuple[list[list[tuple[str, Any]]], str]:
    """Each path as (how it is reached, item), and what was wrong with the target."""
    if not target:
        return [], ""
    number = read_count(target.lstrip("#").rpartition("-")[2], 10**17)
    kinds = {frozenset((edge["source"], edge["target"])): edge["kind"] for edge in edges}
    try:
        found = request.call(
            "items", "find_path", from_type="items", from_id=item["id"], to_type="items", to_id=number, max_paths=5
        )
    except (Invalid, Missing) as error:
        return [], error.message
    paths: list[list[tuple[str, Any]]] = []
    for path in found["paths"]:
        steps: list[tuple[str, Any]] = []
        for place, each in enumerate(path["items"]):
            before = path["items"][place - 1]["address"] if place else ""
            steps.append((kinds.get(frozenset((before, each["address"])), ""), each))
        paths.append(steps)
    return paths, ""
