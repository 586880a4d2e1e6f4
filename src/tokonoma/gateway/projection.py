"""`fields`: of a result, only the parts that were asked for, in the shape and the order that they have. Pure.

A path is keys joined by dots; a list on the way is walked through, and keeps its length (`items.id` turns
`{"items": [{"id": 1, "text": …}, …], "total": 2}` into `{"items": [{"id": 1}, …]}`). Where a path goes on and the value
does not, the value is left out (null in a list); a null stays null.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from tokonoma.gateway.reference import parse_field_path

FieldTree = dict[str, "FieldTree"]  # an empty tree keeps everything


def project(value: Any, fields: Sequence[str]) -> tuple[Any, list[str]]:
    """The value with those fields alone, and the fields that it does not have."""
    paths = {written: parse_field_path(written) for written in fields}
    return _prune(value, _build_tree(paths.values())), [
        written for written, path in paths.items() if _is_missing(value, path)
    ]


def _build_tree(paths: Iterable[tuple[str, ...]]) -> FieldTree:
    tree: FieldTree = {}
    for path in sorted(paths, key=len):  # the shorter first: all of a thing includes its parts
        node = tree
        for key in path:
            if key in node and not node[key]:
                break
            node = node.setdefault(key, {})
    return tree


def _prune(value: Any, tree: FieldTree) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_prune(each, tree) for each in cast(list[Any], value)]
    if not isinstance(value, dict):
        return None
    held = cast(dict[str, Any], value)
    return {key: _prune(each, tree[key]) for key, each in held.items() if key in tree and _can_descend(each, tree[key])}


def _can_descend(value: Any, tree: FieldTree) -> bool:
    return not tree or value is None or isinstance(value, dict | list)


def _is_missing(value: Any, path: tuple[str, ...]) -> bool:
    """Whether the value has nothing there; where an empty list or a null hides it, nobody can tell."""
    level = [value]
    for key in path:
        level = _flatten_lists(level)
        if all(each is None for each in level):
            return False
        objects = cast(list[dict[str, Any]], [each for each in level if isinstance(each, dict)])
        level = [each[key] for each in objects if key in each]
        if not level:
            return True
    return False


def _flatten_lists(values: list[Any]) -> list[Any]:
    while any(isinstance(each, list) for each in values):
        values = [inner for each in values for inner in (cast(list[Any], each) if isinstance(each, list) else [each])]
    return values
