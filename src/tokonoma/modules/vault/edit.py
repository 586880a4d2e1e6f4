"""Edits of a text: by the text itself, or by a heading. Pure."""

import re

from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.normalize import normalize
from tokonoma.files.sections import Section, parse_markdown, split_lines

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_MAX_HEADINGS = 5


def replace_text(text: str, find: str, replace: str, most: int) -> tuple[str, int, int]:
    """The new text, how many were replaced, and how many are left. Missing if there is none."""
    there = text.count(find)
    if not there:
        raise Missing("`find` does not occur in the file. It is compared letter by letter; read the lines again.")
    done = min(there, most)
    return text.replace(find, replace, most), done, there - done


def replace_section(text: str, heading: str, replace: str) -> str:
    """The section's lines below its heading, its descendants included, give way."""
    lines = split_lines(text)
    section = find_section(text, heading)
    start = section.line - 1 if _starts_with_heading(replace) else _first_body_line(lines, section)
    after = "".join(lines[section.end :])
    new = replace if not replace or replace.endswith("\n") else replace + "\n"
    before = "".join(lines[:start])
    if before and not before.endswith("\n"):
        before += "\n"
    return before + new + after


def find_section(text: str, heading: str) -> Section:
    """The one section with this heading, or with this way of headings (`Outer/Inner`)."""
    sections = [each for each in parse_markdown(text, "") if each.level]
    wanted = [_normalize_heading(part) for part in heading.split("/")]
    whole = _normalize_heading(heading)
    ways = {each.line: _heading_path(each, sections) for each in sections}
    found = [each for each in sections if ways[each.line][-1] == whole or ways[each.line][-len(wanted) :] == wanted]
    if not found:
        raise Missing(
            f"There is no heading {heading!r} in the file.", headings=[each.title for each in sections[:_MAX_HEADINGS]]
        )
    if len(found) > 1:
        lines = [each.line for each in found]
        raise Conflict(
            f"{len(found)} headings are called {heading!r} (lines {lines}). Name the one above too, as in Outer/Inner.",
            lines=lines,
        )
    return found[0]


def _heading_path(section: Section, sections: list[Section]) -> list[str]:
    by_line = {each.line: each for each in sections}
    way = [_normalize_heading(section.title)]
    while section.parent is not None:
        section = by_line[section.parent]
        way.insert(0, _normalize_heading(section.title))
    return way


def _normalize_heading(heading: str) -> str:
    return " ".join(normalize(re.sub(r"^\s*#{1,6}[ \t]+", "", heading)).split())


def _starts_with_heading(text: str) -> bool:
    return _HEADING.match(text) is not None


def _first_body_line(lines: list[str], section: Section) -> int:
    """The first line below the heading: one further for a heading that is underlined."""
    underlined = not _HEADING.match(lines[section.line - 1])
    place = section.line
    while underlined and place < len(lines) and not re.fullmatch(r" {0,3}(=+|-+)[ \t]*\r?\n?", lines[place]):
        place += 1
    return place + 1 if underlined else place
