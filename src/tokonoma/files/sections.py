"""Sections of a text: the headings of a Markdown file as CommonMark sees them; anything else is one piece.

A section's *own* lines reach to the next heading of any level; its whole reaches to the next heading of its level or
above, so that it holds its descendants. Lines are counted from 1, both ends inclusive.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ANCHOR = re.compile(r"[ \t]*\{#([^\s}]+)[^}]*\}[ \t]*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARKS = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """`parent` is the first line of the section above it; None for one at the top. Level 0: text before any heading."""

    line: int
    own_end: int
    end: int
    level: int
    title: str
    anchor: str = ""
    parent: int | None = None


def split_lines(text: str) -> list[str]:
    """The lines, with their ends: joined again they are the text."""
    # str.splitlines also splits at form feeds and other marks that no editor counts as the end of a line.
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def parse_markdown(text: str, name: str) -> list[Section]:
    """The sections of a Markdown file in order of line. `name` is the title of what stands before the first heading."""
    front = _FRONT_MATTER.match(text)
    skipped = text[: front.end()].count("\n") if front else 0
    found = _find_headings(text[front.end() :] if front else text, skipped)
    last = max(1, len(split_lines(text)))
    told = _TITLE.search(front[0]) if front else None
    first = found[0].line if found else last + 1
    if _has_text(split_lines(text)[skipped : first - 1]) or not found:
        title = told[1].strip("\"' ") if told else name
        found.insert(0, Section(min(skipped + 1, last), last, last, 0, title))
    return _nest_sections(found, last)


def single_section(text: str, name: str) -> list[Section]:
    """One piece, for what has no headings."""
    last = max(1, len(split_lines(text)))
    return [Section(1, last, last, 0, name)]


def section_text(lines: Sequence[str], section: Section, whole: bool = False) -> str:
    """A section's lines, its heading included; `whole` with its descendants."""
    return "".join(lines[section.line - 1 : section.end if whole else section.own_end])


def slugify(title: str) -> str:
    """The anchor that common renderers give a heading."""
    return re.sub(r"[ \t]+", "-", re.sub(r"[^\w\s-]", "", title.casefold()).strip())


@lru_cache(maxsize=1)
def _load_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Blocks alone: what stands inside a line decides no section.
    return MarkdownIt("commonmark").disable("inline")


def _find_headings(text: str, skipped: int) -> list[Section]:
    found: list[Section] = []
    tokens = _load_parser().parse(text)
    for place, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue  # a heading inside a quotation or a list opens no section
        written = tokens[place + 1].content
        anchor = _ANCHOR.search(written)
        title = _plain_title(_ANCHOR.sub("", written))
        line = skipped + token.map[0] + 1
        found.append(Section(line, line, line, int(token.tag[1]), title, anchor[1] if anchor else slugify(title)))
    return found


def _plain_title(written: str) -> str:
    text = _MARKS.sub(lambda mark: mark[1] or "", _COMMENT.sub("", written))
    return " ".join(text.split())


def _has_text(lines: Sequence[str]) -> bool:
    return bool(_COMMENT.sub("", "".join(lines)).strip())


def _nest_sections(found: Sequence[Section], last: int) -> list[Section]:
    """With their ends and parents."""
    sections: list[Section] = []
    open_: list[int] = []  # places of those that the next one may lie under
    for place, section in enumerate(found):
        while open_ and sections[open_[-1]].level >= max(1, section.level):
            open_.pop()
        parent = next((sections[each].line for each in reversed(open_) if sections[each].level), None)
        own_end = found[place + 1].line - 1 if place + 1 < len(found) else last
        below = (each.line - 1 for each in found[place + 1 :] if each.level <= section.level)
        end = next(below, last) if section.level else own_end
        sections.append(replace(section, own_end=own_end, end=end, parent=parent))
        open_.append(place)
    return sections
