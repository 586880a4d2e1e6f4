"""Text files as a caller may see them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import find_writer, forget_files, sync_file
from tokonoma.files.text import decode_text, file_address, namespace_of, split_lines, version_of


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as it was read for this call: without what its caller may not see, line for line."""

    path: str
    text: str
    version: str
    lines: Sequence[str]


def read_text_file(desk: Desk, folder: RootFolder, parts: PathParts) -> TextFile:
    """Read a file that this caller may see, and sync the index with it. Fails with Missing or Denied."""
    path = join_path(parts)
    try:
        content = folder.read(parts)
    except Missing:
        forget_files(desk, [path])
        raise
    text = decode_text(content.data, parts)
    sync_file(desk, parts, content)
    shown, version = mask_file_text(desk, parts, text), version_of(content.data)
    cite_file(desk, path, version)
    return TextFile(path, shown, version, split_lines(shown))


def mask_file_text(desk: Desk, parts: PathParts, text: str) -> str:
    """The whole text of a file as this caller may see it, line for line."""
    return desk.policy.mask_text(text, file_address(join_path(parts)), namespace_of(parts))


def cite_file(desk: Desk, path: str, version: str) -> None:
    """Say that the answer holds text of this file, which the caller may see."""
    desk.cite(file_address(path), find_writer(desk, path, version))
