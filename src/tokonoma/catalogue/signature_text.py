"""Compact signatures: the content of a JSON Schema in a third of the tokens.

recent(limit?: int 1..200 = 20, cursor?: str) -> {items: [{at: str, tool: str}], has_more: bool}
"""

import json
from collections.abc import Mapping
from typing import Any, cast

_NAMES = {"string": "str", "integer": "int", "number": "num", "boolean": "bool", "null": "null"}


def format_signature(name: str, input: Mapping[str, Any], output: Mapping[str, Any], description: str) -> str:
    """One line of types, one of description, then a line for each parameter with a description."""
    required = set(input.get("required", ()))
    properties: Mapping[str, Mapping[str, Any]] = input.get("properties", {})
    fields = ", ".join(_format_field(key, schema, key in required) for key, schema in properties.items())
    lines = [f"{name}({fields}) -> {format_type(output)}", f"  {description}"]
    lines += [f"  {key}: {schema['description']}" for key, schema in properties.items() if "description" in schema]
    return "\n".join(lines)


def format_type(schema: Mapping[str, Any]) -> str:
    """A type in words: `int 1..100`, `[str]`, `{id: str, note?: str}`, `"a"|"b"`."""
    if "const" in schema:
        return _format_value(schema["const"])
    if "enum" in schema:
        return "|".join(_format_value(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(format_type(each) for each in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        return f"[{format_type(schema.get('items', {}))}]{_format_bounds(schema, 'minItems', 'maxItems')}"
    if kind == "object":
        return _format_object(schema)
    if not isinstance(kind, str):
        return "any"
    low, high = ("minLength", "maxLength") if kind == "string" else ("minimum", "maximum")
    return _NAMES[kind] + _format_bounds(schema, low, high)


def _format_object(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    fields = [_format_field(key, each, key in required) for key, each in schema.get("properties", {}).items()]
    rest = schema.get("additionalProperties")
    if rest is True and not fields:
        fields.append("*: any")
    elif isinstance(rest, dict):
        fields.append(f"*: {format_type(cast('dict[str, Any]', rest))}")
    return "{" + ", ".join(fields) + "}"


def _format_field(name: str, schema: Mapping[str, Any], required: bool) -> str:
    default = f" = {_format_value(schema['default'])}" if "default" in schema else ""
    if not required and "anyOf" in schema:  # what can be left out may always be null
        schema = {**schema, "anyOf": [each for each in schema["anyOf"] if each != {"type": "null"}]}
    return f"{name}{'' if required else '?'}: {format_type(schema)}{default}"


def _format_bounds(schema: Mapping[str, Any], low: str, high: str) -> str:
    least = schema.get(low, schema.get("exclusiveMinimum"))
    most = schema.get(high, schema.get("exclusiveMaximum"))
    if least is None and most is None:
        return ""
    return f" {'' if least is None else least}..{'' if most is None else most}"


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
