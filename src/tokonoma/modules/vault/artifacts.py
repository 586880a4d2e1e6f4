"""Artifacts as graphs of elements and references, and charts on the way to being one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tokonoma.core.errors import Denied
from tokonoma.modules.vault.citations import Citation, find_citations, strip_citations
from tokonoma.modules.vault.vocabulary import BRANCHES, NO_BRANCHES

MAX_EDGES = 10_000
"""Links of one chart: `A & B --> C & D` is four."""
MAX_ELEMENTS = 20_000
_TITLE = 200  # characters
_PHRASE_WORDS, _PHRASE_LETTERS = 4, 8


@dataclass(frozen=True, slots=True)
class ArtifactElement:
    """`text` is what it says. An edge says it in two `parts`, the origin before the goal."""

    id: str
    kind: str  # heading | paragraph | list_item | table_row | node | edge | note | member | object | value
    title: str
    line: int
    citations: tuple[Citation, ...] = ()
    is_start: bool = False  # the artifact says that it starts here
    is_node: bool = True  # references lead to it; an edge is only a way
    text: str = ""
    parts: tuple[str, ...] = ()


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
    warnings: Sequence[str] = ()  # what was not understood
    notes: Sequence[str] = ()  # what is not audited


@dataclass(frozen=True, slots=True)
class _Edge:
    reference: ArtifactReference
    citations: tuple[Citation, ...]
    label: str
    both_ways: bool


def build_element(
    identity: str, kind: str, text: str, line: int, cited: tuple[Citation, ...] = (), *, is_node: bool = True
) -> ArtifactElement:
    """An element of a chart whose text may hold citations of its own."""
    words = strip_citations(text)
    return ArtifactElement(
        identity, kind, words[:_TITLE], line, (*cited, *find_citations(text)), is_node=is_node, text=words
    )


def is_phrase(name: str) -> bool:
    """Whether a name says something: it has many words, or ends in hiragana, as Japanese sentences do."""
    plain = name.strip().rstrip(".!?。！？")
    if len(plain.split()) >= _PHRASE_WORDS:
        return True
    return len(plain) >= _PHRASE_LETTERS and "\u3041" <= plain[-1] <= "\u3096"


def require_few(count: int) -> None:
    if count > MAX_ELEMENTS:
        raise Denied(f"The artifact has more than {MAX_ELEMENTS} parts. Split it.", limit=MAX_ELEMENTS)


@dataclass(slots=True)
class Chart:
    """A chart while it is read. The ids of its elements start with `prefix`."""

    prefix: str
    nodes: dict[str, ArtifactElement] = field(default_factory=dict[str, ArtifactElement])
    others: list[ArtifactElement] = field(default_factory=list[ArtifactElement])
    edges: list[_Edge] = field(default_factory=list[_Edge])
    node_citations: dict[str, tuple[Citation, ...]] = field(default_factory=dict[str, tuple[Citation, ...]])
    warnings: list[str] = field(default_factory=list[str])

    def add_node(
        self, name: str, label: str | None, line: int, cited: tuple[Citation, ...], *, is_start: bool = False
    ) -> None:
        """Add a node, or what a later mention says of it."""
        old = self.nodes.get(name)
        if old is None:
            require_few(len(self.nodes))
            new = build_element(self.prefix + name, "node", name if label is None else label, line, cited)
            self.nodes[name] = replace(new, is_start=is_start)
        elif label is not None:
            new = build_element(old.id, "node", label, old.line, (*old.citations, *cited))
            self.nodes[name] = replace(new, is_start=is_start or old.is_start)

    def add_edge(
        self, origin: str, goal: str, label: str, line: int, cited: tuple[Citation, ...], both_ways: bool = False
    ) -> None:
        if len(self.edges) >= MAX_EDGES:
            raise Denied(f"A chart has more than {MAX_EDGES} links. Split it.", limit=MAX_EDGES)
        relation = strip_citations(label).casefold()
        reference = ArtifactReference(self.prefix + origin, self.prefix + goal, relation, line)
        self.edges.append(_Edge(reference, (*cited, *find_citations(label)), label, both_ways))

    def add_other(self, kind: str, text: str, line: int, cited: tuple[Citation, ...]) -> None:
        """A note, a title or a member: something said beside the graph."""
        require_few(len(self.others))
        name = f"{self.prefix}{kind}{len(self.others) + 1}"
        self.others.append(build_element(name, kind, text, line, cited, is_node=False))

    def build(self) -> Artifact:
        nodes: dict[str, ArtifactElement] = {}
        for name, node in self.nodes.items():
            cited = self.node_citations.get(name, ())
            nodes[node.id] = replace(node, citations=(*node.citations, *cited))
        references: list[ArtifactReference] = []
        for edge in self.edges:
            references.append(edge.reference)
            if edge.both_ways:
                back = replace(edge.reference, origin=edge.reference.goal, goal=edge.reference.origin)
                references.append(back)
        edges = [self._build_edge(number, edge, nodes) for number, edge in enumerate(self.edges, 1)]
        return Artifact([*nodes.values(), *edges, *self.others], references, self.warnings)

    def _build_edge(self, number: int, edge: _Edge, nodes: dict[str, ArtifactElement]) -> ArtifactElement:
        origin, goal = nodes[edge.reference.origin], nodes[edge.reference.goal]
        label = strip_citations(edge.label)
        branch = label.casefold().strip()
        said = "" if branch in BRANCHES else label
        start = f"not {origin.text}" if branch in NO_BRANCHES else origin.text
        # An edge between two elements that cite needs no citation of its own; a label is a claim and needs one.
        cited = edge.citations or (() if edge.label else (*origin.citations, *goal.citations))
        title = label or f"{edge.reference.origin} → {edge.reference.goal}"
        parts = (f"{start} {said}".strip(), goal.text)
        return ArtifactElement(
            f"{self.prefix}edge{number}", "edge", title[:_TITLE], edge.reference.line, cited,
            is_node=False, text=f"{start} {said} {goal.text}", parts=parts,
        )  # fmt: skip
