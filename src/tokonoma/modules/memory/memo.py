"""A memo as a row, and as the outside sees it."""

import json
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.addresses import address_of
from tokonoma.core.call import Principal
from tokonoma.core.clock import shown
from tokonoma.core.desk import Document, Label, Record, Row
from tokonoma.core.opaque import Plain
from tokonoma.modules.memory.metadata import Metadata, facts

MODULE_NAME = "memory"


@dataclass(frozen=True, slots=True)
class Memo:
    id: str
    space: str
    label: Label
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
        return address_of(MODULE_NAME, self.id)


class Summary(TypedDict):
    memo_id: Plain
    namespace: str
    title: NotRequired[str]
    metadata: dict[str, Any]
    thread: NotRequired[str]
    created_at: Plain
    updated_at: Plain
    expires_at: NotRequired[Plain]
    deleted_at: NotRequired[Plain]
    version: int


def memo_of(row: Row) -> Memo:
    """From the columns of tables.COLUMNS, in their order."""
    memo_id, space, label, title, content, metadata, *rest = row
    return Memo(memo_id, space, label, title, content, json.loads(metadata), *rest)


def summary(memo: Memo, who: Principal) -> Summary:
    told: Summary = {
        "memo_id": memo.id,
        "namespace": spaces.shown(memo.space, who),
        "metadata": memo.metadata,
        "created_at": shown(memo.created_at),
        "updated_at": shown(memo.updated_at),
        "version": memo.revision,
    }
    if memo.title:
        told["title"] = memo.title
    if memo.thread:
        told["thread"] = memo.thread
    if memo.expires_at is not None:
        told["expires_at"] = shown(memo.expires_at)
    if memo.deleted_at is not None:
        told["deleted_at"] = shown(memo.deleted_at)
    return told


def document(memo: Memo) -> Document:
    """The memo's row in the shared index."""
    return Document(
        memo.address,
        memo.space,
        memo.content,
        memo.title,
        memo.label,
        facts(memo.metadata),
        memo.thread,
        memo.created_at,
        memo.expires_at,
    )


def record(memo: Memo) -> Record:
    return Record(memo.address, MODULE_NAME, memo.space, memo.label, memo.title, memo.content, memo.revision)
