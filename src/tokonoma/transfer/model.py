"""The records that every format is read into and written from: memos, relations, and remarks about the source."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokonoma.core.clock import normalize_date
from tokonoma.core.namespaces import normalize_namespace

Metadata = dict[str, Any]

_ID_NAMESPACE = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-746f6b6f6e6f")
_PART_BITS = 0xFFFF  # the last bits of an id: the number of a part, if a text was too long for one memo


# Where other programs say when something happened; when it was stored, they say elsewhere.
DATE_KEYS = ("date", "happened_at", "occurred_at", "event_date")


def as_date(value: Any) -> str:
    """A day or a time as memos have it; empty if it is none."""
    try:
        return normalize_date(value.strip()) if isinstance(value, str) else ""
    except ValueError:
        return ""


class SourceError(Exception):
    """A file or a record of the source cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class MemoRecord:
    """Times are milliseconds, or None if the source has none. `version` is None in a memo of another program."""

    memo_id: str
    namespace: str
    content: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=Metadata)
    thread: str = ""
    created_at: int | None = None
    updated_at: int | None = None
    expires_at: int | None = None
    deleted_at: int | None = None
    version: int | None = None
    boundary: str = "internal"
    author: str = ""  # who wrote it, by an own export
    date: str = ""  # when it happened: a day or a time
    valid_from: str = ""
    valid_until: str = ""
    supersedes: Sequence[str] = field(default_factory=list[str])
    place: str = ""  # where it stands in the source: a file, a line


@dataclass(frozen=True, slots=True)
class RelationRecord:
    namespace: str
    source: str
    target: str
    tag: str
    weight: float = 1.0
    reason: str = ""
    created_at: int | None = None
    updated_at: int | None = None
    version: int | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A part of the source was left out (`lost`), or imported in another form than it has there."""

    place: str
    why: str
    lost: bool = True


SourceItem = MemoRecord | RelationRecord | Remark


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What is imported, and the namespace it goes to. `name` separates sources that use the same names inside."""

    path: Path
    format: str
    namespace: str = "/"  # everything goes here or below
    name: str = ""

    def make_memo_id(self, original: str) -> str:
        """Return the same id for the same source and original id in every import."""
        made = uuid.uuid5(_ID_NAMESPACE, "\n".join((self.format, self.name, self.namespace, original)))
        return str(uuid.UUID(int=made.int & ~_PART_BITS))

    def build_memo(self, original: str, content: str, metadata: Metadata, **others: Any) -> MemoRecord:
        """Build a memo of another program; its metadata says where it came from."""
        origin = f"{self.format}:{self.name}" if self.name else self.format
        metadata = {**metadata, "imported_from": origin, "imported_id": original}
        others.setdefault("namespace", self.namespace)
        others.setdefault("date", next(filter(None, (as_date(metadata.get(key)) for key in DATE_KEYS)), ""))
        return MemoRecord(memo_id=self.make_memo_id(original), content=content, metadata=metadata, **others)

    def nest_namespace(self, path: str) -> str:
        """A namespace of the source, below the one that everything goes to."""
        return normalize_namespace(f"{self.namespace}/{path}")
