"""The vault's types: paths as callers write them, next actions, and what a step of reading gained."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Denied
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path, split_file_path, split_path
from tokonoma.files.folder import RootFolder, open_root
from tokonoma.files.ledger import ReadingGain, ReadingLog, measure_gain, save_logs
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import MODULE, namespace_of
from tokonoma.files.text_file import TextFile, read_text_file
from tokonoma.files.write import recover_if_needed

VaultPath = Annotated[str, Field(description="relative to the vault, like notes/today.md")]
RelativeDir = Annotated[str | None, Field(description="only below this folder")]
Glob = Annotated[str | None, Field(description="like *.md, notes/**, {a,b}.json; a leading ! excludes")]
ExpectedVersion = Annotated[str | None, Field(description="fail unless the file is at this version (from vault_read)")]
SHORT_VERSION = 8
"""Digits of a version that are enough to notice that a file has changed."""
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]

MAX_CHARS = 20_000
"""Characters of text in one result."""

_INSERT_GAIN = "insert into vault_gain values (:at, :tool, :evidence, :tokens, :gain)"
_STATISTICS_MS = 365 * 86_400_000


class VaultNextAction(TypedDict):
    """What to do next: a tool and its parameters, or stop."""

    type: str
    confidence: float | None
    params: dict[str, Any] | None
    intent: NotRequired[str]


def stop_action(intent: str, confidence: float | None = None) -> VaultNextAction:
    return {"type": "stop", "confidence": confidence, "params": None, "intent": intent}


def next_action(tool: str, intent: str, confidence: float | None, **params: Any) -> VaultNextAction:
    return {"type": tool, "confidence": confidence, "params": params, "intent": intent}


@contextmanager
def open_vault(desk: Desk) -> Generator[RootFolder]:
    """Open the vault's root. Changes that a killed writer left open are decided first."""
    with open_root(desk.server.locations()["vault"]) as folder:
        recover_if_needed(desk, folder)
        yield folder


def resolve_file(desk: Desk, folder: RootFolder, path: str, field: str = "path") -> PathParts:
    """The file that a path means, spelt as on the disk. Fails if it cannot be one, or is outside the key's folder."""
    parts = canonicalize_path(split_file_path(path, field))
    if not is_inside(namespace_of(parts), desk.principal.root):
        raise Denied(f"{join_path(parts)} is outside the folder of this key.", reason="scope", path=join_path(parts))
    return folder.resolve_names(parts)


def resolve_folder(folder: RootFolder, relative_dir: str | None) -> PathParts:
    parts = split_path(relative_dir or "", "relative_dir")
    return folder.resolve_names(canonicalize_path(parts)) if parts else ()


def read_vault_file(desk: Desk, path: str) -> TextFile:
    with open_vault(desk) as folder:
        return read_text_file(desk, folder, resolve_file(desk, folder, path))


def save_reading(desk: Desk, tool: str, file: TextFile, log: ReadingLog, evidence: int, tokens: int) -> ReadingGain:
    return save_many(desk, tool, [(MODULE, file, log)], evidence, tokens)


def save_many(
    desk: Desk, tool: str, logs: Sequence[tuple[str, TextFile, ReadingLog]], evidence: int, tokens: int
) -> ReadingGain:
    """Save logs, and the figures of what a step gained: never a path or a text. Only for a caller that may write."""
    at, gain = desk.now(), measure_gain(desk, evidence, tokens)

    def save_figures(tx: Tx) -> None:
        tx.run(_INSERT_GAIN, at=at, tool=tool, evidence=evidence, tokens=tokens, gain=gain["marginal_gain"])
        tx.run("delete from vault_gain where at < :before", before=at - _STATISTICS_MS)

    save_logs(desk, logs, save_figures)
    return gain
