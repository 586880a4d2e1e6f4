"""Mermaid flowcharts as graphs. Pure functions.

`%% source_lines: 3-9` belongs to the statement below it, at the end of a statement to that one, and
`%% A source_lines: 3-9` to node A, wherever it is.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import product
from typing import NamedTuple

from tokonoma.core.errors import Denied
from tokonoma.modules.vault.artifacts import MAX_EDGES, Artifact, Chart
from tokonoma.modules.vault.citations import Citation, find_citations

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
_ENTITY = re.compile(r"#(\w{1,20}+);")
_DESCRIBED = re.compile(r"\s*acc(?:Title|Descr)\s*+:(.*)")
_TOOLTIP = re.compile(r'"([^"]*)"\s*+(?:_\w++\s*+)?$')
_SUBGRAPH = re.compile(r"\s*subgraph\s+(?:[\w-]+\s*(?=\[))?(.*)")


class ChartStatement(NamedTuple):
    text: str
    line: int
    cited: tuple[Citation, ...]


def iter_statements(chart: Chart, text: str, above: int) -> Iterator[ChartStatement]:
    """The lines of a chart, each with the citations in its comments."""
    pending: tuple[Citation, ...] = ()
    for number, line in enumerate(text.split("\n"), above + 1):
        body, _, comment = line.partition("%%")
        node = _NODE_COMMENT.match(f"%%{comment}") if comment else None
        cited = find_citations(comment) if comment else ()
        if node is not None and cited:
            chart.node_citations[node[1]] = cited
        if not body.strip():
            pending = cited if cited and node is None else pending
            continue
        yield ChartStatement(body, number, cited if node is None and cited else pending)
        pending = ()


def parse_flowchart(text: str, above: int = 0, prefix: str = "") -> Artifact:
    """`above` is the number of lines before the chart in its file; the ids of its elements start with `prefix`."""
    chart = Chart(prefix)
    for statement, line, cited in iter_statements(chart, text, above):
        titled = _SUBGRAPH.match(statement)
        if titled:
            chart.add_other("group", clean_label(titled[1]), line, cited)
        for said in _find_notes(statement):
            chart.add_other("note", clean_label(said), line, cited)
        if _HEAD.match(statement) or _OTHER.match(statement):
            continue
        for part in _split_statements(statement):
            _parse_statement(chart, part, line, cited)
    return chart.build()


def _find_notes(statement: str) -> Iterator[str]:
    """What is said beside the nodes: a description, and the text that is shown when a pointer rests on a node."""
    if described := _DESCRIBED.match(statement):
        yield described[1]
    elif statement.lstrip().startswith("click ") and (tooltip := _TOOLTIP.search(statement)) and " " in tooltip[1]:
        yield tooltip[1]


def _split_statements(text: str) -> Iterator[str]:
    """At semicolons, but not at those of `#quot;` or inside quotes."""
    start, quoted = 0, False
    for place, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif sign == ";" and not quoted:
            if text[start:place].strip():
                yield text[start:place]
            start = place + 1
    if text[start:].strip():
        yield text[start:]


def clean_label(label: str) -> str:
    """A label as it is shown: without quotes and brackets around it, and with its entities."""
    plain = label.strip()
    if plain[:1] in ("[", "(", "{", ">", "/", "\\"):
        plain = plain.lstrip("[({>/\\").rstrip("])}/\\")
    for tag in ("<br>", "<br/>", "<br />"):
        plain = plain.replace(tag, " ")
    return unescape(_ENTITY.sub(r"&\1;", plain)).replace('\\"', " ").replace('"', " ").strip()


def _parse_statement(chart: Chart, text: str, line: int, cited: tuple[Citation, ...]) -> None:
    """`A & B --> C -- label --> D`: each link joins all nodes before it with all nodes after it."""
    before, at = _parse_group(chart, text, 0, line, cited)
    if not before:
        chart.warnings.append(f"line {line} is not valid")
        return
    while _REST.match(text, at):
        link = _TEXT.match(text, at) or _LINK.match(text, at)
        if link is None:
            chart.warnings.append(f"line {line} is not valid after {before[-1]!r}")
            return
        after, at = _parse_group(chart, text, link.end(), line, cited)
        if not after:
            chart.warnings.append(f"line {line}: a link without a target")
            return
        label = clean_label(link["label"] or "")
        both_ways = bool(link["back"]) or not link["head"]  # a line without a head joins both ways, as with two heads
        if len(chart.edges) + len(before) * len(after) > MAX_EDGES:
            raise Denied(f"A chart has more than {MAX_EDGES} links. Split it.", limit=MAX_EDGES)
        for origin, goal in product(before, after):
            chart.add_edge(origin, goal, label, line, cited, both_ways)
        before = after


def _parse_group(chart: Chart, text: str, at: int, line: int, cited: tuple[Citation, ...]) -> tuple[list[str], int]:
    names: list[str] = []
    while (node := _ID.match(text, at)) is not None:
        label, at = _parse_label(text, node.end())
        is_start = (label is not None or node[1] not in chart.nodes) and _START_WORD.match(label or node[1]) is not None
        chart.add_node(node[1], label, line, cited, is_start=is_start)
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
            label, at = clean_label(text[start:end]), end + len(closing)
            break
    style = _CLASS.match(text, at)
    return label, style.end() if style else at
