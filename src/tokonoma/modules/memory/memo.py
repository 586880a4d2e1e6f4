"""A memo as a row, and as the outside sees it."""

import json
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Classification, Document, Record, Row, format_address
from tokonoma.core.ids import Opaque
from tokonoma.modules.memory.metadata import Metadata, build_facts

MODULE_NAME = "memory"


@dataclass(frozen=True, slots=True)
class Memo:
    id: str
    space: str
    label: Classification
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
    """From the columns of tables.COLUMNS, in their order."""
    memo_id, space, label, title, content, metadata, *rest = row
    return Memo(memo_id, space, label, title, content, json.loads(metadata), *rest)


def to_summary(memo: Memo, who: Principal) -> MemoSummary:
    told: MemoSummary = {
        "memo_id": memo.id,
        "namespace": spaces.format_namespace(memo.space, who),
        "metadata": memo.metadata,
        "created_at": format_time(memo.created_at),
        "updated_at": format_time(memo.updated_at),
        "version": memo.revision,
    }
    if memo.title:
        told["title"] = memo.title
    if memo.thread:
        told["thread"] = memo.thread
    if memo.expires_at is not None:
        told["expires_at"] = format_time(memo.expires_at)
    if memo.deleted_at is not None:
        told["deleted_at"] = format_time(memo.deleted_at)
    return told


def to_document(memo: Memo) -> Document:
    """The memo's row in the shared index."""
    return Document(
        memo.address,
        memo.space,
        memo.content,
        memo.title,
        memo.label,
        build_facts(memo.metadata),
        memo.thread,
        memo.created_at,
        memo.expires_at,
    )


def to_record(memo: Memo) -> Record:
    return Record(memo.address, MODULE_NAME, memo.space, memo.label, memo.title, memo.content, memo.revision)
