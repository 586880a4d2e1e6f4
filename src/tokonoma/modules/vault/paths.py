"""Where the vault lies, and what the paths of callers mean there."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path, split_file_path, split_path
from tokonoma.files.folder import RootFolder, open_root
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import namespace_of
from tokonoma.files.write import recover_if_needed

VaultPath = Annotated[str, Field(description="relative to the vault, like notes/today.md")]
RelativeDir = Annotated[str | None, Field(description="only below this folder")]
Glob = Annotated[str | None, Field(description="like *.md, notes/**, {a,b}.json; !… for all but these")]
ExpectedVersion = Annotated[
    str | None, Field(description="refuse unless the file is at this version (vault_read gives it)")
]


class VaultNextAction(TypedDict):
    """What to do next: a tool and its parameters, or stop."""

    type: str
    confidence: float | None
    params: dict[str, Any] | None
    intent: NotRequired[str]


@contextmanager
def open_vault(desk: Desk) -> Generator[RootFolder]:
    """The open root. What a writer that died has left undecided is decided first."""
    with open_root(desk.server.locations()["vault"]) as folder:
        recover_if_needed(desk, folder)
        yield folder


def resolve_file(desk: Desk, folder: RootFolder, path: str, field: str = "path") -> PathParts:
    """The file that a path means, spelt as on the disk; refused if it cannot be one, or lies outside the caller's."""
    parts = canonicalize_path(split_file_path(path, field))
    _check_scope(desk, parts)
    return folder.resolve_names(parts)


def resolve_folder(desk: Desk, folder: RootFolder, relative_dir: str | None) -> PathParts:
    parts = split_path(relative_dir or "", "relative_dir")
    return folder.resolve_names(canonicalize_path(parts)) if parts else ()


def _check_scope(desk: Desk, parts: PathParts) -> None:
    if not is_inside(namespace_of(parts), desk.principal.root):
        raise Denied(
            f"{join_path(parts)} lies outside the folder that this key is for.", reason="scope", path=join_path(parts)
        )


def stop_action(intent: str, confidence: float | None = None) -> VaultNextAction:
    return {"type": "stop", "confidence": confidence, "params": None, "intent": intent}


def next_action(tool: str, intent: str, confidence: float | None, **params: Any) -> VaultNextAction:
    return {"type": tool, "confidence": confidence, "params": params, "intent": intent}
