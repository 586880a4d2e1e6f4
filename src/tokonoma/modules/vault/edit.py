"""Edits of a text: by the text itself, or by a heading. Pure."""

import re

from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.normalize import fold
from tokonoma.files.sections import Section, lines_of, markdown

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_NEAR = 5


def by_text(text: str, find: str, replace: str, most: int) -> tuple[str, int, int]:
    """The new text, how many were replaced, and how many are left. Missing if there is none."""
    there = text.count(find)
    if not there:
        raise Missing("`find` does not occur in the file. It is compared letter by letter; read the lines again.")
    done = min(there, most)
    return text.replace(find, replace, most), done, there - done


def by_heading(text: str, heading: str, replace: str) -> str:
    """The section's lines below its heading, its descendants included, give way."""
    lines = lines_of(text)
    section = section_of(text, heading)
    start = section.line - 1 if _begins_with_heading(replace) else _below(lines, section)
    after = "".join(lines[section.end :])
    new = replace if not replace or replace.endswith("\n") else replace + "\n"
    before = "".join(lines[:start])
    if before and not before.endswith("\n"):
        before += "\n"
    return before + new + after


def section_of(text: str, heading: str) -> Section:
    """The one section with this heading, or with this way of headings (`Outer/Inner`)."""
    sections = [each for each in markdown(text, "") if each.level]
    wanted = [_plain(part) for part in heading.split("/")]
    whole = _plain(heading)
    ways = {each.line: _way(each, sections) for each in sections}
    found = [each for each in sections if ways[each.line][-1] == whole or ways[each.line][-len(wanted) :] == wanted]
    if not found:
        raise Missing(
            f"There is no heading {heading!r} in the file.", headings=[each.title for each in sections[:_NEAR]]
        )
    if len(found) > 1:
        lines = [each.line for each in found]
        raise Conflict(
            f"{len(found)} headings are called {heading!r} (lines {lines}). Name the one above too, as in Outer/Inner.",
            lines=lines,
        )
    return found[0]


def _way(section: Section, sections: list[Section]) -> list[str]:
    by_line = {each.line: each for each in sections}
    way = [_plain(section.title)]
    while section.parent is not None:
        section = by_line[section.parent]
        way.insert(0, _plain(section.title))
    return way


def _plain(heading: str) -> str:
    return " ".join(fold(re.sub(r"^\s*#{1,6}[ \t]+", "", heading)).split())


def _begins_with_heading(text: str) -> bool:
    return _HEADING.match(text) is not None


def _below(lines: list[str], section: Section) -> int:
    """The first line below the heading: one further for a heading that is underlined."""
    underlined = not _HEADING.match(lines[section.line - 1])
    place = section.line
    while underlined and place < len(lines) and not re.fullmatch(r" {0,3}(=+|-+)[ \t]*\r?\n?", lines[place]):
        place += 1
    return place + 1 if underlined else place
