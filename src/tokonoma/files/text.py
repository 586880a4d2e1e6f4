"""Text of files: encoding, lines, Markdown sections, the passages that the index holds, and addresses. Pure functions.

Sections follow the headings of a Markdown file as CommonMark defines them. A section's *own* lines reach to the next
heading of any level; the whole section reaches to the next heading of its level or above, so it includes its
descendants. Lines are counted from 1, both ends inclusive.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from tokonoma.core.desk import format_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.encoding import ENCODING_NAMES, DecodedText, Obstacle, decode_bytes
from tokonoma.files.front_matter import FrontMatter, read_front_matter
from tokonoma.files.links import remove_comments, strip_marks
from tokonoma.files.markdown import Heading, scan_blocks

MODULE = "vault"
MAX_SECTIONS = 2000
"""Headings of one file that open a section. What follows the last of them belongs to it."""

MAX_SEARCHED = 2**20
"""Characters of one passage or section that a search looks through."""

_PASSAGE_LINES = 80  # at most, unless the file is very long
_MAX_PASSAGES = 500  # beyond the sections of a file
_LINES = re.compile(r"([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?")

HeadingFinder = Callable[[str], Sequence[Heading]]
"""Finds the headings of a text without front matter"""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file under one title."""

    start: int
    end: int
    title: str
    text: str
    names: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The title, and the other names of the page."""
        return "\n".join((self.title, *self.names))


@dataclass(frozen=True, slots=True)
class Section:
    """`parent` is the first line of the section above; None at the top. Level 0 is the text before any heading, with
    the other names that the front matter gives the page."""

    line: int
    own_end: int
    end: int
    level: int
    title: str
    anchor: str = ""
    parent: int | None = None
    names: tuple[str, ...] = ()


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode_text(data: bytes, parts: PathParts) -> str:
    """The text of a file, in its own encoding; Denied if it is not text, or its encoding cannot be recognised."""
    return decode_file(data, parts).text


def decode_file(data: bytes, parts: PathParts) -> DecodedText:
    """`decode_text`, with the encoding. The reason of the refusal is that for which a file is left out."""
    return require_decoded(decode_bytes(data), parts)


def require_decoded(decoded: DecodedText | Obstacle, parts: PathParts) -> DecodedText:
    path = join_path(parts)
    if isinstance(decoded, DecodedText):
        return decoded
    problem = "is not UTF-8 text, and its encoding cannot be recognised. Convert it to UTF-8."
    if decoded == "not_text":
        problem = "is not text: it contains NUL or other control characters."
    raise Denied(f"{path} {problem}", reason=decoded, path=path)


def require_utf8(found: DecodedText | Obstacle, parts: PathParts) -> str:
    """The text of a file of which a part is to be changed; Denied unless it is UTF-8."""
    decoded = require_decoded(found, parts)
    if decoded.encoding != "utf-8":
        name, path = ENCODING_NAMES[decoded.encoding], join_path(parts)
        message = f"{path} is written in {name}; parts of it cannot be changed. Overwrite it, or convert it to UTF-8."
        raise Denied(message, reason="encoding", path=path)
    return decoded.text


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


def count_text_lines(text: str) -> int:
    """How many lines `split_lines` returns."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


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
        sections = parse_markdown(text, name, lines)
    else:
        sections = [Section(1, len(lines), len(lines), 0, name)]
    size = passage_size(len(lines))
    return [passage for section in sections for passage in split_section(lines, section, size)]


def passage_size(lines: int) -> int:
    """How many lines a passage of a file with so many lines has at most."""
    return max(_PASSAGE_LINES, -(-lines // _MAX_PASSAGES))


def split_section(lines: Sequence[str], section: Section, size: int, skipped: int = 0) -> Iterator[Passage]:
    """The passages of a section. `lines` are those of the file after the first `skipped`."""
    for first in range(section.line, section.own_end + 1, size):
        last = min(first + size - 1, section.own_end)
        text = "".join(lines[first - 1 - skipped : last - skipped])
        if text.strip():
            yield Passage(first, last, section.title, text, section.names)


def parse_markdown(
    text: str, name: str, lines: Sequence[str] | None = None, find_headings: HeadingFinder | None = None
) -> list[Section]:
    """The sections of a Markdown file in order of line. The text before the first heading is a section too. The front
    matter belongs to it and names it; `name` is its title if there is none. `lines` are those of the text, if known."""
    front = read_front_matter(text)
    skipped = front.lines if front is not None else 0
    lines = split_lines(text) if lines is None else lines
    headings = (find_headings or _find_headings)(text[front.end :] if front is not None else text)
    sections = [to_section(heading, skipped) for heading in headings[:MAX_SECTIONS]]
    last = max(1, len(lines))
    first = sections[0].line if sections else last + 1
    has_text = not sections or remove_comments("".join(lines[skipped : first - 1])).strip()
    if front is not None and front.text and (has_text or _adds_words(front, sections[0])):
        sections.insert(0, Section(1, last, last, 0, front.title or name, names=front.names))
    elif has_text:
        sections.insert(0, Section(min(skipped + 1, last), last, last, 0, name))
    return _nest_sections(sections, last)


def _adds_words(front: FrontMatter, first: Section) -> bool:
    """Whether a front matter holds more than the heading that follows it."""
    return " ".join(front.text.casefold().split()) != first.title.casefold()


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


def _find_headings(text: str) -> Sequence[Heading]:
    return scan_blocks(text, keep_items=False).headings


def to_section(heading: Heading, skipped: int) -> Section:
    """A section of which only the start is known yet."""
    written, anchor = _split_anchor(heading.text)
    title, line = " ".join(strip_marks(remove_comments(written)).split()), skipped + heading.line
    return Section(line, line, line, heading.level, title, anchor or slugify(title))


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
