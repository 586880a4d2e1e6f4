"""Schemas of strangers: bounded, and rewritten to the few keywords that are shown and checked here. Pure.

Nothing of a schema is evaluated beyond names and top-level types, and nothing that it refers to is ever fetched.
"""

from collections.abc import Mapping
from typing import Any, cast

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.upstream.texts import clean_text

MAX_BYTES = 256 * 1024
MAX_LEVELS = 64

_MAX_SHOWN_LEVELS = 6
_MAX_PARTS = 400  # of a schema that is shown
_MAX_NOTE = 300  # characters of a description inside a schema
_MAX_ENUM = 60
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")

Schema = dict[str, Any]


def check_schema(tool: str, schema: Any) -> None:
    """Invalid for a schema that is too large, too deep or not an object."""
    if not isinstance(schema, dict):
        raise Invalid(f"The schema of {tool[:80]!r} is not an object.", reason="schema")
    if measure_depth(cast("Schema", schema)) > MAX_LEVELS:
        raise Invalid(f"The schema of {tool[:80]!r} has more than {MAX_LEVELS} levels.", reason="schema")
    size = len(orjson.dumps(schema))
    if size > MAX_BYTES:
        raise Invalid(f"The schema of {tool[:80]!r} has {size} bytes, and {MAX_BYTES} is the most.", reason="schema")


def measure_depth(value: Any) -> int:
    """How deep lists and objects lie in each other, counted without recursion; stops soon after the limit."""
    depth = 0
    level: list[Any] = [value]
    while level and depth <= MAX_LEVELS:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += cast("Schema", each).values()
            elif isinstance(each, list):
                inner += cast("list[Any]", each)
        level = [each for each in inner if type(each) in (dict, list)]
        depth += 1
    return depth


def simplify_schema(schema: Any) -> Schema:
    """A well-formed schema with the keywords that a signature shows, whatever the server sent. Local `$ref`s are filled
    in where they end; all others become "any"."""
    whole = cast("Schema", schema) if isinstance(schema, dict) else {}
    simple = _Simplifier(whole).simplify(whole, 0, ())
    simple["type"] = "object"
    simple.setdefault("properties", {})
    return simple


class _Simplifier:
    def __init__(self, whole: Schema) -> None:
        self._whole, self._left = whole, _MAX_PARTS

    def simplify(self, node: Any, level: int, seen: tuple[str, ...]) -> Schema:
        self._left -= 1
        if not isinstance(node, dict) or level > _MAX_SHOWN_LEVELS or self._left < 0:
            return {}
        part = cast("Schema", node)
        target = part.get("$ref")
        if isinstance(target, str):
            found = None if target in seen or len(seen) > _MAX_SHOWN_LEVELS else self._find(target)
            return {} if found is None else self.simplify(found, level, (*seen, target))
        simple = _take_plain(part)
        for word in ("anyOf", "oneOf"):
            options = part.get(word)
            if isinstance(options, list) and options and "anyOf" not in simple:
                each = cast("list[Any]", options)[:_MAX_ENUM]
                simple["anyOf"] = [self.simplify(option, level + 1, seen) for option in each]
        if "items" in part:
            simple["items"] = self.simplify(part["items"], level + 1, seen)
        return simple | self._simplify_object(part, level, seen)

    def _simplify_object(self, part: Schema, level: int, seen: tuple[str, ...]) -> Schema:
        properties, required, rest = part.get("properties"), part.get("required"), part.get("additionalProperties")
        simple: Schema = {}
        if isinstance(properties, dict):
            members = cast("Mapping[str, Any]", properties).items()
            simple["properties"] = {name: self.simplify(each, level + 1, seen) for name, each in members}
        if isinstance(required, list):
            simple["required"] = [each for each in cast("list[Any]", required) if isinstance(each, str)]
        if isinstance(rest, bool):
            simple["additionalProperties"] = rest
        elif isinstance(rest, dict):
            simple["additionalProperties"] = self.simplify(rest, level + 1, seen)
        return simple

    def _find(self, target: str) -> Any:
        """What a `$ref` into the same document leads to; None for any other."""
        if not target.startswith("#/") or len(target) > 300:
            return None
        found: Any = self._whole
        for step in target[2:].split("/"):
            found = (
                cast("Schema", found).get(step.replace("~1", "/").replace("~0", "~"))
                if isinstance(found, dict)
                else None
            )
        return found


def _take_plain(part: Schema) -> Schema:
    """Type, bounds, values and note."""
    simple: Schema = {}
    kind: Any = part.get("type")
    if isinstance(kind, list):
        kinds = [each for each in cast("list[Any]", kind) if each in _TYPES]
        if len(kinds) == 1:
            simple["type"] = kinds[0]
        elif kinds:
            simple["anyOf"] = [{"type": each} for each in kinds]
    elif kind in _TYPES:
        simple["type"] = kind
    for word in (*_NUMBERS, *_COUNTS):
        value = part.get(word)
        if isinstance(value, int | float) and not isinstance(value, bool):
            simple[word] = value
    values = part.get("enum")
    if isinstance(values, list) and values:
        simple["enum"] = [_limit_value(each) for each in cast("list[Any]", values)[:_MAX_ENUM]]
    for word in ("const", "default"):
        if word in part and not isinstance(part[word], dict | list):
            simple[word] = _limit_value(part[word])
    if note := clean_text(part.get("description"), _MAX_NOTE):
        simple["description"] = note
    return simple


def _limit_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value, 100)
    return value if isinstance(value, bool | int | float) or value is None else None
