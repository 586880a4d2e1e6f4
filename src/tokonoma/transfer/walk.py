"""The files of a folder, and what is in them. Links are not followed: they may lead out of what was meant."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from tokonoma.transfer.carried import Remark
from tokonoma.transfer.decode import DecodingError, decode_text

MAX_NOTE_BYTES = 16 * 1024 * 1024  # bytes of one Markdown file
MAX_DOCUMENT_BYTES = 512 * 1024 * 1024  # bytes of one JSON document, which is held in memory whole
_ENDINGS = (".md", ".markdown")


class UnreadableFile(Exception):
    """A file that cannot be taken; the message says why."""


@dataclass(slots=True)
class NoteFolder:
    """`notes` are the Markdown files, by their paths inside, in order; what else was met stands in `remarks`."""

    root: Path
    notes: list[str] = field(default_factory=list[str])
    others: dict[str, int] = field(default_factory=dict[str, int])  # files that are no Markdown, by their ending
    remarks: list[Remark] = field(default_factory=list[Remark])


def scan_folder(path: Path) -> NoteFolder:
    """A folder with all below it; a file alone is a folder of one. What is hidden (`.obsidian`, `.git`) is left out."""
    if not path.is_dir():
        return NoteFolder(path.parent, [path.name])
    found = NoteFolder(path)
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(path / prefix) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            found.remarks.append(Remark(prefix or ".", f"It cannot be read: {error.strerror}."))
            continue
        deeper = [name for entry in entries if (name := _add_entry(found, f"{prefix}{entry.name}", entry))]
        waiting += reversed(deeper)
    return found


def _add_entry(found: NoteFolder, inside: str, entry: os.DirEntry[str]) -> str:
    """Put an entry where it belongs; the name of one to look into."""
    if entry.name.startswith("."):
        return ""
    if not _is_encodable(inside):
        found.remarks.append(Remark(ascii(inside), "Its name is not text."))
    elif entry.is_symlink():
        found.remarks.append(Remark(inside, "It is a link; links are not followed."))
    elif entry.is_dir():
        return f"{inside}/"
    elif not entry.is_file():
        found.remarks.append(Remark(inside, "It is not a file."))
    elif inside.lower().endswith(_ENDINGS):
        found.notes.append(inside)
    else:
        ending = Path(inside).suffix.lower() or "without an ending"
        found.others[ending] = found.others.get(ending, 0) + 1
    return ""


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_note(root: Path, inside: str) -> tuple[str, str, int]:
    """A note's text, a word on its encoding if it was not plain UTF-8, and when it was last changed (ms)."""
    raw, changed = read_file_bytes(root / inside, MAX_NOTE_BYTES)
    try:
        text, word = decode_text(raw)
    except DecodingError as error:
        raise UnreadableFile(str(error)) from None
    return text, word, changed


def read_file_bytes(path: Path, most: int, *, link: bool = False) -> tuple[bytes, int]:
    """The bytes of a plain file of at most so many, and when it was last changed (ms)."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= 0 if link else getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UnreadableFile("It is not a file.")
            raw = file.read(most + 1)
    except OSError as error:
        raise UnreadableFile(f"It cannot be read: {error.strerror}.") from None
    if len(raw) > most:
        raise UnreadableFile(f"It has more than {most // 1024 // 1024} MiB.")
    return raw, about.st_mtime_ns // 1_000_000
