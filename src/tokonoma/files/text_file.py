"""Text files as a caller may see them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.encoding import Encoding
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import forget_files, sync_file
from tokonoma.files.indexed_file import IndexedFile, find_writer
from tokonoma.files.text import decode_file, decode_text, file_address, namespace_of, split_lines, version_of


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as it was read for this call: without what its caller may not see, line for line."""

    path: str
    text: str
    version: str
    lines: Sequence[str]
    encoding: Encoding = "utf-8"


def read_text_file(desk: Desk, folder: RootFolder, parts: PathParts) -> TextFile:
    """Read a file that this caller may see, and sync the index with it. Fails with Missing or Denied."""
    path = join_path(parts)
    try:
        content = folder.read(parts)
    except Missing:
        forget_files(desk, [path])
        raise
    text, encoding = decode_file(content.data, parts)
    file, version = sync_file(desk, parts, content), version_of(content.data)
    shown = _mask_unless_clean(desk, parts, text, version, file)
    cite_file(desk, path, version)
    return TextFile(path, shown, version, split_lines(shown), encoding)


def read_shown_text(desk: Desk, folder: RootFolder, file: IndexedFile) -> tuple[str, str]:
    """The text of a listed file as this caller may see it, and the hash of that text. Fails with Missing or Denied,
    like any reading."""
    parts = tuple(file.path.split("/"))
    data = folder.read(parts).data
    text, version = decode_text(data, parts), version_of(data)
    shown = _mask_unless_clean(desk, parts, text, version, file)
    return shown, version if shown == text else version_of(shown.encode())


def _mask_unless_clean(desk: Desk, parts: PathParts, text: str, version: str, file: IndexedFile | None) -> str:
    """In most files nothing is hidden from any caller, which was found when they were indexed."""
    if file is not None and not file.is_masked and file.holds(version, desk.policy.masks_key):
        return text
    return mask_file_text(desk, parts, text)


def mask_file_text(desk: Desk, parts: PathParts, text: str) -> str:
    """The whole text of a file as this caller may see it, line for line."""
    return desk.policy.mask_text(text, file_address(join_path(parts)), namespace_of(parts))


def cite_file(desk: Desk, path: str, version: str) -> None:
    """Say that the answer holds text of this file, which the caller may see."""
    desk.cite(file_address(path), find_writer(desk, path, version))
