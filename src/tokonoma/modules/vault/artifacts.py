"""Artifacts as graphs of elements and references, how they cite their source, and Mermaid flowcharts. Pure functions.

An element cites lines of its source with `source_lines: 10-20, 33` (or `出典行: …`) in its text, also inside an HTML or
Mermaid comment, and with `[L10-L20]`. In JSON: "10-20", 10, [10, 20], ["10-20", 33], [[10, 20], [33, 33]] or
{"start_line": 10, "end_line": 20}.

In a flowchart `%% source_lines: 3-9` belongs to the statement below it, at the end of a statement to that one, and
`%% A source_lines: 3-9` to node A, wherever it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

from tokonoma.core.errors import Denied
from tokonoma.files.links import remove_comments
from tokonoma.modules.vault.model import Range, merge_ranges

SOURCE_KEYS = ("source_lines", "sourceLines", "source_line", "出典行")
_MAX_EDGES = 10_000  # of one chart: `A & B --> C & D` is four
_LIST = r"L?\d++(?:\s*+(?:[-–~〜]|\.\.)\s*+L?\d++)?(?:\s*+[,、]\s*+L?\d++(?:\s*+(?:[-–~〜]|\.\.)\s*+L?\d++)?)*"
_LABELLED = re.compile(rf"(?:source[_ -]?lines?|出典行|出典)\s*+[:=：]\s*+\[?\s*+({_LIST})", re.IGNORECASE)
_BRACKETED = re.compile(
    r"[\[(（【]\s*+(L\d++(?:\s*+[-–]\s*+L?\d++)?(?:\s*+,\s*+L\d++(?:\s*+[-–]\s*+L?\d++)?)*)\s*+[\])）】]"
)
_RANGE = re.compile(r"L?(\d++)(?:\s*+(?:[-–~〜]|\.\.)\s*+L?(\d++))?")
_EMPTY = re.compile(r"[(（\[]\s*+[)）\]]")

_HEAD = re.compile(r"\s*(?:flowchart|graph)\b")
_OTHER = re.compile(r"\s*(subgraph|end|classDef|class|style|linkStyle|click|direction|accTitle|accDescr)\b")
_ID = re.compile(r"\s*([\w一-鿿ぁ-ヿ][\w一-鿿ぁ-ヿ.-]*?)(?=\s*(?:[\[({>@&;:]|<?[-=.ox~]{2,}|<-|$|\s))")
_SHAPES = (
    ("([", "])"), ("[[", "]]"), ("[(", ")]"), ("(((", ")))"), ("((", "))"), ("{{", "}}"), ("[/", "/]"), ("[\\", "\\]"),
    ("[", "]"), ("(", ")"), ("{", "}"), (">", "]"),
)  # fmt: skip
_LINK = re.compile(
    r"\s*(?P<back><|[ox](?=[-=.]))?(?P<line>--|==|-\.|~~~)"
    r"(?:(?P<rest>[-=.]*)(?P<head>>|[ox](?=\s|\|)|))"
    r"(?:\s*\|(?P<label>[^|]*)\|)?"
)
_TEXT = re.compile(
    r"\s*(?P<back><)?(?P<open>--|==|-\.)\s++(?P<label>[^-=.>|\s][^>|]{0,200}?)\s*+(?P<close>-{2,}|={2,}|\.-+)"
    r"(?P<head>>|[ox](?=\s)|)"
)
_START_WORD = re.compile(r"\s*(start|begin|entry|開始|始まり|スタート)\b", re.IGNORECASE)
_NODE_COMMENT = re.compile(r"%%\s*([\w.-]+)\s+(?=source|出典)", re.IGNORECASE)
_CLASS = re.compile(r":::[\w-]+")
_REST = re.compile(r"\s*+\S")
_AND = re.compile(r"\s*&")
_QUOTED = re.compile(r'\s*"([^"]*)"\s*')


@dataclass(frozen=True, slots=True)
class ArtifactElement:
    id: str
    kind: str  # heading | list_item | node | edge | object
    title: str
    line: int
    sources: tuple[Range, ...] = ()
    is_start: bool = False  # the artifact says that it starts here
    is_node: bool = True  # references lead to it; an edge is only a way


@dataclass(frozen=True, slots=True)
class ArtifactReference:
    origin: str
    goal: str
    relation: str = ""  # in lower case; empty: a step of a flow, or a part of a whole
    line: int = 0


@dataclass(frozen=True, slots=True)
class Artifact:
    elements: Sequence[ArtifactElement]
    references: Sequence[ArtifactReference]
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Edge:
    reference: ArtifactReference
    sources: tuple[Range, ...]
    label: str
    both_ways: bool


@dataclass(slots=True)
class _Chart:
    prefix: str  # of its elements' ids
    nodes: dict[str, ArtifactElement] = field(default_factory=dict[str, ArtifactElement])
    edges: list[_Edge] = field(default_factory=list[_Edge])
    node_sources: dict[str, tuple[Range, ...]] = field(default_factory=dict[str, tuple[Range, ...]])
    warnings: list[str] = field(default_factory=list[str])


def find_source_lines(text: str) -> tuple[Range, ...]:
    found = [each for pattern in (_LABELLED, _BRACKETED) for cited in pattern.findall(text) for each in _ranges(cited)]
    return tuple(merge_ranges(found)) if all(start <= end for start, end in found) else tuple(found)


def strip_source_lines(text: str) -> str:
    """A title without its citations."""
    return _EMPTY.sub("", _BRACKETED.sub("", _LABELLED.sub("", remove_comments(text)))).strip()


def read_source_lines(value: dict[str, Any]) -> tuple[Range, ...]:
    """The citations of a JSON object."""
    return tuple(_parse_value(next((value[key] for key in SOURCE_KEYS if key in value), None)))


def _parse_value(cited: Any) -> list[Range]:
    if isinstance(cited, int):
        return [] if isinstance(cited, bool) else [(cited, cited)]
    if isinstance(cited, str):
        return _ranges(cited)
    if isinstance(cited, dict):
        one = cast("dict[str, Any]", cited)
        start, end = one.get("start_line", one.get("start")), one.get("end_line", one.get("end"))
        return [(start, end if isinstance(end, int) else start)] if isinstance(start, int) else []
    if isinstance(cited, list):
        many = cast("list[Any]", cited)
        if len(many) == 2 and all(isinstance(each, int) and not isinstance(each, bool) for each in many):
            return [(many[0], many[1])]
        return [found for each in many for found in _parse_value(each)]
    return []


def _ranges(cited: str) -> list[Range]:
    return [(int(start[:9]), int((end or start)[:9])) for start, end in _RANGE.findall(cited)]


def parse_flowchart(text: str, above: int = 0, prefix: str = "") -> Artifact:
    """`above` is the number of lines before the chart in its file; the ids of its elements start with `prefix`."""
    chart = _Chart(prefix)
    pending: tuple[Range, ...] = ()
    for number, line in enumerate(text.split("\n"), above + 1):
        body, _, comment = line.partition("%%")
        node = _NODE_COMMENT.match(f"%%{comment}") if comment else None
        sources = find_source_lines(comment) if comment else ()
        if node is not None and sources:
            chart.node_sources[node[1]] = sources
        if not body.strip():
            pending = sources if sources and node is None else pending
            continue
        if _HEAD.match(body) or _OTHER.match(body):
            continue
        cited = sources if node is None and sources else pending
        for statement in body.split(";"):
            if statement.strip():
                _parse_statement(chart, statement, number, cited)
        pending = ()
    return _build_artifact(chart)


def _parse_statement(chart: _Chart, text: str, line: int, sources: tuple[Range, ...]) -> None:
    """`A & B --> C -- label --> D`: each link joins all nodes before it with all nodes after it."""
    before, at = _parse_group(chart, text, 0, line, sources)
    if not before:
        chart.warnings.append(f"line {line} is not valid")
        return
    while _REST.match(text, at):
        link = _TEXT.match(text, at) or _LINK.match(text, at)
        if link is None:
            chart.warnings.append(f"line {line} is not valid after {before[-1]!r}")
            return
        after, at = _parse_group(chart, text, link.end(), line, sources)
        if not after:
            chart.warnings.append(f"line {line}: a link without a target")
            return
        label = (link["label"] or "").strip().strip('"')
        cited, relation = (*sources, *find_source_lines(label)), strip_source_lines(label).casefold()
        both_ways = bool(link["back"]) or not link["head"]  # a line without a head joins both ways, as with two heads
        if len(chart.edges) + len(before) * len(after) > _MAX_EDGES:
            raise Denied(f"A chart has more than {_MAX_EDGES} links. Split it.", limit=_MAX_EDGES)
        for origin, goal in product(before, after):
            reference = ArtifactReference(chart.prefix + origin, chart.prefix + goal, relation, line)
            chart.edges.append(_Edge(reference, cited, label, both_ways))
        before = after


def _parse_group(chart: _Chart, text: str, at: int, line: int, sources: tuple[Range, ...]) -> tuple[list[str], int]:
    names: list[str] = []
    while (node := _ID.match(text, at)) is not None:
        label, at = _parse_label(text, node.end())
        _add_node(chart, node[1], label, line, sources)
        names.append(node[1])
        separator = _AND.match(text, at)
        if separator is None:
            break
        at = separator.end()
    return names, at


def _parse_label(text: str, at: int) -> tuple[str | None, int]:
    """The label in any brackets, and where it ends; a quoted label may contain brackets."""
    label = None
    for opening, closing in _SHAPES:
        if not text.startswith(opening, at):
            continue
        start = at + len(opening)
        quoted = _QUOTED.match(text, start)
        end = text.find(closing, quoted.end() if quoted else start)
        if end >= 0:
            label, at = opening + (quoted[1] if quoted else text[start:end]), end + len(closing)
            break
    style = _CLASS.match(text, at)
    return label, style.end() if style else at


def _add_node(chart: _Chart, name: str, label: str | None, line: int, sources: tuple[Range, ...]) -> None:
    words = re.sub(r"^[\[({>/\\]+", "", label or "")
    old = chart.nodes.get(name)
    is_named = (label is not None or old is None) and _START_WORD.match(words or name) is not None
    is_start = is_named or (old is not None and old.is_start)
    cited = (*(old.sources if old else ()), *find_source_lines(words), *(sources if old is None or label else ()))
    title = strip_source_lines(words) if label is not None else (old.title if old else name)
    first_line, sources = old.line if old else line, tuple(merge_ranges(cited))
    chart.nodes[name] = ArtifactElement(chart.prefix + name, "node", title[:200], first_line, sources, is_start)


def _build_artifact(chart: _Chart) -> Artifact:
    nodes: dict[str, ArtifactElement] = {}
    for name, node in chart.nodes.items():
        cited = chart.node_sources.get(name, ())
        nodes[node.id] = replace(node, sources=tuple(merge_ranges([*node.sources, *cited]))) if cited else node
    edges: list[ArtifactElement] = []
    references: list[ArtifactReference] = []
    for number, edge in enumerate(chart.edges, 1):
        origin, goal, line = edge.reference.origin, edge.reference.goal, edge.reference.line
        # An edge between two elements that have sources needs none of its own; a label is a claim and needs one.
        sources = edge.sources or (() if edge.label else (*nodes[origin].sources, *nodes[goal].sources))
        title = strip_source_lines(edge.label) or f"{origin} → {goal}"
        edges.append(ArtifactElement(f"{chart.prefix}edge{number}", "edge", title, line, sources, is_node=False))
        references.append(edge.reference)
        if edge.both_ways:
            references.append(replace(edge.reference, origin=goal, goal=origin))
    return Artifact([*nodes.values(), *edges], references, chart.warnings)
