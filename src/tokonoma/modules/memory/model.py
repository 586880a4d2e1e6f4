"""Memos and relations as rows and as responses, and their metadata."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, parse_end, parse_time
from tokonoma.core.desk import Classification, Desk, Document, Record, Row, format_address
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace
from tokonoma.core.query import Scalar
from tokonoma.modules.memory.tables import COLUMNS, RELATION_COLUMNS

MODULE_NAME = "memory"
DATES = ("date", "valid_from", "valid_until")
LATEST = 253402300799999  # the year 9999
MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 8

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
    # How this version came about. Empty: it is older than the history of memos.
    version_at: int = 0
    author: str = ""
    change: str = ""
    detail: str = ""  # ids of merged memos, or the version that was restored
    # Days or times as `normalize_date` writes them; empty: not said.
    date: str = ""  # when it happened
    valid_from: str = ""
    valid_until: str = ""
    supersedes: tuple[str, ...] = ()  # the memos that it replaces

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
    merged_into: NotRequired[Opaque]
    date: NotRequired[Opaque]
    valid_from: NotRequired[Opaque]
    valid_until: NotRequired[Opaque]
    supersedes: NotRequired[list[Opaque]]
    superseded_by: NotRequired[Opaque]
    version: int


def to_memo(row: Row) -> Memo:
    memo_id, namespace, classification, title, content, metadata, *rest, supersedes = row
    replaced = tuple(supersedes.split())
    return Memo(memo_id, namespace, classification, title, content, json.loads(metadata), *rest, supersedes=replaced)


def to_row(record: Memo | RelationRow, place: str = "metadata") -> dict[str, Any]:
    """Column → value. Metadata beyond its limits is Invalid, under the name of `place`."""
    columns = COLUMNS if isinstance(record, Memo) else RELATION_COLUMNS
    values = (getattr(record, each.name) for each in fields(record))
    row: dict[str, Any] = dict(zip(columns.split(", "), values, strict=True))
    if isinstance(record, Memo):
        row["metadata"] = encode_metadata(record.metadata, place)
        row["supersedes"] = " ".join(record.supersedes)
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
    for name in ("title", "thread", *DATES):
        if text := getattr(memo, name):
            summary[name] = text
    for name in ("expires_at", "deleted_at"):
        if (at := getattr(memo, name)) is not None:
            summary[name] = format_time(at)
    if merged_into := get_merged_into(memo):
        summary["merged_into"] = merged_into
    return summary


def get_merged_into(memo: Memo) -> str:
    """The id of the memo that stands for this one since both were merged."""
    return memo.detail if memo.deleted_at is not None and memo.change == "merged" else ""


def to_document(memo: Memo) -> Document:
    """The memo's row in the shared index."""
    return Document(
        memo.address,
        memo.namespace,
        memo.content,
        memo.title,
        memo.classification,
        build_facts(memo.metadata, memo.date),
        memo.thread,
        memo.created_at,
        memo.expires_at,
        changed_at=memo.updated_at,
        valid_from=parse_time(memo.valid_from) if memo.valid_from else None,
        valid_until=parse_end(memo.valid_until) if memo.valid_until else None,
        supersedes=[format_address(MODULE_NAME, each) for each in memo.supersedes],
    )


def to_record(memo: Memo) -> Record:
    return Record(
        memo.address,
        MODULE_NAME,
        memo.namespace,
        memo.classification,
        memo.title,
        memo.content,
        memo.revision,
        details={name: text for name in ("thread", *DATES) if (text := getattr(memo, name))},
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


def build_facts(metadata: Mapping[str, Any], date: str = "") -> list[tuple[str, Scalar]]:
    """What a memo can be filtered by: nested keys joined by dots, each element of a list on its own. All of it and at
    full length: the index cuts what it stores when what must be hidden has been found. The memo's own date
    goes before one in its metadata."""
    return list(_iterate_leaves("", {**metadata, "date": date} if date else metadata))


def to_scalar(value: Any) -> Scalar | None:
    """None for what is not compared. An integer stays one: beyond 2^53 a float would be another number."""
    return value if isinstance(value, str | bool | int | float) else None


def _iterate_leaves(prefix: str, node: Any) -> Iterator[tuple[str, Scalar]]:
    if isinstance(node, dict):
        for key, value in cast("Metadata", node).items():
            yield from _iterate_leaves(f"{prefix}.{key}" if prefix else key, value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from _iterate_leaves(prefix, value)
    elif (scalar := to_scalar(node)) is not None:
        yield prefix, scalar


def _measure_depth(value: Any) -> int:
    """Levels of objects and lists. The wire has already limited the depth of what arrives."""
    if not isinstance(value, dict | list):
        return 0
    inner = cast("Metadata", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return 1 + max(map(_measure_depth, inner), default=0)
