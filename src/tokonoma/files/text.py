"""Text of files: encoding, lines, Markdown sections, the passages that the index holds, and addresses. Pure functions.

Sections follow the headings of a Markdown file as CommonMark defines them. A section's *own* lines reach to the next
heading of any level; the whole section reaches to the next heading of its level or above, so it includes its
descendants. Lines are counted from 1, both ends inclusive.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from tokonoma.core.desk import format_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.links import remove_comments, strip_marks
from tokonoma.files.markdown import scan_blocks

MODULE = "vault"
MAX_SECTIONS = 2000
"""Headings of one file that open a section. What follows the last of them belongs to it."""

MAX_SEARCHED = 2**20
"""Characters of one passage or section that a search looks through."""

_PASSAGE_LINES = 80  # at most, unless the file is very long
_MAX_PASSAGES = 500  # beyond the sections of a file
_LINES = re.compile(r"([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?")


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
    path, mark, lines = name.rpartition("#L")
    match = _LINES.fullmatch(lines) if path and mark else None
    if match is None:
        return name, None, None
    return path, int(match[1]), int(match[2] or match[1])


def split_lines(text: str) -> list[str]:
    """The lines with their line ends: joined again they are the text."""
    # str.splitlines also splits at form feeds and other marks that no editor counts as the end of a line.
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def find_line_starts(text: str) -> list[int]:
    """The place of the first character of each line, and of the end."""
    return [0, *accumulate(map(len, split_lines(text)))]


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
    """What the index holds: the sections of a Markdown file, other files whole; both split after 80 lines, or more in a
    very long file."""
    lines, name = split_lines(text), parts[-1]
    if name.casefold().endswith(".md"):
        ranges = [(section.line, section.own_end, section.title) for section in parse_markdown(text, name)]
    else:
        ranges = [(1, len(lines), name)]
    size = max(_PASSAGE_LINES, -(-len(lines) // _MAX_PASSAGES))
    return [passage for start, end, title in ranges for passage in _split_long(lines, start, end, title, size)]


def _split_long(lines: Sequence[str], start: int, end: int, title: str, size: int) -> Iterator[Passage]:
    for first in range(start, end + 1, size):
        last = min(first + size - 1, end)
        text = "".join(lines[first - 1 : last])
        if text.strip():
            yield Passage(first, last, title, text)


def parse_markdown(text: str, name: str) -> list[Section]:
    """The sections of a Markdown file in order of line. `name` is the title of the text before the first heading."""
    front = text[: find_front_matter_end(text)]
    skipped = front.count("\n")
    sections = _find_headings(text[len(front) :], skipped)
    lines = split_lines(text)
    last = max(1, len(lines))
    first = sections[0].line if sections else last + 1
    if not sections or remove_comments("".join(lines[skipped : first - 1])).strip():
        sections.insert(0, Section(min(skipped + 1, last), last, last, 0, _find_title(front) or name))
    return _nest_sections(sections, last)


def find_front_matter_end(text: str) -> int:
    """Where the text after the front matter starts: the lines between two lines of `---`. 0 if there is none."""
    start = text.find("\n") + 1
    if not start or not _is_rule(text[:start]):
        return 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        if text.startswith("---", start) and _is_rule(text[start:end]):
            return end
        start = end
    return 0


def _is_rule(line: str) -> bool:
    written = line[:-1].removesuffix("\r") if line.endswith("\n") else line
    return written.rstrip(" \t") == "---"


def _find_title(front: str) -> str | None:
    """The `title:` of a front matter; None if it has none."""
    for line in front.split("\n"):
        if line.startswith("title:") and (title := line[6:].strip(" \t\r")):
            return title.strip("\"' ")
    return None


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


def _find_headings(text: str, skipped: int) -> list[Section]:
    headings: list[Section] = []
    for heading in scan_blocks(text, keep_items=False).headings[:MAX_SECTIONS]:
        written, anchor = _split_anchor(heading.text)
        title, line = " ".join(strip_marks(remove_comments(written)).split()), skipped + heading.line
        headings.append(Section(line, line, line, heading.level, title, anchor or slugify(title)))
    return headings


def _split_anchor(written: str) -> tuple[str, str]:
    """A heading without the `{#anchor}` at its end, and the anchor; empty if there is none."""
    text = written.rstrip(" \t")
    place = text.find("{#", text.rfind("}", 0, -1) + 1) if text.endswith("}") else -1
    while place >= 0:
        if text[place + 2] != "}" and not text[place + 2].isspace():
            return text[:place].rstrip(" \t"), text[place + 2 : -1].split(maxsplit=1)[0]
        place = text.find("{#", place + 2)
    return written, ""


def _nest_sections(headings: Sequence[Section], last: int) -> list[Section]:
    """Add the ends and parents: a section ends before the next heading of its level or above."""
    parents: list[int | None] = []
    ends = [last] * len(headings)
    open_sections: list[int] = []
    for index, section in enumerate(headings):
        while open_sections and headings[open_sections[-1]].level >= max(1, section.level):
            ends[open_sections.pop()] = section.line - 1
        parent = headings[open_sections[-1]] if open_sections else None
        parents.append(parent.line if parent is not None and parent.level else None)
        open_sections.append(index)
    following = [*(section.line - 1 for section in headings[1:]), last]
    return [
        replace(section, own_end=own_end, end=end if section.level else own_end, parent=parent)
        for section, own_end, end, parent in zip(headings, following, ends, parents, strict=True)
    ]
