"""A file's bytes as text, its version, and the pieces that the index holds of it. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.desk import format_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.sections import parse_markdown, split_lines

MODULE = "vault"
_PASSAGE_LINES = 80  # of one piece, at most
_LOCATION = re.compile(r"(.+?)(?:#L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, both ends inclusive and counted from 1, under one title."""

    start: int
    end: int
    title: str
    text: str


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode_text(data: bytes, parts: PathParts) -> str:
    """UTF-8 text; Denied for anything else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Denied(
            f"{join_path(parts)} is not UTF-8 text (byte {error.start}). Convert it, then try again.",
            path=join_path(parts),
        ) from None
    if "\0" in text:
        raise Denied(f"{join_path(parts)} is not text: it holds NUL bytes.", path=join_path(parts))
    return text


def encode_text(text: str, field: str) -> bytes:
    if "\0" in text:
        raise Invalid(f"{field} holds a NUL character, which no text file has.", field=field)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid(f"{field} holds half of a surrogate pair, which is no character.", field=field) from None


def namespace_of(parts: PathParts) -> str:
    """Folders of the vault are spaces: a key that is walled into /team sees the folder team/ alone."""
    return "/" + join_path(parts[:-1])


def file_address(path: str, start: int | None = None, end: int | None = None) -> str:
    lines = "" if start is None else f"#L{start}" + (f"-L{end}" if end is not None else "")
    return format_address(MODULE, path + lines)


def parse_location(name: str) -> tuple[str, int | None, int | None]:
    """`notes/a.md#L3-L9` → path, first and last line."""
    found = _LOCATION.fullmatch(name)
    assert found is not None, "the pattern takes anything"
    start = int(found[2]) if found[2] else None
    return found[1], start, int(found[3]) if found[3] else start


def split_passages(text: str, parts: PathParts) -> list[Passage]:
    """What the index holds: a Markdown file by its sections, anything else, and what is long, by so many lines."""
    lines = split_lines(text)
    name = parts[-1]
    if name.casefold().endswith(".md"):
        found = [(each.line, each.own_end, each.title) for each in parse_markdown(text, name)]
    else:
        found = [(1, len(lines), name)]
    return [piece for start, end, title in found for piece in _split_long(lines, start, end, title)]


def _split_long(lines: Sequence[str], start: int, end: int, title: str) -> Iterator[Passage]:
    for first in range(start, end + 1, _PASSAGE_LINES):
        last = min(first + _PASSAGE_LINES - 1, end)
        said = "".join(lines[first - 1 : last])
        if said.strip():
            yield Passage(first, last, title, said)
