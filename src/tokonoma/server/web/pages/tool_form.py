"""A form made of the JSON Schema of a tool, and back from what was typed to its parameters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.core.errors import Invalid, Refusal

FieldKind = Literal["text", "long", "integer", "number", "boolean", "choice", "json"]

_LONG = 600  # characters that a text may have, from which its field has several lines
_LONG_NAMES = frozenset({"content", "text", "description", "body", "query", "jsonl", "comment", "message"})
_PREFIX = "p."
_MAX_SHOWN = 200_000  # characters of a result


@dataclass(frozen=True, slots=True)
class FormField:
    """One parameter. `value`: what was typed, or is suggested."""

    name: str
    kind: FieldKind
    type: str
    help: str
    required: bool
    choices: tuple[str, ...] = ()
    default: str = ""
    value: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def id(self) -> str:
        return _PREFIX + self.name


def list_fields(schema: Mapping[str, Any], typed: Mapping[str, str] | None = None) -> list[FormField]:
    """Those that must be given first."""
    required = set(schema.get("required", ()))
    fields = [
        _build_field(name, part, (typed or {}).get(name, ""), required=name in required)
        for name, part in schema.get("properties", {}).items()
    ]
    return sorted(fields, key=lambda field: not field.required)


def read_typed(form: Mapping[str, list[str]]) -> dict[str, str]:
    """What was typed, by the name of the parameter."""
    return {
        name.removeprefix(_PREFIX): values[0].replace("\r\n", "\n")
        for name, values in form.items()
        if name.startswith(_PREFIX) and len(values) == 1
    }


def build_params(schema: Mapping[str, Any], typed: Mapping[str, str]) -> dict[str, Any]:
    """The parameters as JSON. What is empty and not required is left out. Invalid names the field."""
    params: dict[str, Any] = {}
    for field in list_fields(schema):
        text = typed.get(field.name, "")
        if text.strip() or (field.required and field.kind in ("text", "long")):
            params[field.name] = _parse(field, text)
    return params


def format_result(value: Any) -> dict[str, Any]:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return {"result": text[:_MAX_SHOWN], "is_cut": len(text) > _MAX_SHOWN}


def format_error(error: Refusal) -> str:
    """Everything that the refusal says."""
    reason = {"reason": error.reason} if error.reason else {}
    details = {"details": error.details} if error.details else {}
    said = {"kind": error.kind, **reason, "message": error.message, **details}
    return json.dumps(said, ensure_ascii=False, indent=2, default=str)


def _parse(field: FormField, text: str) -> Any:
    if field.kind in ("text", "long", "choice"):
        return text
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Invalid(f"{field.name}: this is no JSON. {error}", field=field.name) from None
    if field.kind == "boolean" and not isinstance(value, bool):
        raise Invalid(f"{field.name} must be true or false.", field=field.name)
    return value


def _build_field(name: str, part: Mapping[str, Any], value: str, *, required: bool) -> FormField:
    type = str(part.get("type", "any"))
    kind: FieldKind = "json"
    if "enum" in part and type == "string":
        kind = "choice"
    elif type == "string":
        kind = "long" if name in _LONG_NAMES or part.get("maxLength", 0) >= _LONG else "text"
    elif type == "integer" or type == "number" or type == "boolean":
        kind = type
    return FormField(
        name,
        kind,
        _describe_type(part),
        part.get("description", ""),
        required,
        tuple(map(str, part.get("enum", ()))) if kind == "choice" else ("true", "false") if kind == "boolean" else (),
        json.dumps(part["default"], ensure_ascii=False) if "default" in part else "",
        value,
        part.get("minimum"),
        part.get("maximum"),
    )


def _describe_type(part: Mapping[str, Any]) -> str:
    """`array of string`, `string or array of string`."""
    if "anyOf" in part:
        return " or ".join(_describe_type(each) for each in part["anyOf"])
    type = part.get("type", "any")
    return f"array of {_describe_type(part['items'])}" if type == "array" and "items" in part else str(type)
