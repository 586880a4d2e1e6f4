"""Plain slips in the parameters of a call: what can be meant in one way only is read that way, and the answer says so.

A value is changed only where the schema refuses it as it is. A text that could itself be meant is never touched.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.core.json_keys import has_duplicate_keys
from tokonoma.core.module import ToolInfo

Parse = Callable[[Mapping[str, Any]], dict[str, Any]]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_MAX_JSON = 2**20  # characters
_MAX_SIGNS = 20_000  # brackets and commas, so values
_MAX_DEPTH = 64


def parse_mended(
    parse: Parse, schema: Mapping[str, Any], params: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The checked arguments, and what was corrected. Invalid lists what is still wrong."""
    try:
        return parse(params), []
    except Invalid:
        mended, corrections = mend_params(schema, params)
        if not corrections:
            raise
    return parse(mended), corrections


def mend_params(schema: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The parameters with plain slips corrected, and what was corrected."""
    corrections: list[str] = []
    return cast("dict[str, Any]", _mend_value(schema, dict(params), "", corrections)), corrections


def parse_json(text: str, wanted: type) -> Any:
    """The object or list that a text writes as JSON; None if it is something else, or could be read in two ways."""
    if len(text) > _MAX_JSON or text.count("{") + text.count("[") + text.count(",") > _MAX_SIGNS:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, wanted) or _is_too_deep(value) or has_duplicate_keys(text.encode(), value):
        return None
    return value


def describe_name(asked: str, tool: ToolInfo) -> str | None:
    """What to say of a name that found this tool and is none of its own."""
    # A specification may write the listed name with dots: `pce.memory.search`.
    is_own = asked in (tool.name, *tool.aliases) or asked.replace(".", "_") == tool.listed
    return None if is_own else f"{asked!r} was read as the tool {tool.name!r}"


def _mend_value(schema: Mapping[str, Any], value: Any, place: str, corrections: list[str]) -> Any:
    kind = _find_kind(schema)
    if isinstance(value, str) and kind not in (None, "string"):
        meant = _read_text(value, kind)
        if meant is None:
            return value
        article = "an" if kind[0] in "aio" else "a"
        corrections.append(f"{place} was a string; it must be {article} {kind}")
        value = meant
    if kind == "object" and isinstance(value, dict):
        known: Mapping[str, Any] = schema.get("properties", {})
        return {
            key: _mend_value(known[key], each, f"{place}.{key}" if place else key, corrections)
            if isinstance(known.get(key), dict)
            else each
            for key, each in cast("dict[str, Any]", value).items()
        }
    if kind == "array" and isinstance(value, list) and isinstance(schema.get("items"), dict):
        items = cast("list[Any]", value)
        inner: Mapping[str, Any] = schema["items"]
        return [_mend_value(inner, each, f"{place}[{at}]", corrections) for at, each in enumerate(items)]
    return cast("Any", value)


def _find_kind(schema: Mapping[str, Any]) -> str | None:
    """The one type that a value may have beside null; None if there are several, or a schema of a plugin says it in a
    way that is not read here."""
    kinds: set[str | None] = set()
    for each in cast("list[Any]", schema.get("anyOf", [schema])):
        option = cast("dict[str, Any]", each if isinstance(each, dict) else {"enum": []})
        said: Any = None if "enum" in option else option.get("type")
        names = cast("list[Any]", said) if isinstance(said, list) else [said]
        kinds.update(name if isinstance(name, str) else None for name in names)
    kinds.discard("null")
    return kinds.pop() if len(kinds) == 1 else None


def _read_text(text: str, kind: str | None) -> Any:
    """What a text can only mean as a value of this type; None if nothing."""
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) else None
    if kind == "number":
        return float(text) if _NUMBER.fullmatch(text) else None
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    return parse_json(text, dict if kind == "object" else list) if kind in ("object", "array") else None


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += cast("dict[str, Any]", each).values()
            elif isinstance(each, list):
                inner += cast("list[Any]", each)
        if not inner:
            return False
        level = inner
    return True
