"""The account of a search of the vault: every file below the folder is searched, or it is listed with the reason."""

from collections.abc import Callable, Collection, Iterable

from tokonoma.core.desk import Desk
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import list_hidden
from tokonoma.files.indexed_file import IndexedFile
from tokonoma.files.listing import NO_LINES, REASONS, LeftOut, is_name_visible, list_folder
from tokonoma.files.text import file_address, namespace_of
from tokonoma.modules.vault import model

_IRRELEVANT = frozenset({"hidden", "not_a_file", "not_text", "policy"})


def list_left_out(
    desk: Desk, folder: RootFolder, below: PathParts, files: Iterable[IndexedFile], matches: Callable[[str], bool]
) -> list[LeftOut]:
    """What cannot be searched below a folder, as far as the caller may know of it. `files` are those that it sees."""
    unread = [LeftOut(tuple(file.path.split("/")), NO_LINES[file.lines]) for file in files if file.lines in NO_LINES]
    named = [each for each in list_folder(folder, below).left_out if is_visible(desk, each)]
    hidden: list[LeftOut] = []
    if desk.principal.kind == "owner":  # others must not learn that there is more
        start = (*below, "")
        paths = [path for path in list_hidden(desk) if path.startswith(join_path(start))]
        hidden = [LeftOut(tuple(path.split("/")), "policy") for path in paths]
    return sorted(each for each in (*unread, *named, *hidden) if matches(each.path))


def is_visible(desk: Desk, left_out: LeftOut) -> bool:
    """Whether the caller may know of it. Only the owner learns of what the policy hides."""
    if left_out.reason == "policy":
        return desk.principal.kind == "owner"
    return is_name_visible(desk, file_address(left_out.path), namespace_of(left_out.parts), left_out.path)


def is_left_out(desk: Desk, path: str, reason: str | None) -> bool:
    """Whether a stored reason is that of a file which could not be searched, and of which the caller may still know."""
    if reason not in REASONS:
        return False
    return is_visible(desk, LeftOut(tuple(path.split("/")), reason))


def list_present(desk: Desk, paths: Collection[str]) -> set[str]:
    """Those of these paths at which there is a file, and where the caller may reach it."""
    if not paths:
        return set()
    with model.open_vault(desk) as folder:
        files = list_folder(folder).files
    return {
        each.path for each in files if each.path in paths and is_inside(namespace_of(each.parts), desk.principal.root)
    }


def has_relevant(left_out: Iterable[LeftOut]) -> bool:
    """Whether a file that is left out could hold text."""
    return any(each.reason not in _IRRELEVANT for each in left_out)
