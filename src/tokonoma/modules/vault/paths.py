"""Where the vault lies, and what the paths of callers mean there."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.namespaces import inside
from tokonoma.core.paths import Parts, file_parts, joined, parted
from tokonoma.files.folder import Folder, opened_root
from tokonoma.files.rules import settled
from tokonoma.files.text import space_of
from tokonoma.files.write import settle_if_left

Path = Annotated[str, Field(description="relative to the vault, like notes/today.md")]
RelativeDir = Annotated[str | None, Field(description="only below this folder")]
Glob = Annotated[str | None, Field(description="like *.md, notes/**, {a,b}.json; !… for all but these")]
Version = Annotated[str | None, Field(description="refuse unless the file is at this version (vault_read gives it)")]


class NextAction(TypedDict):
    """What to do next: a tool and its parameters, or stop."""

    type: str
    confidence: float | None
    params: dict[str, Any] | None
    intent: NotRequired[str]


@contextmanager
def vault(desk: Desk) -> Generator[Folder]:
    """The open root. What a writer that died has left undecided is decided first."""
    with opened_root(desk.house.places()["vault"]) as folder:
        settle_if_left(desk, folder)
        yield folder


def file_at(desk: Desk, folder: Folder, path: str, field: str = "path") -> Parts:
    """The file that a path means, spelt as on the disk; refused if it cannot be one, or lies outside the caller's."""
    parts = settled(file_parts(path, field))
    _check_wall(desk, parts)
    return folder.real(parts)


def folder_at(desk: Desk, folder: Folder, relative_dir: str | None) -> Parts:
    parts = parted(relative_dir or "", "relative_dir")
    return folder.real(settled(parts)) if parts else ()


def _check_wall(desk: Desk, parts: Parts) -> None:
    if not inside(space_of(parts), desk.principal.root):
        raise Denied(
            f"{joined(parts)} lies outside the folder that this key is for.", reason="scope", path=joined(parts)
        )


def stop(intent: str, confidence: float | None = None) -> NextAction:
    return {"type": "stop", "confidence": confidence, "params": None, "intent": intent}


def then(tool: str, intent: str, confidence: float | None, **params: Any) -> NextAction:
    return {"type": tool, "confidence": confidence, "params": params, "intent": intent}
