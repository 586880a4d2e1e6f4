"""Paths of fields, and a value with only some of its fields. Pure.

A path is keys joined by dots, and goes through lists: `items.id` turns `{"items": [{"id": 1, "text": …}], "total": 2}`
into `{"items": [{"id": 1}]}`. Shape and order stay. A value that ends before its path is left out (null in a list); a
null stays null.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

KEY = r"[^\s.\[\]{}\"'$\\]+"
QUOTED = r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
_FIELD = re.compile(rf"(?:^|(?!^)\.)(?P<key>{KEY})|\[(?P<quoted>{QUOTED})\]|(?P<each>\[\*?\])")
_TO_ESCAPE, _ESCAPED = r'(["\\])', r"\\\1"

FieldTree = dict[str, "FieldTree"]  # an empty tree keeps everything


class InvalidPath(ValueError):
    """The text is neither a reference nor a path; the message shows how to write one."""


def parse_field_path(text: str) -> tuple[str, ...]:
    """A path of `fields`: keys only, because a path goes through lists (`items.id`, also `items[].id`)."""
    keys: list[str] = []
    at = 0
    while at < len(text):
        segment = _FIELD.match(text, at)
        if segment is None or (segment["each"] and not keys):
            break
        if not segment["each"]:
            keys.append(segment["key"] or unquote(segment["quoted"]))
        at = segment.end()
    if at < len(text) or not keys:
        raise InvalidPath(f'{shorten(text)!r} is not a field path: write it like total, items.id or items["odd key"].')
    return tuple(keys)


def format_path(start: str, path: Sequence[str | int]) -> str:
    """A path in the notation of references."""
    written = start
    for each in path:
        if isinstance(each, int):
            written += f"[{each}]"
        else:
            written += f".{each}" if re.fullmatch(KEY, each) else f'["{re.sub(_TO_ESCAPE, _ESCAPED, each)}"]'
    return written


def shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def unquote(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)


def project(value: Any, fields: Sequence[str]) -> tuple[Any, list[str]]:
    """The value with only these fields, and the fields that it does not have."""
    paths = {field: parse_field_path(field) for field in fields}
    missing = [field for field, path in paths.items() if _is_missing(value, path)]
    return _prune(value, build_tree(paths.values())), missing


def build_tree(paths: Iterable[tuple[str, ...]]) -> FieldTree:
    tree: FieldTree = {}
    for path in sorted(paths, key=len):  # the shorter first: a whole value includes its parts
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
    """Whether the value has nothing at this path; an empty list or a null on the way is not missing."""
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
