"""The namespaces of memos as a tree. `memory.namespaces` counts what lies directly in each; a folder shows the sum."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST = 1_000
"""Namespaces that one page shows: what `memory.namespaces` lists at once."""


@dataclass(slots=True)
class NamespaceNode:
    path: str
    name: str
    count: int = 0  # with those below
    is_current: bool = False
    is_open: bool = False
    children: "list[NamespaceNode]" = field(default_factory=list["NamespaceNode"])


def build_tree(namespaces: Iterable[Mapping[str, Any]], current: str) -> NamespaceNode:
    """The root, with all others below it. The way to `current` is open."""
    root = NamespaceNode("/", "/", is_open=True)
    known = {"/": root}
    for each in namespaces:
        node = _reach(each["namespace"], known)
        count = each["memos"]
        while True:
            node.count += count
            if node is root:
                break
            node = known[_find_parent(node.path)]
    _mark_current(current, known)
    return root


def _reach(path: str, known: dict[str, NamespaceNode]) -> NamespaceNode:
    if path in known:
        return known[path]
    parent = _reach(_find_parent(path), known)
    node = NamespaceNode(path, path.rpartition("/")[2])
    parent.children.append(node)
    known[path] = node
    return node


def _mark_current(current: str, known: dict[str, NamespaceNode]) -> None:
    path = f"/{current.strip('/')}"
    if path in known:
        known[path].is_current = known[path].is_open = True
    while path != "/":
        path = _find_parent(path)
        if path in known:
            known[path].is_open = True


def _find_parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"
