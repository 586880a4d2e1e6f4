"""Markdown artifacts as graphs: headings, paragraphs, list items, rows of tables, and the charts in between. Pure.

Every line with text belongs to an element, except front matter, comments and code. A line that only cites belongs to
the element above it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokonoma.files.front_matter import find_front_matter_end
from tokonoma.files.links import find_anchor_links, remove_comments, strip_marks
from tokonoma.files.markdown import ListItem, MarkdownBlocks, scan_blocks
from tokonoma.files.text import Section, parse_markdown, slugify, split_lines
from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference, is_phrase, require_few
from tokonoma.modules.vault.citations import SOURCE_KEYS, find_citations, parse_citations, strip_citations
from tokonoma.modules.vault.diagrams import parse_chart

_RELATED = re.compile(r"\W*+(?:related|see also|関連|相互参照)", re.IGNORECASE)
_ITEM = re.compile(r"\s*+(?:[-*+]|\d++[.)])\s++")
_NUMBERING = re.compile(
    r"\d{1,3}[.)]\s+|\d{1,3}(?:\.\d{1,3})+\.?\s+(?!(?:days?|hours?|minutes?|seconds?|weeks?|months?|years?|[kmgt]i?b|[%日時分秒年月円])\b)",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*$")
_DELIMITERS = frozenset("|:- \t\r\n")
_LINK = re.compile(r"\[([^\[\]]{1,300}+)\]\(#([^()\s]{1,300}+)\)")
_MARKUP = re.compile(r"<[/A-Za-z!?][^<>]{0,1000}+>|^[ \t>]++", re.MULTILINE)
_TITLE = re.compile(r"""\]\([^()\s"']{0,1000}+\s{1,20}+["']([^"'<>]{1,500}+)["']""")
_ATTRIBUTE = re.compile(r"""\s(?:alt|title|aria-label)\s*+=\s*+["']([^"'<>]++)["']""", re.IGNORECASE)
_KEYS = frozenset(key.casefold() for key in SOURCE_KEYS)


@dataclass(slots=True)
class _Outline:
    lines: Sequence[str]
    taken: bytearray  # by line, counted from 1: belongs to an element, or to none

    def take(self, start: int, end: int) -> None:
        for number in range(start, min(end, len(self.lines)) + 1):
            self.taken[number] = 1


def parse_outline(text: str) -> Artifact:
    """Each element is under the one above it; links lead to headings."""
    front = text[: find_front_matter_end(text)]
    skipped = front.count("\n")
    lines = split_lines(text)
    blocks = _move_blocks(scan_blocks(text[len(front) :].lstrip("\ufeff")), skipped)
    require_few(len(blocks.items) + len(blocks.fences))
    outline = _Outline(lines, bytearray(len(lines) + 2))
    outline.take(1, skipped)
    for start, end in blocks.code:
        outline.take(start, end)
    sections = [_clean_section(each, lines) for each in parse_markdown(text, "") if each.level]
    names = _name_headings(sections)
    top = min((section.level for section in sections), default=0)
    for each in sections:
        outline.take(each.line, each.line + _is_underlined(lines, each))
    items = [_to_item(outline, item) for item in blocks.items]
    others = [*_find_rows(outline), *_find_paragraphs(outline)]
    headings = [_to_heading(each, names, top, others, outline) for each in sections]
    elements = [*headings, *items, *(each for each in others if each.kind != "citation")]
    references = [
        *(ArtifactReference(names[each.parent], names[each.line]) for each in sections if each.parent is not None),
        *_place_items(blocks.items, sections, names),
        *_find_links(lines, sections, names),
    ]
    return _add_charts(elements, references, blocks)


def _move_blocks(blocks: MarkdownBlocks, skipped: int) -> MarkdownBlocks:
    """The blocks with their lines in the file: the front matter is before them."""
    if not skipped:
        return blocks
    items = [
        ListItem(item.line + skipped, item.end + skipped, item.around + skipped if item.around else 0)
        for item in blocks.items
    ]
    fences = [fence._replace(line=fence.line + skipped) for fence in blocks.fences]
    return MarkdownBlocks([], items, fences, [(start + skipped, end + skipped) for start, end in blocks.code])


def _clean_section(section: Section, lines: Sequence[str]) -> Section:
    """A heading whose anchor does not hold its citation: `# A (source_lines: 1)` is `#a`."""
    title = strip_citations(section.title)
    written = "{#" in lines[section.line - 1]
    return replace(section, title=title, anchor=section.anchor if written else slugify(title))


def _is_underlined(lines: Sequence[str], section: Section) -> bool:
    is_atx = lines[section.line - 1].lstrip().startswith("#")
    return not is_atx and section.line < len(lines) and _UNDERLINE.match(lines[section.line]) is not None


def _name_headings(sections: list[Section]) -> dict[int, str]:
    """Line → anchor, as renderers number equal headings."""
    seen: dict[str, int] = {}
    names: dict[int, str] = {}
    for each in sections:
        anchor = each.anchor or slugify(each.title)
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        names[each.line] = f"{anchor}-{count}" if count else anchor
    return names


def _to_heading(
    section: Section, names: dict[int, str], top: int, others: Sequence[ArtifactElement], outline: _Outline
) -> ArtifactElement:
    """A heading cites in its own line, or else with what is written directly below it."""
    cited = find_citations(outline.lines[section.line - 1])
    below = [each for each in others if section.line < each.line <= section.own_end and each.kind != "table_row"]
    cited = cited or next((each.citations for each in below if each.kind == "citation"), ())
    cited = cited or tuple(citation for each in below for citation in each.citations)
    numbering = _NUMBERING.match(section.title)
    text = section.title[numbering.end() :] if numbering else section.title
    name = names[section.line]
    return ArtifactElement(
        name, "heading", section.title, section.line, cited, section.level == top, text=_clean_text(text)
    )


def _clean_text(text: str) -> str:
    """What a reader sees: without comments, citations, tags and marks; and what is shown only when a pointer rests on a
    link or a picture."""
    plain = strip_citations(text)
    said = [*_TITLE.findall(plain), *(each for tag in _MARKUP.findall(plain) for each in _ATTRIBUTE.findall(tag))]
    return ". ".join([strip_marks(_MARKUP.sub(" ", plain)), *said])


def _to_item(outline: _Outline, item: ListItem) -> ArtifactElement:
    """A list item with the lines up to the first one inside it."""
    lines, end = outline.lines, item.line
    while end < min(item.end, len(lines)) and not outline.taken[end + 1] and not _ITEM.match(lines[end]):
        end += 1
    own = "".join(lines[item.line - 1 : end])
    outline.take(item.line, end)
    mark = _ITEM.match(lines[item.line - 1])
    title = strip_citations(lines[item.line - 1][mark.end() if mark else 0 :].strip())[:200]
    text = _clean_text(own[mark.end() :] if mark else own)
    return ArtifactElement(f"L{item.line}", "list_item", title, item.line, find_citations(own), text=text)


def _find_rows(outline: _Outline) -> Iterator[ArtifactElement]:
    """The rows of tables. The first one names the columns: it is a claim if one says something. A column may hold the
    citations."""
    lines = outline.lines
    number = 1
    while number < len(lines):
        header, below = lines[number - 1], lines[number]
        is_table = "|" in header and "|" in below and "-" in below and _DELIMITERS.issuperset(below)
        if not is_table or outline.taken[number] or outline.taken[number + 1]:
            number += 1
            continue
        column = next((at for at, cell in enumerate(_cells(header)) if cell.casefold() in _KEYS), -1)
        yield from _to_header(outline, number)
        outline.take(number, number + 1)
        number += 2
        while number <= len(lines) and "|" in lines[number - 1] and not outline.taken[number]:
            yield _to_row(outline, number, column)
            number += 1


def _to_header(outline: _Outline, number: int) -> Iterator[ArtifactElement]:
    header = outline.lines[number - 1]
    text = ". ".join(plain for cell in _cells(header) if is_phrase(plain := _clean_text(cell)))
    if text:
        cited = find_citations(header)
        yield ArtifactElement(f"L{number}", "table_row", text[:200], number, cited, is_node=False, text=text)


def _to_row(outline: _Outline, number: int, column: int) -> ArtifactElement:
    outline.take(number, number)
    cells = _cells(outline.lines[number - 1])
    cited = parse_citations(cells[column]) if 0 <= column < len(cells) else ()
    said = " ".join(cell for at, cell in enumerate(cells) if at != column)
    text = _clean_text(said)
    cited = (*cited, *find_citations(outline.lines[number - 1]))
    return ArtifactElement(f"L{number}", "table_row", text[:200], number, cited, is_node=False, text=text)


def _cells(row: str) -> list[str]:
    plain = remove_comments(row).strip().replace("\\|", " ")
    return [cell.strip() for cell in plain.removeprefix("|").removesuffix("|").split("|")]


def _find_paragraphs(outline: _Outline) -> Iterator[ArtifactElement]:
    """What is left: lines of text one after the other, in quotations and raw HTML too."""
    visible = _blank_comments("".join(outline.lines)).split("\n")
    start = 0
    for number in range(1, len(outline.lines) + 2):
        is_text = number <= len(outline.lines) and not outline.taken[number] and outline.lines[number - 1].strip()
        if is_text and not start:
            start = number
        elif not is_text and start:
            yield from _to_paragraph(outline, start, number - 1, "\n".join(visible[start - 1 : number - 1]))
            start = 0


def _blank_comments(text: str) -> str:
    """The text without its comments, line for line."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += (text[at:start], "\n" * text.count("\n", start, end))
        at = end + 3
    return "".join([*parts, text[at:]])


def _to_paragraph(outline: _Outline, start: int, end: int, visible: str) -> Iterator[ArtifactElement]:
    cited = find_citations("".join(outline.lines[start - 1 : end]))
    text = _clean_text(visible)
    said = text.strip(" \t\r\n-_*=.,;:()（）。、|")
    if not said or _is_navigation(visible):
        if cited and not said:
            yield ArtifactElement(f"L{start}", "citation", "", start, cited)
        return
    title = " ".join(text.split())[:200]
    yield ArtifactElement(f"L{start}", "paragraph", title, start, cited, is_node=False, text=text)


def _is_navigation(text: str) -> bool:
    """`Related: [two](#two)`: links whose labels are what they lead to, and nothing else."""
    related = _RELATED.match(text.lstrip("# "))
    if related is None:
        return False
    links = text.lstrip("# ")[related.end() :]
    is_named = all(slugify(label) == anchor.casefold() for label, anchor in _LINK.findall(links))
    return is_named and not any(sign.isalnum() for sign in _LINK.sub("", links))


def _place_items(items: list[ListItem], sections: list[Section], names: dict[int, str]) -> Iterator[ArtifactReference]:
    """Each list item is under the item around it, or else under the heading above."""
    starts = [section.line for section in sections]
    for item in items:
        above = bisect_left(starts, item.line)
        origin = f"L{item.around}" if item.around else names[starts[above - 1]] if above else None
        if origin is not None:
            yield ArtifactReference(origin, f"L{item.line}")


def _find_links(lines: list[str], sections: list[Section], names: dict[int, str]) -> Iterator[ArtifactReference]:
    """Links between headings. Those in a line or a list about related things must be answered."""
    for each in sections:
        mutual = False
        for number in range(each.line, each.own_end + 1):
            line = lines[number - 1]
            if _RELATED.match(line.lstrip("# ")):
                mutual = True
            elif not line.strip():
                mutual = False
            for anchor in find_anchor_links(line):
                yield ArtifactReference(names[each.line], anchor.casefold(), "related" if mutual else "", number)


def _add_charts(
    elements: list[ArtifactElement], references: list[ArtifactReference], blocks: MarkdownBlocks
) -> Artifact:
    """The Mermaid charts of the text. Other code is not audited, and the result says so."""
    warnings: list[str] = []
    charts = [fence for fence in sorted(blocks.fences) if fence.info.casefold().startswith("mermaid")]
    for number, fence in enumerate(charts, 1):
        chart = parse_chart(fence.text, fence.line, f"chart{number}:")
        elements += chart.elements
        references += chart.references
        warnings += chart.warnings
        require_few(len(elements))
    starts = {fence.line for fence in charts}
    code = [start for start, _ in blocks.code if start not in starts]
    notes = [f"code is not audited: {len(code)} blocks, at line {', '.join(map(str, code[:5]))}"] if code else []
    return Artifact(elements, references, warnings, notes)
