"""Expansion: the parameters of a step with its references replaced by the values they name. Pure.

A string that is exactly one reference takes the value as it is; inside a longer text the value becomes text (a string
as it stands, everything else as JSON). What a value contains is never looked at again: a `${…}` that came out of a tool
is plain text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.gateway.reference import (
    InvalidPath,
    ReferencePath,
    StepReference,
    format_path,
    iterate_pieces,
    shorten,
    split_references,
)

MAX_DEPTH = 64
MAX_BYTES = 16 * 1024 * 1024  # the largest message that a single call could have come in
_MAX_KEYS = 20


@dataclass(slots=True)
class _Expansion:
    """One expansion under way: what it reads from, what it may still add, and what went wrong so far."""

    values: Mapping[str, Any]
    most: int
    used: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def expand(params: Mapping[str, Any], values: Mapping[str, Any], most: int = MAX_BYTES) -> dict[str, Any]:
    """The parameters to send. Invalid names every reference that leads nowhere, and the keys that exist there."""
    filling = _Expansion(values, most)
    filled = cast(dict[str, Any], _expand_value(params, filling))
    if filling.problems:
        message = " ".join(each["message"] for each in filling.problems[:3])
        raise Invalid(message, reason="reference", errors=filling.problems[:_MAX_KEYS])
    if measure_depth(filled) > MAX_DEPTH:
        raise Invalid(f"With its references filled in, params nest deeper than {MAX_DEPTH}.", limit=MAX_DEPTH)
    return filled


def find_references(params: Mapping[str, Any]) -> Iterator[tuple[str, StepReference | InvalidPath]]:
    """Every reference, or malformed one, with the place where it stands (`params.filter[0].id`)."""
    stack: list[tuple[str, Any]] = [("params", params)] if b"${" in orjson.dumps(params) else []
    while stack:
        place, value = stack.pop()
        if isinstance(value, str):
            yield from ((place, each) for each in _find_in_text(value))
        elif isinstance(value, list):
            entries = list(enumerate(cast(list[Any], value)))
            stack.extend((f"{place}[{index}]", each) for index, each in reversed(entries) if _can_hold_reference(each))
        else:
            fields = cast(dict[str, Any], value)
            for key in fields:
                if next(_find_in_text(key), None):
                    yield place, InvalidPath(f"A reference stands in a value, not in a field name: {shorten(key)}")
            entries = list(fields.items())
            stack.extend(
                (format_path(place, [key]), each) for key, each in reversed(entries) if _can_hold_reference(each)
            )


def measure_depth(value: Any) -> int:
    """How deep lists and objects nest; a plain value has depth 0."""
    deepest, level = 0, _select_containers([value])
    while level:
        deepest += 1
        level = [inner for one in level for inner in _select_containers(one.values() if isinstance(one, dict) else one)]
    return deepest


def _select_containers(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [each for each in values if isinstance(each, dict | list)]


def _can_hold_reference(value: Any) -> bool:
    return "${" in value if isinstance(value, str) else isinstance(value, dict | list)


def _find_in_text(text: str) -> Iterator[StepReference | InvalidPath]:
    if "${" not in text:
        return
    try:
        yield from (each for each in iterate_pieces(text) if isinstance(each, StepReference))
    except InvalidPath as error:
        yield error


def _expand_value(value: Any, filling: _Expansion) -> Any:
    """Recursive: the plan has already refused parameters that nest deeper than MAX_DEPTH."""
    if isinstance(value, str):
        return _expand_text(value, filling) if "${" in value else value
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return {_unescape_key(key): _expand_value(each, filling) for key, each in fields.items()}
    if isinstance(value, list):
        return [_expand_value(each, filling) for each in cast(list[Any], value)]
    return value


def _unescape_key(key: str) -> str:
    return "".join(str(each) for each in split_references(key)) if "${" in key else key


def _expand_text(text: str, filling: _Expansion) -> Any:
    pieces = split_references(text)
    if len(pieces) == 1 and isinstance(pieces[0], StepReference):
        found = _read_reference(pieces[0], filling)
        return None if found is None else orjson.loads(found)  # a copy: two steps never share one object
    return "".join(each if isinstance(each, str) else _to_text(_read_reference(each, filling)) for each in pieces)


def _to_text(encoded: bytes | None) -> str:
    if encoded is None:
        return ""
    return orjson.loads(encoded) if encoded.startswith(b'"') else encoded.decode()


def _read_reference(reference: StepReference, filling: _Expansion) -> bytes | None:
    """The JSON of what the reference names; None, and a problem noted, if there is nothing or too much of it."""
    value = filling.values[reference.id]
    for index, part in enumerate(reference.path):
        problem = _explain_missing(value, part)
        if problem:
            filling.problems.append(_describe_problem(reference, reference.path[:index], problem))
            return None
        value = value[part]
    encoded = orjson.dumps(value)
    filling.used += len(encoded)
    if filling.used > filling.most:
        message = f"{reference.text} takes the parameters of this step past {filling.most} bytes."
        filling.problems.append({"reference": reference.text, "message": message, "limit": filling.most})
        return None
    return encoded


def _explain_missing(value: Any, part: str | int) -> dict[str, Any] | None:
    """Why the value has no such part, and what it has instead; None if it has."""
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        if isinstance(part, str) and part in fields:
            return None
        keys = [shorten(each) for each in list(fields)[:_MAX_KEYS]]
        more = len(fields) - len(keys)
        has = f"an object with {', '.join(keys) or 'no keys'}" + (f" and {more} more" if more else "")
        return {"has": has, "keys": keys, **({"more_keys": more} if more else {})}
    if isinstance(value, list):
        length = len(cast(list[Any], value))
        if isinstance(part, int) and part < length:
            return None
        return {"has": f"a list of {length}" + (f", [0] to [{length - 1}]" if length else ""), "length": length}
    return {"has": f"only {shorten(orjson.dumps(value).decode(), 40)}"}


def _describe_problem(reference: StepReference, path: ReferencePath, problem: dict[str, Any]) -> dict[str, Any]:
    at = format_path(reference.id, path)
    message = f"{reference.text} leads nowhere: {at} is {problem.pop('has')}."
    return {"reference": reference.text, "at": at, "message": message, **problem}
