"""Markdown and JSON artifacts as graphs. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from markdown_it import MarkdownIt

from tokonoma.core.errors import Denied
from tokonoma.files.sections import Section, parse_markdown, slugify, split_lines
from tokonoma.modules.vault.flowcharts import parse_flowchart
from tokonoma.modules.vault.graph import Artifact, ArtifactElement, ArtifactReference
from tokonoma.modules.vault.sources import SOURCE_KEYS, find_source_lines, read_source_lines, strip_source_lines

_LINK = re.compile(r"\[[^\]]*\]\(#([^)\s]+)\)")
_RELATED = re.compile(r"^\s*(?:[-*+]\s+)?\W*(related|see also|関連|相互参照)", re.IGNORECASE)
_EDGE_KEYS = (("from", "to"), ("source", "target"), ("from_id", "to_id"))
_START_NAMES = frozenset({"start", "root", "entry", "begin", "開始"})
_MAX_DEPTH = 64


def parse_outline(text: str) -> Artifact:
    """Headings and list items, each under the one above it; links to headings; and the Mermaid charts in it."""
    lines = split_lines(text)
    sections = [each for each in parse_markdown(text, "") if each.level]
    elements: list[ArtifactElement] = []
    references: list[ArtifactReference] = []
    names = _name_headings(sections)
    top = min((each.level for each in sections), default=0)
    for each in sections:
        said = "".join(lines[each.line - 1 : _own_text_end(each, lines)])
        elements.append(
            ArtifactElement(
                names[each.line],
                "heading",
                strip_source_lines(each.title),
                each.line,
                find_source_lines(said),
                each.level == top,
            )
        )
        if each.parent is not None:
            references.append(ArtifactReference(names[each.parent], names[each.line]))
    for item in _find_list_items(text):
        _add_item(item, lines, sections, names, elements, references)
    references += _find_links(lines, sections, names)
    return _add_charts(text, Artifact(elements, references))


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
            begins = identity in starts or (isinstance(kind, str) and kind.casefold() in _START_NAMES)
            title = str(one.get("title", one.get("label", one.get("name", identity))))[:200]
            elements.append(ArtifactElement(identity, "object", title, 0, read_source_lines(one), begins))
            if around:
                references.append(ArtifactReference(around, identity))
        references += _find_edges(one, identity, names)
    return Artifact(elements, references)


def _iter_objects(value: Any, around: str | None, depth: int) -> Iterator[tuple[dict[str, Any], str | None]]:
    if depth > _MAX_DEPTH:
        raise Denied(f"The artifact nests deeper than {_MAX_DEPTH}.", limit=_MAX_DEPTH)
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _iter_objects(each, around, depth + 1)
    elif isinstance(value, dict):
        one = cast("dict[str, Any]", value)
        yield one, around
        for each in one.values():
            yield from _iter_objects(each, _object_id(one) or around, depth + 1)


def _object_id(one: dict[str, Any]) -> str:
    told = one.get("id")
    return str(told) if isinstance(told, str | int) and not isinstance(told, bool) and str(told) else ""


def _find_edges(one: dict[str, Any], identity: str, names: set[str]) -> Iterator[ArtifactReference]:
    for start, end in _EDGE_KEYS:
        if isinstance(one.get(start), str | int) and isinstance(one.get(end), str | int):
            origin, goal = str(one[start]), str(one[end])
            relation = str(one.get("relation", one.get("type", ""))).casefold()
            yield ArtifactReference(origin, goal, relation)
            return
    if not identity:
        return
    for key, told in one.items():
        if key == "id" or key in SOURCE_KEYS:
            continue
        many = cast("list[Any]", told) if isinstance(told, list) else [told]
        plain = [str(each) for each in many if isinstance(each, str | int) and not isinstance(each, bool)]
        known = [each for each in plain if each in names and each != identity]
        # A field that is a reference somewhere is one everywhere; a title that equals an id is none.
        for goal in known if key not in ("title", "label", "name", "type", "kind", "text") else ():
            yield ArtifactReference(identity, goal, key.casefold())


def _name_headings(sections: list[Section]) -> dict[int, str]:
    """Line → anchor, as renderers number headings that are called alike."""
    seen: dict[str, int] = {}
    names: dict[int, str] = {}
    for each in sections:
        anchor = each.anchor or slugify(each.title)
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        names[each.line] = f"{anchor}-{count}" if count else anchor
    return names


def _own_text_end(section: Section, lines: list[str]) -> int:
    """A heading's own words: up to the first list, chart or heading below it."""
    for number in range(section.line, section.own_end):
        if re.match(r"\s*([-*+]|\d+[.)])\s|\s*(```|~~~)", lines[number]):
            return number
    return section.own_end


def _find_list_items(text: str) -> Iterator[tuple[int, int, int]]:
    """First and last line of each list item, and the first line of the one that it lies in (0: none)."""
    around: list[int] = []
    front = text[: len(text) - len(text.lstrip("\ufeff"))]
    for token in MarkdownIt("commonmark").disable("inline").parse(text.removeprefix(front)):
        if token.type == "list_item_open" and token.map is not None:
            yield token.map[0] + 1, token.map[1], around[-1] if around else 0
            around.append(token.map[0] + 1)
        elif token.type == "list_item_close":
            around.pop()


def _add_item(
    item: tuple[int, int, int],
    lines: list[str],
    sections: list[Section],
    names: dict[int, str],
    elements: list[ArtifactElement],
    references: list[ArtifactReference],
) -> None:
    start, end, outer = item
    own = [lines[start - 1]]
    for line in lines[start:end]:  # to the first item inside it
        if re.match(r"\s*([-*+]|\d+[.)])\s", line):
            break
        own.append(line)
    title = strip_source_lines(re.sub(r"^\s*([-*+]|\d+[.)])\s+", "", lines[start - 1]).strip())[:200]
    elements.append(ArtifactElement(f"L{start}", "list_item", title, start, find_source_lines("".join(own))))
    above = next((each.line for each in reversed(sections) if each.line < start), None)
    if outer:
        references.append(ArtifactReference(f"L{outer}", f"L{start}"))
    elif above is not None:
        references.append(ArtifactReference(names[above], f"L{start}"))


def _find_links(lines: list[str], sections: list[Section], names: dict[int, str]) -> Iterator[ArtifactReference]:
    """Links between headings. Those of a line or a list that speaks of what is related must be answered."""
    for each in sections:
        mutual = False
        for number in range(each.line, each.own_end + 1):
            line = lines[number - 1]
            if _RELATED.match(line.lstrip("# ")):
                mutual = True
            elif not line.strip():
                mutual = False
            for anchor in _LINK.findall(line):
                yield ArtifactReference(names[each.line], anchor.casefold(), "related" if mutual else "", number)


def _add_charts(text: str, outline: Artifact) -> Artifact:
    """The charts inside a text are parts of it, with names of their own."""
    elements, references, warnings = list(outline.elements), list(outline.references), list(outline.warnings)
    for number, (line, body) in enumerate(find_charts(text)):
        chart = parse_flowchart(body, line, f"chart{number + 1}:")
        elements += chart.elements
        references += chart.references
        warnings += chart.warnings
    return Artifact(elements, references, warnings)


def find_charts(text: str) -> Iterator[tuple[int, str]]:
    """The Mermaid blocks of a Markdown text, each with the line that its body begins after."""
    for token in MarkdownIt("commonmark").disable("inline").parse(text):
        if token.type == "fence" and token.info.strip().casefold().startswith("mermaid") and token.map is not None:
            yield token.map[0] + 1, token.content
