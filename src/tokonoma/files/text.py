"""A file's bytes as text, its version, and the pieces that the index holds of it. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.addresses import address_of
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.paths import Parts, joined
from tokonoma.files.sections import lines_of, markdown

MODULE = "vault"
_LINES = 80  # of one piece, at most
_PLACE = re.compile(r"(.+?)(?:#L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a file, both ends inclusive and counted from 1, under one title."""

    start: int
    end: int
    title: str
    text: str


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decoded(data: bytes, parts: Parts) -> str:
    """UTF-8 text; Denied for anything else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Denied(
            f"{joined(parts)} is not UTF-8 text (byte {error.start}). Convert it, then try again.", path=joined(parts)
        ) from None
    if "\0" in text:
        raise Denied(f"{joined(parts)} is not text: it holds NUL bytes.", path=joined(parts))
    return text


def encoded(text: str, field: str) -> bytes:
    if "\0" in text:
        raise Invalid(f"{field} holds a NUL character, which no text file has.", field=field)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid(f"{field} holds half of a surrogate pair, which is no character.", field=field) from None


def space_of(parts: Parts) -> str:
    """Folders of the vault are spaces: a key that is walled into /team sees the folder team/ alone."""
    return "/" + joined(parts[:-1])


def address(path: str, start: int | None = None, end: int | None = None) -> str:
    lines = "" if start is None else f"#L{start}" + (f"-L{end}" if end is not None else "")
    return address_of(MODULE, path + lines)


def placed(name: str) -> tuple[str, int | None, int | None]:
    """`notes/a.md#L3-L9` → path, first and last line."""
    found = _PLACE.fullmatch(name)
    assert found is not None, "the pattern takes anything"
    start = int(found[2]) if found[2] else None
    return found[1], start, int(found[3]) if found[3] else start


def pieces(text: str, parts: Parts) -> list[Piece]:
    """What the index holds: a Markdown file by its sections, anything else, and what is long, by so many lines."""
    lines = lines_of(text)
    name = parts[-1]
    if name.casefold().endswith(".md"):
        found = [(each.line, each.own_end, each.title) for each in markdown(text, name)]
    else:
        found = [(1, len(lines), name)]
    return [piece for start, end, title in found for piece in _cut(lines, start, end, title)]


def _cut(lines: Sequence[str], start: int, end: int, title: str) -> Iterator[Piece]:
    for first in range(start, end + 1, _LINES):
        last = min(first + _LINES - 1, end)
        said = "".join(lines[first - 1 : last])
        if said.strip():
            yield Piece(first, last, title, said)
