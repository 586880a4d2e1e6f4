"""What a backup holds, and the refusals around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokonoma.core.errors import Invalid
from tokonoma.store.dialect import DatabaseKind


@dataclass(frozen=True, slots=True)
class BackupContents:
    """A backup that was read through and found sound."""

    path: Path
    kind: DatabaseKind
    created_at: int  # milliseconds since the epoch
    size: int  # bytes
    tables: Mapping[str, int]  # rows of each
    migrations: Mapping[str, Sequence[str]]  # names of each set, in their order


def damaged_backup(path: Path, what: str) -> Invalid:
    return Invalid(f"The backup {path} is damaged ({what}). Nothing was changed. Use another backup.", reason="damaged")


def not_a_backup(path: Path) -> Invalid:
    return Invalid(f"{path} is not a backup of Tokonoma. Nothing was changed.", reason="not_a_backup")
