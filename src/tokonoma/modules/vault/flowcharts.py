"""Mermaid flowcharts as graphs: nodes, edges in all their spellings, and the comments that say where they are from.

`%% source_lines: 3-9` counts for the statement below it, at the end of a statement for that one, and
`%% A source_lines: 3-9` for node A wherever it stands. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tokonoma.modules.vault.graph import Artifact, ArtifactElement, ArtifactReference
from tokonoma.modules.vault.ranges import Range, merge_ranges
from tokonoma.modules.vault.sources import find_source_lines, strip_source_lines

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
    r"\s*(?P<back><)?(?P<open>--|==|-\.)\s+(?P<label>[^-=.>|][^>|]*?)\s*(?P<close>-{2,}|={2,}|\.-+)"
    r"(?P<head>>|[ox](?=\s)|)"
)
_START_WORD = re.compile(r"\s*(start|begin|entry|開始|始まり|スタート)\b", re.IGNORECASE)
_NODE_COMMENT = re.compile(r"%%\s*([\w.-]+)\s+(?=source|出典)", re.IGNORECASE)


@dataclass(slots=True)
class _Chart:
    name: str
    nodes: dict[str, ArtifactElement] = field(default_factory=dict[str, ArtifactElement])
    edges: list[tuple[ArtifactReference, tuple[Range, ...], str, bool]] = field(
        default_factory=list[tuple[ArtifactReference, tuple[Range, ...], str, bool]]
    )
    node_sources: dict[str, tuple[Range, ...]] = field(default_factory=dict[str, tuple[Range, ...]])
    warnings: list[str] = field(default_factory=list[str])


def parse_flowchart(text: str, above: int = 0, name: str = "") -> Artifact:
    """`above` is the number of lines before the chart in its file, `name` what its elements' ids begin with."""
    chart = _Chart(name)
    waiting: tuple[Range, ...] = ()
    for number, line in enumerate(text.split("\n"), above + 1):
        body, _, comment = line.partition("%%")
        about = _NODE_COMMENT.match(f"%%{comment}") if comment else None
        sources = find_source_lines(comment) if comment else ()
        if about is not None and sources:
            chart.node_sources[about[1]] = sources
        if not body.strip():
            waiting = sources if sources and about is None else waiting
            continue
        if _HEAD.match(body) or _OTHER.match(body):
            continue
        here = sources if about is None and sources else waiting
        for statement in body.split(";"):
            if statement.strip():
                _parse_statement(chart, statement, number, here)
        waiting = ()
    return _build_artifact(chart)


def _parse_statement(chart: _Chart, text: str, line: int, sources: tuple[Range, ...]) -> None:
    """`A & B --> C -- label --> D`: each link joins all before it with all after it."""
    before, place = _parse_group(chart, text, 0, line, sources)
    if not before:
        chart.warnings.append(f"line {line} was not understood")
        return
    while place < len(text) and text[place:].strip():
        found = _TEXT.match(text, place) or _LINK.match(text, place)
        if found is None:
            chart.warnings.append(f"line {line} was not understood after {before[-1]!r}")
            return
        after, place = _parse_group(chart, text, found.end(), line, sources)
        if not after:
            chart.warnings.append(f"line {line}: a link that leads nowhere")
            return
        label = (found["label"] or "").strip().strip('"')
        for origin in before:
            for goal in after:
                # A line without a head joins both ways, as one with two heads does.
                both = bool(found["back"]) or not found["head"]
                _add_edge(chart, origin, goal, label, line, sources, both)
        before = after


def _parse_group(chart: _Chart, text: str, place: int, line: int, sources: tuple[Range, ...]) -> tuple[list[str], int]:
    names: list[str] = []
    while True:
        found = _ID.match(text, place)
        if found is None:
            return names, place
        label, place = _parse_label(text, found.end())
        _add_node(chart, found[1], label, line, sources)
        names.append(found[1])
        joint = re.compile(r"\s*&").match(text, place)
        if joint is None:
            return names, place
        place = joint.end()


def _parse_label(text: str, place: int) -> tuple[str | None, int]:
    """The label in whichever brackets, and where it ends; what stands in quotes may hold brackets."""
    for opening, closing in _SHAPES:
        if not text.startswith(opening, place):
            continue
        start = place + len(opening)
        quoted = re.compile(r'\s*"([^"]*)"\s*').match(text, start)
        end = text.find(closing, quoted.end() if quoted else start)
        if end >= 0:
            words = quoted[1] if quoted else text[start:end]
            return f"{opening}{words}", _skip_class(text, end + len(closing))
    return None, _skip_class(text, place)


def _skip_class(text: str, place: int) -> int:
    found = re.compile(r":::[\w-]+").match(text, place)
    return found.end() if found else place


def _add_node(chart: _Chart, name: str, label: str | None, line: int, sources: tuple[Range, ...]) -> None:
    words = re.sub(r"^[\[({>/\\]+", "", label or "")
    begins = bool(_START_WORD.match(words or name)) if label is not None or name not in chart.nodes else False
    old = chart.nodes.get(name)
    found = (*(old.sources if old else ()), *find_source_lines(words), *(sources if old is None or label else ()))
    title = strip_source_lines(words) if label is not None else (old.title if old else name)
    start = begins or (old.is_start if old else False)
    place = old.line if old else line
    chart.nodes[name] = ArtifactElement(
        chart.name + name, "node", title[:200], place, tuple(merge_ranges(found)), start
    )


def _add_edge(
    chart: _Chart, origin: str, goal: str, label: str, line: int, sources: tuple[Range, ...], both: bool
) -> None:
    reference = ArtifactReference(chart.name + origin, chart.name + goal, strip_source_lines(label).casefold(), line)
    chart.edges.append((reference, (*sources, *find_source_lines(label)), label, both))


def _build_artifact(chart: _Chart) -> Artifact:
    nodes = [
        _add_sources(each, chart.node_sources.get(each.id.removeprefix(chart.name), ()))
        for each in chart.nodes.values()
    ]
    by_id = {each.id: each for each in nodes}
    edges: list[ArtifactElement] = []
    references: list[ArtifactReference] = []
    for number, (reference, sources, label, both) in enumerate(chart.edges, 1):
        # An edge between two elements that have sources needs none of its own; a label is a claim and needs one.
        ends = (*by_id[reference.origin].sources, *by_id[reference.goal].sources)
        rests_on = sources or (() if label else tuple(ends))
        title = strip_source_lines(label) or f"{reference.origin} → {reference.goal}"
        edges.append(
            ArtifactElement(f"{chart.name}edge{number}", "edge", title, reference.line, rests_on, is_node=False)
        )
        references += _directions(reference, both)
    return Artifact([*nodes, *edges], references, chart.warnings)


def _directions(reference: ArtifactReference, both: bool) -> Iterator[ArtifactReference]:
    yield reference
    if both:
        yield ArtifactReference(reference.goal, reference.origin, reference.relation, reference.line)


def _add_sources(element: ArtifactElement, said: tuple[Range, ...]) -> ArtifactElement:
    if not said:
        return element
    sources = tuple(merge_ranges([*element.sources, *said]))
    return ArtifactElement(
        element.id, element.kind, element.title, element.line, sources, element.is_start, element.is_node
    )
