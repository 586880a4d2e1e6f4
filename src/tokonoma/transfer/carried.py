"""What every format is read into and written from: memos, relations, and remarks on what went another way."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokonoma.core import namespaces as spaces

Metadata = dict[str, Any]

_ID_NAMESPACE = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-746f6b6f6e6f")
_PART_BITS = 0xFFFF  # the last bits of an id: the number of a part, where a text was too long for one memo


@dataclass(frozen=True, slots=True)
class TransferMemo:
    """Times are milliseconds, None where the source knows none. `version` is None in another program's memo."""

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
    place: str = ""  # where it stands in the source: a file, a line


@dataclass(frozen=True, slots=True)
class TransferRelation:
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
    """Something was left out (`lost`), or taken in another way than it stood there."""

    place: str
    why: str
    lost: bool = True


SourceRecord = TransferMemo | TransferRelation | Remark


@dataclass(frozen=True, slots=True)
class ImportSource:
    """Where an import comes from and goes to. `name` keeps sources apart that use the same names inside."""

    path: Path
    format: str
    namespace: str = "/"  # everything goes here or below
    name: str = ""

    def make_memo_id(self, original: str) -> str:
        """The same source, name and place give the same id, today and next year."""
        made = uuid.uuid5(_ID_NAMESPACE, "\n".join((self.format, self.name, self.namespace, original)))
        return str(uuid.UUID(int=made.int & ~_PART_BITS))

    def build_metadata(self, original: str) -> Metadata:
        """What a memo keeps of where it came from."""
        return {"imported_from": f"{self.format}:{self.name}" if self.name else self.format, "imported_id": original}

    def nest_namespace(self, path: str) -> str:
        """A namespace of the source, inside the one that everything goes to."""
        return spaces.normalize_namespace(f"{self.namespace}/{path}")


Reader = Callable[[ImportSource], Iterator[SourceRecord]]


def make_part_id(memo_id: str, number: int) -> str:
    """The id of a further part of a text that was cut: it sorts after the part before it."""
    return str(uuid.UUID(int=uuid.UUID(memo_id).int + number))


def find_common_namespace(one: str, other: str) -> str:
    """The deepest namespace that holds both: where a relation between their memos lies."""
    shared: list[str] = []
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        shared.append(left)
    return "/".join(shared) or "/"
