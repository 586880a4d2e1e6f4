"""`fields`: of a result, only the parts that were asked for, in the shape and the order that they have. Pure.

A path is keys joined by dots; a list on the way is walked through, and keeps its length (`items.id` turns
`{"items": [{"id": 1, "text": …}, …], "total": 2}` into `{"items": [{"id": 1}, …]}`). Where a path goes on and the value
does not, the value is left out (null in a list); a null stays null.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from tokonoma.gateway.reference import field_path

Tree = dict[str, "Tree"]  # an empty tree keeps everything


def project(value: Any, fields: Sequence[str]) -> tuple[Any, list[str]]:
    """The value with those fields alone, and the fields that it does not have."""
    paths = {written: field_path(written) for written in fields}
    return _pruned(value, _tree(paths.values())), [written for written, path in paths.items() if _missing(value, path)]


def _tree(paths: Iterable[tuple[str, ...]]) -> Tree:
    tree: Tree = {}
    for path in sorted(paths, key=len):  # the shorter first: all of a thing includes its parts
        node = tree
        for key in path:
            if key in node and not node[key]:
                break
            node = node.setdefault(key, {})
    return tree


def _pruned(value: Any, tree: Tree) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_pruned(each, tree) for each in cast(list[Any], value)]
    if not isinstance(value, dict):
        return None
    held = cast(dict[str, Any], value)
    return {key: _pruned(each, tree[key]) for key, each in held.items() if key in tree and _goes_on(each, tree[key])}


def _goes_on(value: Any, tree: Tree) -> bool:
    return not tree or value is None or isinstance(value, dict | list)


def _missing(value: Any, path: tuple[str, ...]) -> bool:
    """Whether the value has nothing there; where an empty list or a null hides it, nobody can tell."""
    level = [value]
    for key in path:
        level = _through_lists(level)
        if all(each is None for each in level):
            return False
        objects = cast(list[dict[str, Any]], [each for each in level if isinstance(each, dict)])
        level = [each[key] for each in objects if key in each]
        if not level:
            return True
    return False


def _through_lists(values: list[Any]) -> list[Any]:
    while any(isinstance(each, list) for each in values):
        values = [inner for each in values for inner in (cast(list[Any], each) if isinstance(each, list) else [each])]
    return values
