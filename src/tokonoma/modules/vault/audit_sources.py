"""The sources of an audit: files of the vault and of manuals, each with what this caller has read of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NotRequired

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, format_address
from tokonoma.core.errors import Invalid
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.files.folder import RootFolder
from tokonoma.files.ledger import ReadingLog, load_log
from tokonoma.files.ranges import Range
from tokonoma.files.text import MODULE, split_lines, version_of
from tokonoma.files.text_file import TextFile, read_text_file
from tokonoma.modules.vault import model

_MANUALS = "manual"


class NamedSource(TypedDict):
    path: str
    manual_id: NotRequired[str]


@dataclass(slots=True)
class AuditSource:
    """`name` is how citations may name it; a shorter end of it does, where no other source has it."""

    name: str
    module: str
    path: str
    file: TextFile
    log: ReadingLog
    manual_id: str = ""
    cited: list[Range] = field(default_factory=list[Range])


def open_sources(
    desk: Desk, folder: RootFolder, source_path: str | None, sources: Sequence[NamedSource] | None
) -> list[AuditSource]:
    """The sources in order; the first is meant by citations that name none."""
    wanted = [*([NamedSource(path=source_path)] if source_path is not None else []), *(sources or [])]
    if not wanted:
        raise Invalid("Name the source: source_path, or sources.", field="source_path")
    opened: list[AuditSource] = []
    for each in wanted:
        manual_id = each.get("manual_id", "")
        file = _read_manual(desk, manual_id, each["path"]) if manual_id else _read_vault(desk, folder, each["path"])
        module = _MANUALS if manual_id else MODULE
        path = file.path.removeprefix(f"{manual_id}/") if manual_id else file.path
        if all((other.module, other.name) != (module, file.path) for other in opened):
            opened.append(AuditSource(file.path, module, path, file, load_log(desk, module, file), manual_id))
    return opened


def _read_vault(desk: Desk, folder: RootFolder, path: str) -> TextFile:
    return read_text_file(desk, folder, model.resolve_file(desk, folder, path, "source_path"))


def _read_manual(desk: Desk, manual_id: str, path: str) -> TextFile:
    """A manual's file, if this caller may see all of it."""
    if "/" in manual_id or "#" in path:
        raise Invalid("manual_id is the name of a manual, and path a file in it.", field="sources")
    name = f"{manual_id}/{join_path(split_file_path(path, 'sources'))}"
    text = desk.read(format_address(_MANUALS, name)).text
    return TextFile(name, text, version_of(text.encode("utf-8", "surrogatepass")), split_lines(text))


def find_source(opened: Sequence[AuditSource], name: str) -> AuditSource | None:
    """The source that a citation names; None if there is none, or several have this name."""
    if not name:
        return opened[0]
    exact = [each for each in opened if each.name == name or each.path == name]
    found = exact or [each for each in opened if each.name.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None
