"""Text of files: encoding, lines, Markdown sections, the passages that the index holds, and addresses. Pure functions.

Sections follow the headings of a Markdown file as CommonMark defines them. A section's *own* lines reach to the next
heading of any level; the whole section reaches to the next heading of its level or above, so it includes its
descendants. Lines are counted from 1, both ends inclusive.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tokonoma.core.desk import format_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.paths import PathParts, join_path

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MODULE = "vault"
_PASSAGE_LINES = 80  # at most
_LOCATION = re.compile(r"(.+?)(?:#L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?)?", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ANCHOR = re.compile(r"[ \t]*\{#([^\s}]+)[^}]*\}[ \t]*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARKS = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file under one title."""

    start: int
    end: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """`parent` is the first line of the section above; None at the top. Level 0 is the text before any heading."""

    line: int
    own_end: int
    end: int
    level: int
    title: str
    anchor: str = ""
    parent: int | None = None


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode_text(data: bytes, parts: PathParts) -> str:
    """Decode UTF-8; Denied for anything else."""
    path = join_path(parts)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Denied(f"{path} is not UTF-8 text (byte {error.start}). Convert it, then try again.", path=path) from None
    if "\0" in text:
        raise Denied(f"{path} is not text: it contains NUL bytes.", path=path)
    return text


def encode_text(text: str, field: str) -> bytes:
    if "\0" in text:
        raise Invalid(f"{field} contains a NUL character, which is not allowed in text.", field=field)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid(
            f"{field} contains half of a surrogate pair, which is not a valid character.", field=field
        ) from None


def namespace_of(parts: PathParts) -> str:
    """Folders of the vault are namespaces: a key with the root /team sees only the folder team/."""
    return "/" + join_path(parts[:-1])


def file_address(path: str, start: int | None = None, end: int | None = None) -> str:
    lines = "" if start is None else f"#L{start}" + (f"-L{end}" if end is not None else "")
    return format_address(MODULE, path + lines)


def parse_location(name: str) -> tuple[str, int | None, int | None]:
    """`notes/a.md#L3-L9` → path, first and last line."""
    match = _LOCATION.fullmatch(name)
    assert match is not None, "the pattern takes anything"
    start = int(match[2]) if match[2] else None
    return match[1], start, int(match[3]) if match[3] else start


def split_lines(text: str) -> list[str]:
    """The lines with their line ends: joined again they are the text."""
    # str.splitlines also splits at form feeds and other marks that no editor counts as the end of a line.
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def take_lines(lines: Sequence[str], first: int, last: int, max_chars: int) -> tuple[str, int]:
    """Whole lines up to a number of characters, and the last of them. If the first line is longer, its start."""
    taken: list[str] = []
    size = 0
    for line in lines[first - 1 : last]:
        if taken and size + len(line) > max_chars:
            break
        taken.append(line[:max_chars])
        size += len(line)
    return "".join(taken), first + max(0, len(taken) - 1)


def split_passages(text: str, parts: PathParts) -> list[Passage]:
    """What the index holds: the sections of a Markdown file, other files whole; both split after 80 lines."""
    lines, name = split_lines(text), parts[-1]
    if name.casefold().endswith(".md"):
        ranges = [(section.line, section.own_end, section.title) for section in parse_markdown(text, name)]
    else:
        ranges = [(1, len(lines), name)]
    return [passage for start, end, title in ranges for passage in _split_long(lines, start, end, title)]


def _split_long(lines: Sequence[str], start: int, end: int, title: str) -> Iterator[Passage]:
    for first in range(start, end + 1, _PASSAGE_LINES):
        last = min(first + _PASSAGE_LINES - 1, end)
        text = "".join(lines[first - 1 : last])
        if text.strip():
            yield Passage(first, last, title, text)


def parse_markdown(text: str, name: str) -> list[Section]:
    """The sections of a Markdown file in order of line. `name` is the title of the text before the first heading."""
    front = _FRONT_MATTER.match(text)
    skipped = text[: front.end()].count("\n") if front else 0
    sections = _find_headings(text[front.end() :] if front else text, skipped)
    lines = split_lines(text)
    last = max(1, len(lines))
    first = sections[0].line if sections else last + 1
    if not sections or _COMMENT.sub("", "".join(lines[skipped : first - 1])).strip():
        title = _TITLE.search(front[0]) if front else None
        title_text = title[1].strip("\"' ") if title else name
        sections.insert(0, Section(min(skipped + 1, last), last, last, 0, title_text))
    return _nest_sections(sections, last)


def single_section(text: str, name: str) -> list[Section]:
    """One section, for a file without headings."""
    last = max(1, len(split_lines(text)))
    return [Section(1, last, last, 0, name)]


def section_text(lines: Sequence[str], section: Section, whole: bool = False) -> str:
    """A section's lines including its heading; with `whole`, its descendants too."""
    return "".join(lines[section.line - 1 : section.end if whole else section.own_end])


def slugify(title: str) -> str:
    """The anchor that common renderers give a heading."""
    return re.sub(r"[ \t]+", "-", re.sub(r"[^\w\s-]", "", title.casefold()).strip())


@lru_cache(maxsize=1)
def load_markdown_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Blocks only: inline markup decides no section.
    return MarkdownIt("commonmark").disable("inline")


def _find_headings(text: str, skipped: int) -> list[Section]:
    headings: list[Section] = []
    tokens = load_markdown_parser().parse(text)
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue  # a heading inside a quotation or a list opens no section
        written = tokens[index + 1].content
        anchor = _ANCHOR.search(written)
        plain = _MARKS.sub(lambda mark: mark[1] or "", _COMMENT.sub("", _ANCHOR.sub("", written)))
        title, line = " ".join(plain.split()), skipped + token.map[0] + 1
        headings.append(Section(line, line, line, int(token.tag[1]), title, anchor[1] if anchor else slugify(title)))
    return headings


def _nest_sections(headings: Sequence[Section], last: int) -> list[Section]:
    """Add the ends and parents."""
    sections: list[Section] = []
    ancestors: list[Section] = []
    for index, section in enumerate(headings):
        while ancestors and ancestors[-1].level >= max(1, section.level):
            ancestors.pop()
        parent = next((each.line for each in reversed(ancestors) if each.level), None)
        following = headings[index + 1 :]
        own_end = following[0].line - 1 if following else last
        end = next((each.line - 1 for each in following if each.level <= section.level), last)
        sections.append(replace(section, own_end=own_end, end=end if section.level else own_end, parent=parent))
        ancestors.append(section)
    return sections
