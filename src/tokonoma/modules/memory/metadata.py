"""Metadata of memos: how it is merged, what of it can be filtered by, and what a filter means. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tokonoma.core.errors import Invalid
from tokonoma.core.query import Condition, Operator, Scalar

MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 8
_FACT_LENGTH = 500  # characters of a text that can be filtered by; longer values are compared by their start
_MOST_FACTS = 1000
_MOST_CONDITIONS = 32
_MOST_CHOICES = 1000

Metadata = dict[str, Any]


def merge_metadata(old: Metadata, new: Mapping[str, Any], mode: str) -> Metadata:
    """`merge` lays new keys over old ones and deletes those whose value is null; `replace` forgets the old ones."""
    base = {} if mode == "replace" else dict(old)
    for key, value in new.items():
        if value is None:
            base.pop(key, None)
        elif mode == "merge" and isinstance(value, dict) and isinstance(base.get(key), dict):
            base[key] = merge_metadata(base[key], cast("Metadata", value), mode)
        else:
            base[key] = value
    return base


def encode_metadata(metadata: Metadata, place: str = "metadata") -> str:
    """The metadata as JSON, within its limits."""
    if _measure_depth(metadata) > MAX_METADATA_DEPTH:
        raise Invalid(
            f"{place} is nested more than {MAX_METADATA_DEPTH} levels deep.", field=place, limit=MAX_METADATA_DEPTH
        )
    text = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > MAX_METADATA_BYTES:
        raise Invalid(
            f"{place} has more than {MAX_METADATA_BYTES} bytes as JSON.", field=place, limit=MAX_METADATA_BYTES
        )
    return text


def build_facts(metadata: Mapping[str, Any]) -> list[tuple[str, Scalar]]:
    """What a memo can be filtered by: nested keys joined by dots, each element of a list on its own."""
    found: list[tuple[str, Scalar]] = []
    for key, value in _iterate_leaves("", metadata):
        found.append((key, value[:_FACT_LENGTH] if isinstance(value, str) else value))
        if len(found) == _MOST_FACTS:
            break
    return found


def build_conditions(wanted: Mapping[str, Any]) -> tuple[Condition, ...]:
    """A `metadata_filter` as conditions: a plain value is exact, an object holds one operator or nested keys."""
    found = tuple(_parse_conditions("", wanted))
    if len(found) > _MOST_CONDITIONS:
        raise Invalid(f"metadata_filter has more than {_MOST_CONDITIONS} conditions.", limit=_MOST_CONDITIONS)
    return found


def _parse_conditions(prefix: str, wanted: Mapping[str, Any]) -> Iterator[Condition]:
    for key, value in wanted.items():
        path = f"{prefix}{key}"
        if not isinstance(value, dict):
            yield Condition(path, "is", (_parse_scalar(path, value),))
            continue
        asked = cast("dict[str, Any]", value)
        if _OPERATORS.keys() & asked.keys():
            yield from _parse_operators(path, asked)
        elif asked:
            yield from _parse_conditions(f"{path}.", asked)
        else:
            raise _build_filter_error(path, "is empty")


def _parse_operators(path: str, asked: dict[str, Any]) -> Iterator[Condition]:
    unknown = asked.keys() - _OPERATORS.keys()
    if unknown:
        raise _build_filter_error(path, f"has the unknown operator {min(unknown)!r}")
    if asked.keys() & {"gte", "lte"}:
        ends = [None if asked.get(end) is None else _parse_scalar(path, asked[end]) for end in ("gte", "lte")]
        if {type(end) for end in ends if end is not None} == {str, float}:
            raise _build_filter_error(path, "has ends of different types")
        yield Condition(path, "between", tuple(ends))
    for word in asked.keys() - {"gte", "lte"}:
        yield Condition(path, _OPERATORS[word], _parse_values(path, word, asked[word]))


_OPERATORS: dict[str, Operator] = {
    "contains": "contains",
    "prefix": "prefix",
    "in": "in",
    "exists": "exists",
    "gte": "between",
    "lte": "between",
}


def _parse_values(path: str, word: str, value: Any) -> tuple[Scalar, ...]:
    if word == "exists":
        if not isinstance(value, bool):
            raise _build_filter_error(path, "takes true or false with `exists`")
        return (value,)
    if word == "in":
        if not isinstance(value, list) or not value or len(cast("list[Any]", value)) > _MOST_CHOICES:
            raise _build_filter_error(path, f"takes a list of 1 to {_MOST_CHOICES} values with `in`")
        return tuple(_parse_scalar(path, each) for each in cast("list[Any]", value))
    if word == "prefix" and not isinstance(value, str):
        raise _build_filter_error(path, "takes text with `prefix`")
    return (_parse_scalar(path, value),)


def _parse_scalar(path: str, value: Any) -> Scalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        return value[:_FACT_LENGTH]
    raise _build_filter_error(path, "must be compared with a text, a number, true or false")


def _build_filter_error(path: str, what: str) -> Invalid:
    return Invalid(f"metadata_filter: {path!r} {what}.", field=f"metadata_filter.{path}", operators=sorted(_OPERATORS))


def _iterate_leaves(prefix: str, node: Any) -> Iterator[tuple[str, Scalar]]:
    if isinstance(node, dict):
        for key, value in cast("Metadata", node).items():
            yield from _iterate_leaves(f"{prefix}.{key}" if prefix else key, value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from _iterate_leaves(prefix, value)
    elif isinstance(node, str | bool):
        yield prefix, node
    elif isinstance(node, int | float):
        yield prefix, float(node)


def _measure_depth(value: Any) -> int:
    """Levels of objects and lists; what arrives was already held to a depth at the wire."""
    if isinstance(value, dict):
        return 1 + max((_measure_depth(each) for each in cast("Metadata", value).values()), default=0)
    if isinstance(value, list):
        return 1 + max((_measure_depth(each) for each in cast("list[Any]", value)), default=0)
    return 0
