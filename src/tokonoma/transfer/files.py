"""Reads files of other programs (several encodings, Markdown folders, lines of JSON, JSON documents); writes own files.

Symbolic links are not followed: they may lead out of the folder that was named.
"""

import codecs
import io
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from tokonoma.core.clock import parse_time
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.transfer.model import Metadata, Remark, SourceError

MAX_NOTE_BYTES = 16 * 1024 * 1024  # of one Markdown file
MAX_DOCUMENT_BYTES = 512 * 1024 * 1024  # of one JSON document, which is read into memory
MAX_LINE_BYTES = 32 * 1024 * 1024
NOTE_SUFFIXES = (".md", ".markdown")
_BOMS = (  # UTF-32 before UTF-16, because its mark begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ENCODING_NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32"}
_SNIFF_BYTES = 8192
_OWN_PREFIX = b"---\ntokonoma:"  # a memo of an own export, which may contain NUL


def decode_text(raw: bytes) -> tuple[str, str]:
    """Return the text, and a remark on its encoding if that was not plain UTF-8."""
    mark, name = next((each for each in _BOMS if raw.startswith(each[0])), (b"", ""))
    if mark:
        shown = _ENCODING_NAMES.get(name, name.upper())
        try:
            return raw[len(mark) :].decode(name), "" if name == "utf-8" else f"It was read as {shown}."
        except UnicodeDecodeError as error:
            raise SourceError(f"It has the mark of {shown} but is not valid {shown} ({error.reason}).") from None
    if b"\0" in raw[:_SNIFF_BYTES] and not raw.startswith(_OWN_PREFIX):
        raise SourceError("It is not text (it contains NUL bytes).")
    try:
        return raw.decode(), ""
    except UnicodeDecodeError as error:
        try:
            return raw.decode("cp932"), "It was read as Shift_JIS."
        except UnicodeDecodeError:
            raise SourceError(f"It is not UTF-8 (byte {error.start}), and not Shift_JIS.") from None


@dataclass(slots=True)
class NoteFolder:
    """`notes` are the paths of the Markdown files inside the folder, in order."""

    root: Path
    notes: list[str] = field(default_factory=list[str])
    others: dict[str, int] = field(default_factory=dict[str, int])  # number of other files, by their suffix
    remarks: list[Remark] = field(default_factory=list[Remark])


def scan_folder(path: Path) -> NoteFolder:
    """Scan a folder and its subfolders, without hidden ones (`.obsidian`, `.git`). A file is a folder of one note."""
    if not path.is_dir():
        return NoteFolder(path.parent, [path.name])
    folder = NoteFolder(path)
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(path / prefix) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            folder.remarks.append(Remark(prefix or ".", f"It cannot be read: {error.strerror}."))
            continue
        subfolders = [name for entry in entries if (name := _add_entry(folder, f"{prefix}{entry.name}", entry))]
        pending += reversed(subfolders)
    return folder


def _add_entry(folder: NoteFolder, inside: str, entry: os.DirEntry[str]) -> str:
    """Add an entry to the folder; return the name if it is a subfolder to scan."""
    if entry.name.startswith("."):
        return ""
    if any("\ud800" <= letter <= "\udfff" for letter in inside):
        folder.remarks.append(Remark(ascii(inside), "Its name is not text."))
    elif entry.is_symlink():
        folder.remarks.append(Remark(inside, "It is a symbolic link, which is not followed."))
    elif entry.is_dir():
        return f"{inside}/"
    elif not entry.is_file():
        folder.remarks.append(Remark(inside, "It is not a file."))
    elif inside.lower().endswith(NOTE_SUFFIXES):
        folder.notes.append(inside)
    else:
        suffix = Path(inside).suffix.lower() or "without an ending"
        folder.others[suffix] = folder.others.get(suffix, 0) + 1
    return ""


def read_note(root: Path, inside: str) -> tuple[str, str, int]:
    """Return the text of a note, a remark on its encoding if not plain UTF-8, and its time of change (ms)."""
    raw, changed = _read_bytes(root / inside, MAX_NOTE_BYTES)
    return *decode_text(raw), changed


def _read_bytes(path: Path, max_bytes: int, *, follow: bool = False) -> tuple[bytes, int]:
    """Return the content of a regular file, and its time of change (ms)."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise SourceError("It is not a file.")
            raw = file.read(max_bytes + 1)
    except OSError as error:
        raise SourceError(f"It cannot be read: {error.strerror}.") from None
    if len(raw) > max_bytes:
        raise SourceError(f"It has more than {max_bytes // 1024 // 1024} MiB.")
    return raw, info.st_mtime_ns // 1_000_000


def read_objects(path: Path) -> Iterator[tuple[int, Metadata] | Remark]:
    """Yield the number and the JSON object of each line, and a remark for each line that has none."""
    for number, line in _read_lines(path):
        place = f"{path.name}:{number}"
        if len(line) > MAX_LINE_BYTES:
            yield Remark(place, f"The line has more than {MAX_LINE_BYTES // 1024 // 1024} MiB.")
            continue
        try:
            text, encoding = decode_text(line)
            if not text.strip():
                continue
            value: Any = orjson.loads(text)
        except SourceError as error:
            yield Remark(place, str(error))
            continue
        except orjson.JSONDecodeError as error:
            yield Remark(place, f"It is not JSON (column {error.colno}: {error.msg.partition(': line')[0]}).")
            continue
        if encoding:
            yield Remark(place, encoding, lost=False)
        if isinstance(value, dict):
            yield number, cast("Metadata", value)
        else:
            yield Remark(place, "It is not a JSON object.")


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        encoding = next((name for mark, name in _BOMS if start.startswith(mark)), "utf-8")
        # Of utf-16-le only utf-16: Python then reads the byte order from the mark, such as PowerShell writes with `>`.
        text = io.TextIOWrapper(file, encoding[:6], "replace", newline="\n") if encoding != "utf-8" else None

        def read(size: int) -> bytes:
            return file.readline(size) if text is None else text.readline(size).encode()

        number = 0
        while line := read(MAX_LINE_BYTES + 1):
            number += 1
            yield number, line
            while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):  # the rest of a line that is too long
                line = read(MAX_LINE_BYTES + 1)


def load_document(path: Path) -> Any:
    """Return the JSON value of the file; raise Invalid if there is none."""
    try:
        return orjson.loads(decode_text(_read_bytes(path, MAX_DOCUMENT_BYTES, follow=True)[0])[0])
    except SourceError as error:
        raise Invalid(f"{path}: {error}") from None
    except orjson.JSONDecodeError as error:
        what = error.msg.partition(": line")[0]
        raise Invalid(f"{path} is not JSON (line {error.lineno}, column {error.colno}: {what}).") from None


def drop_fields(raw: Metadata, *names: str) -> Metadata:
    """The other fields of an object, without those that are null."""
    return {key: value for key, value in raw.items() if key not in names and value is not None}


def as_text(value: Any) -> str:
    """A text, or a number as text; empty for everything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def as_object(value: Any) -> Metadata:
    """A JSON object; an empty one for everything else."""
    return cast("Metadata", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A JSON list; an empty one for everything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_time(value: Any, *, local: bool = False) -> int | None:
    """Milliseconds from seconds since the epoch or from a text such as 2026-07-28T09:30:00+09:00; None for others.

    A text without a zone is UTC, or (`local`) the time zone of this machine.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Seconds, or the milliseconds of a JavaScript program: 1e11 seconds is the year 5138.
        seconds = value if abs(value) < 1e11 else value / 1000
        return round(seconds * 1000) if abs(seconds) < 1e12 else None
    try:
        text = as_text(value).strip()
        if local:
            parsed = datetime.fromisoformat(text)
            text = (parsed if parsed.tzinfo else parsed.astimezone()).isoformat()
        return parse_time(text)
    except (ValueError, OverflowError, OSError):
        return None


def first_time(fields: Metadata, *names: str, local: bool = False) -> int | None:
    return next((time for name in names if (time := as_time(fields.get(name), local=local)) is not None), None)


@contextmanager
def create_file(path: Path) -> Generator[BinaryIO]:
    """Open a new file for its owner alone; it appears under its name when it is complete. Never overwrites a file."""
    if path.exists() or path.is_symlink():
        raise Conflict(f"{path} already exists. Choose another name.", reason="exists")
    with replace_file(path) as file:
        yield file


@contextmanager
def replace_file(path: Path, mode: int = 0o600, *, durable: bool = True) -> Generator[BinaryIO]:
    """Write a file atomically: a draft for its owner alone is completed, gets its mode and then the name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{secrets.token_hex(6)}.tmp")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
