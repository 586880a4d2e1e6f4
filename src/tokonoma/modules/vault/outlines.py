"""Markdown and JSON artifacts as graphs. Pure functions."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, cast

from tokonoma.core.errors import Denied
from tokonoma.files.links import find_anchor_links
from tokonoma.files.markdown import ListItem, MarkdownBlocks, scan_blocks
from tokonoma.files.text import Section, parse_markdown, slugify, split_lines
from tokonoma.modules.vault import artifacts
from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference

_RELATED = re.compile(r"\W*+(?:related|see also|関連|相互参照)", re.IGNORECASE)
_EDGE_KEYS = (("from", "to"), ("source", "target"), ("from_id", "to_id"))
_START_NAMES = frozenset({"start", "root", "entry", "begin", "開始"})
_MAX_DEPTH = 64
_MAX_ELEMENTS = 20_000
_ITEM = re.compile(r"\s*+(?:[-*+]|\d++[.)])\s++")
_LIST_OR_FENCE = re.compile(r"\s*+(?:(?:[-*+]|\d++[.)])\s|```|~~~)")


def parse_outline(text: str) -> Artifact:
    """Headings and list items, each under the one above it; links to headings; and the Mermaid charts in the text."""
    lines, blocks = split_lines(text), scan_blocks(text.lstrip("\ufeff"))
    sections = [section for section in parse_markdown(text, "") if section.level]
    names = _name_headings(sections)
    top = min((section.level for section in sections), default=0)
    elements: list[ArtifactElement] = []
    references: list[ArtifactReference] = []
    warnings: list[str] = []
    for each in sections:
        name, title = names[each.line], artifacts.strip_source_lines(each.title)
        sources = artifacts.find_source_lines(_own_text(lines, each.line, each.own_end, _LIST_OR_FENCE.match))
        elements.append(ArtifactElement(name, "heading", title, each.line, sources, each.level == top))
        if each.parent is not None:
            references.append(ArtifactReference(names[each.parent], name))
    if len(blocks.items) + len(blocks.fences) > _MAX_ELEMENTS:
        raise Denied(f"The artifact has more than {_MAX_ELEMENTS} parts. Split it.", limit=_MAX_ELEMENTS)
    elements += [_to_element(item, lines) for item in blocks.items]
    references += _place_items(blocks.items, sections, names)
    references += _find_links(lines, sections, names)
    for number, (line, body) in enumerate(_find_charts(blocks), 1):
        chart = artifacts.parse_flowchart(body, line, f"chart{number}:")
        elements += chart.elements
        references += chart.references
        warnings += chart.warnings
        if len(elements) > _MAX_ELEMENTS:
            raise Denied(f"The artifact has more than {_MAX_ELEMENTS} parts. Split it.", limit=_MAX_ELEMENTS)
    return Artifact(elements, references, warnings)


def parse_json_graph(text: str) -> Artifact:
    """Objects with an `id`, each under the one around it; every value that is another's id; and edges."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Denied(f"The artifact is not JSON: {str(error)[:100]}.") from None
    objects = list(_iter_objects(value, None, 0))
    names = {identity for one, _ in objects if (identity := _object_id(one))}
    first = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    starts = {str(first[key]) for key in _START_NAMES if isinstance(first.get(key), str | int)}
    elements: list[ArtifactElement] = []
    references: list[ArtifactReference] = []
    for one, around in objects:
        identity = _object_id(one)
        if identity:
            kind = one.get("type", one.get("kind"))
            is_start = identity in starts or (isinstance(kind, str) and kind.casefold() in _START_NAMES)
            title = str(one.get("title", one.get("label", one.get("name", identity))))[:200]
            elements.append(ArtifactElement(identity, "object", title, 0, artifacts.read_source_lines(one), is_start))
            if around:
                references.append(ArtifactReference(around, identity))
        references += _find_edges(one, identity, names)
    return Artifact(elements, references)


def _iter_objects(value: Any, around: str | None, depth: int) -> Iterator[tuple[dict[str, Any], str | None]]:
    if depth > _MAX_DEPTH:
        raise Denied(f"The artifact is nested deeper than {_MAX_DEPTH} levels.", limit=_MAX_DEPTH)
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _iter_objects(each, around, depth + 1)
    elif isinstance(value, dict):
        one = cast("dict[str, Any]", value)
        yield one, around
        for each in one.values():
            yield from _iter_objects(each, _object_id(one) or around, depth + 1)


def _object_id(one: dict[str, Any]) -> str:
    value = one.get("id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _find_edges(one: dict[str, Any], identity: str, names: set[str]) -> Iterator[ArtifactReference]:
    for start, end in _EDGE_KEYS:
        if isinstance(one.get(start), str | int) and isinstance(one.get(end), str | int):
            relation = str(one.get("relation", one.get("type", ""))).casefold()
            yield ArtifactReference(str(one[start]), str(one[end]), relation)
            return
    if not identity:
        return
    for key, value in one.items():
        if key == "id" or key in artifacts.SOURCE_KEYS:
            continue
        many = cast("list[Any]", value) if isinstance(value, list) else [value]
        plain = [str(each) for each in many if isinstance(each, str | int) and not isinstance(each, bool)]
        known = [each for each in plain if each in names and each != identity]
        # A field that is a reference somewhere is one everywhere; a title that equals an id is none.
        for goal in known if key not in ("title", "label", "name", "type", "kind", "text") else ():
            yield ArtifactReference(identity, goal, key.casefold())


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


def _own_text(lines: list[str], start: int, end: int, is_inside: Callable[[str], object]) -> str:
    """The text of a heading or list item, up to the first line that belongs to something inside it."""
    return "".join([lines[start - 1], *takewhile(lambda line: not is_inside(line), lines[start:end])])


def _to_element(item: ListItem, lines: list[str]) -> ArtifactElement:
    written = lines[item.line - 1]
    mark = _ITEM.match(written)
    title = artifacts.strip_source_lines(written[mark.end() if mark else 0 :].strip())[:200]
    sources = artifacts.find_source_lines(_own_text(lines, item.line, item.end, _ITEM.match))
    return ArtifactElement(f"L{item.line}", "list_item", title, item.line, sources)


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


def _find_charts(blocks: MarkdownBlocks) -> Iterator[tuple[int, str]]:
    """The Mermaid blocks of a Markdown text, each with the line before its body."""
    for fence in sorted(blocks.fences):
        if fence.info.casefold().startswith("mermaid"):
            yield fence.line, fence.text
