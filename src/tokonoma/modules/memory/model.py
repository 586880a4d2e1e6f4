"""Memos and relations as rows and as responses; their metadata, and what a filter over metadata means."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Classification, Desk, Document, Record, Row, format_address
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace
from tokonoma.core.query import Condition, Operator, Scalar
from tokonoma.modules.memory.tables import COLUMNS, RELATION_COLUMNS

MODULE_NAME = "memory"
LATEST = 253402300799999  # the year 9999
MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 8
_MAX_CONDITIONS = 32
_MAX_CHOICES = 1000
_OPERATORS: dict[str, Operator] = {
    "contains": "contains", "prefix": "prefix", "in": "in", "exists": "exists", "gte": "between", "lte": "between",
}  # fmt: skip

Metadata = dict[str, Any]
Namespace = Annotated[
    str | None,
    Field(max_length=500, description="path like a folder: notes/today; default: your own; /x starts at your root"),
]
Version = Annotated[int | None, Field(ge=1, description="fail if the memo is no longer at this version")]


@dataclass(frozen=True, slots=True)
class Memo:
    """The fields are those of tables.COLUMNS, in their order."""

    id: str
    namespace: str
    classification: Classification
    title: str
    content: str
    metadata: Metadata
    thread: str
    created_at: int
    updated_at: int
    expires_at: int | None
    deleted_at: int | None
    revision: int

    @property
    def address(self) -> str:
        return format_address(MODULE_NAME, self.id)


@dataclass(frozen=True, slots=True)
class RelationRow:
    """The fields are those of tables.RELATION_COLUMNS, in their order."""

    namespace: str
    source: str
    target: str
    tag: str
    classification: Classification
    weight: float
    reason: str
    created_at: int
    updated_at: int
    revision: int


class MemoSummary(TypedDict):
    memo_id: Opaque
    namespace: str
    title: NotRequired[str]
    metadata: dict[str, Any]
    thread: NotRequired[str]
    created_at: Opaque
    updated_at: Opaque
    expires_at: NotRequired[Opaque]
    deleted_at: NotRequired[Opaque]
    version: int


def to_memo(row: Row) -> Memo:
    memo_id, namespace, classification, title, content, metadata, *rest = row
    return Memo(memo_id, namespace, classification, title, content, json.loads(metadata), *rest)


def to_row(record: Memo | RelationRow, place: str = "metadata") -> dict[str, Any]:
    """Column → value. Metadata beyond its limits is Invalid, under the name of `place`."""
    columns = COLUMNS if isinstance(record, Memo) else RELATION_COLUMNS
    values = (getattr(record, each.name) for each in fields(record))
    row: dict[str, Any] = dict(zip(columns.split(", "), values, strict=True))
    if isinstance(record, Memo):
        row["metadata"] = encode_metadata(record.metadata, place)
    return row


def to_summary(memo: Memo, desk: Desk) -> MemoSummary:
    desk.cite(memo.address)
    summary: MemoSummary = {
        "memo_id": memo.id,
        "namespace": format_namespace(memo.namespace, desk.principal),
        "metadata": memo.metadata,
        "created_at": format_time(memo.created_at),
        "updated_at": format_time(memo.updated_at),
        "version": memo.revision,
    }
    for name in ("title", "thread"):
        if text := getattr(memo, name):
            summary[name] = text
    for name in ("expires_at", "deleted_at"):
        if (at := getattr(memo, name)) is not None:
            summary[name] = format_time(at)
    return summary


def to_document(memo: Memo) -> Document:
    """The memo's row in the shared index."""
    return Document(
        memo.address,
        memo.namespace,
        memo.content,
        memo.title,
        memo.classification,
        build_facts(memo.metadata),
        memo.thread,
        memo.created_at,
        memo.expires_at,
    )


def to_record(memo: Memo) -> Record:
    return Record(
        memo.address, MODULE_NAME, memo.namespace, memo.classification, memo.title, memo.content, memo.revision
    )


def merge_metadata(old: Metadata, new: Mapping[str, Any], mode: str) -> Metadata:
    """`merge` lays new keys over old ones and deletes those whose value is null; `replace` discards the old ones."""
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
    """The metadata as JSON; Invalid if it exceeds the limits."""
    limit = MAX_METADATA_DEPTH
    if _measure_depth(metadata) > limit:
        raise Invalid(f"{place} is nested more than {limit} levels deep.", field=place, limit=limit)
    text, limit = json.dumps(metadata, ensure_ascii=False, separators=(",", ":")), MAX_METADATA_BYTES
    if len(text.encode()) > limit:
        raise Invalid(f"{place} has more than {limit} bytes as JSON.", field=place, limit=limit)
    return text


def build_facts(metadata: Mapping[str, Any]) -> list[tuple[str, Scalar]]:
    """What a memo can be filtered by: nested keys joined by dots, each element of a list on its own. All of it and at
    full length: the index cuts what it stores when what must be hidden has been found."""
    return list(_iterate_leaves("", metadata))


def build_conditions(wanted: Mapping[str, Any]) -> tuple[Condition, ...]:
    """A `metadata_filter` as conditions: a plain value is exact, an object holds one operator or nested keys."""
    found = tuple(_parse_conditions("", wanted))
    if len(found) > _MAX_CONDITIONS:
        raise Invalid(f"metadata_filter has more than {_MAX_CONDITIONS} conditions.", limit=_MAX_CONDITIONS)
    return found


def _parse_conditions(prefix: str, wanted: Mapping[str, Any]) -> Iterator[Condition]:
    for key, value in wanted.items():
        path = f"{prefix}{key}"
        if not isinstance(value, dict):
            yield Condition(path, "is", (_parse_scalar(path, value),))
        elif not value:
            raise _build_filter_error(path, "is empty")
        elif _OPERATORS.keys() & value.keys():
            yield from _parse_operators(path, cast("dict[str, Any]", value))
        else:
            yield from _parse_conditions(f"{path}.", cast("dict[str, Any]", value))


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


def _parse_values(path: str, word: str, value: Any) -> tuple[Scalar, ...]:
    if word == "exists":
        if not isinstance(value, bool):
            raise _build_filter_error(path, "needs true or false for `exists`")
        return (value,)
    if word == "in":
        if not isinstance(value, list) or not value or len(cast("list[Any]", value)) > _MAX_CHOICES:
            raise _build_filter_error(path, f"needs a list of 1 to {_MAX_CHOICES} values for `in`")
        return tuple(_parse_scalar(path, each) for each in cast("list[Any]", value))
    if word == "prefix" and not isinstance(value, str):
        raise _build_filter_error(path, "needs text for `prefix`")
    return (_parse_scalar(path, value),)


def _parse_scalar(path: str, value: Any) -> Scalar:
    scalar = _to_scalar(value)
    if scalar is None:
        raise _build_filter_error(path, "must be compared with a text, a number, true or false")
    return scalar


def _to_scalar(value: Any) -> Scalar | None:
    """None for what is not compared."""
    if isinstance(value, str):
        return value
    return value if isinstance(value, bool) else float(value) if isinstance(value, int | float) else None


def _build_filter_error(path: str, what: str) -> Invalid:
    return Invalid(f"metadata_filter: {path!r} {what}.", field=f"metadata_filter.{path}", operators=sorted(_OPERATORS))


def _iterate_leaves(prefix: str, node: Any) -> Iterator[tuple[str, Scalar]]:
    if isinstance(node, dict):
        for key, value in cast("Metadata", node).items():
            yield from _iterate_leaves(f"{prefix}.{key}" if prefix else key, value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from _iterate_leaves(prefix, value)
    elif (scalar := _to_scalar(node)) is not None:
        yield prefix, scalar


def _measure_depth(value: Any) -> int:
    """Levels of objects and lists. The wire has already limited the depth of what arrives."""
    if not isinstance(value, dict | list):
        return 0
    inner = cast("Metadata", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return 1 + max(map(_measure_depth, inner), default=0)
