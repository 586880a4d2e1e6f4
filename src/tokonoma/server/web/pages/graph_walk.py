"""Records and their links as a graph, read step by step with `system.related`."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tokonoma.core.errors import Denied, Invalid, Missing
from tokonoma.server.web.pages.addresses import link_record
from tokonoma.server.web.pages.request import PageRequest, build_path

PATH = "/admin/graph"
MAX_NODES = 500
MAX_READ = 60  # records whose links are read for one picture
MAX_READ_FOR_PATH = 300
_LINKS = 100  # of one record
_NEAR = 12
_BEGINNING = "2000-01-01"
_MUTUAL = ("near", "same_entity")


@dataclass(frozen=True, slots=True)
class GraphEdge:
    source: str
    target: str
    kind: str


@dataclass(slots=True)
class RecordGraph:
    """`titles`: every node. `expanded`: those whose links were read. `is_cut`: a picture cannot hold all."""

    titles: dict[str, str] = field(default_factory=dict[str, str])
    edges: dict[GraphEdge, float | None] = field(default_factory=dict[GraphEdge, float | None])
    expanded: set[str] = field(default_factory=set[str])
    is_cut: bool = False

    def add(self, address: str, title: str) -> bool:
        if address not in self.titles:
            if len(self.titles) >= MAX_NODES:
                self.is_cut = True
                return False
            self.titles[address] = title
        return True

    def list_linked(self) -> set[str]:
        return {end for edge in self.edges for end in (edge.source, edge.target)}

    def to_data(self) -> dict[str, Any]:
        """For the script of the page, and for its table."""
        return {
            "nodes": [
                {
                    "id": address,
                    "title": title or address,
                    "module": name_module(address),
                    "expanded": address in self.expanded,
                    "page": link_record(address),
                    "graph": build_path(PATH, start=address),
                }
                for address, title in self.titles.items()
            ],
            "edges": [
                {"source": edge.source, "target": edge.target, "kind": edge.kind, "score": score}
                for edge, score in self.edges.items()
            ],
            "is_cut": self.is_cut,
        }


def name_module(address: str) -> str:
    return address.removeprefix("tokonoma://").partition("/")[0]


def read_newest(request: PageRequest, limit: int) -> dict[str, str]:
    """Address and title of the records that were stored or changed last."""
    items = request.call("system", "timeline", since=_BEGINNING, limit=limit)["items"]
    return {each["address"]: each["title"] for each in items}


def read_title(request: PageRequest, address: str) -> tuple[str, str]:
    """The address as the record has it, and its title. Raises Missing or Invalid."""
    record = request.call("gateway", "fetch", id=address)
    return record["id"], record["title"]


def build_graph(request: PageRequest, starts: Mapping[str, str], depth: int, *, near: bool = False) -> RecordGraph:
    """All within `depth` steps of the starts. `near`: the starts also with what is near in meaning."""
    graph = RecordGraph()
    waiting = deque((address, 0) for address, title in starts.items() if graph.add(address, title))
    while waiting:
        address, distance = waiting.popleft()
        if address in graph.expanded or distance >= depth:
            continue
        if len(graph.expanded) >= MAX_READ:
            graph.is_cut = True
            break
        graph.expanded.add(address)
        for entry in _read_related(request, address, near=near and distance == 0):
            if graph.add(entry["address"], entry["title"]):
                graph.edges.setdefault(_to_edge(address, entry), entry.get("score"))
                waiting.append((entry["address"], distance + 1))
    return graph


def find_path(request: PageRequest, start: str, end: str) -> tuple[list[str], RecordGraph, bool]:
    """The shortest path along links in either direction, the graph of it, and whether all was searched. Both sides are
    searched in turn, because a record may have very many links."""
    start, title = read_title(request, start)
    end, last = read_title(request, end)
    titles, edges = {start: title, end: last}, dict[tuple[str, str], GraphEdge]()
    sides = ({start: ""}, {end: ""})
    fronts = ([start], [end])
    read, meeting = 0, start if start == end else ""
    while not meeting and all(fronts) and read < MAX_READ_FOR_PATH:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        reached: list[str] = []
        for address in fronts[side]:
            read += 1
            for entry in _read_related(request, address, near=False):
                other = entry["address"]
                if other not in sides[side]:
                    sides[side][other] = address
                    titles.setdefault(other, entry["title"])
                    edges[address, other] = _to_edge(address, entry)
                    reached.append(other)
                    meeting = meeting or (other if other in sides[1 - side] else "")
            if meeting or read >= MAX_READ_FOR_PATH:
                break
        fronts[side][:] = reached
    graph = RecordGraph()
    if not meeting:
        graph.add(start, title)
        graph.add(end, last)
        return [], graph, read < MAX_READ_FOR_PATH
    path = [*reversed(list(_follow(sides[0], meeting))), *list(_follow(sides[1], meeting))[1:]]
    for address in path:
        graph.add(address, titles[address])
    for one, other in pairwise(path):
        graph.edges[edges.get((one, other)) or edges[other, one]] = None
    return path, graph, True


def _follow(parents: Mapping[str, str], address: str) -> Iterator[str]:
    while address:
        yield address
        address = parents[address]


def _read_related(request: PageRequest, address: str, *, near: bool) -> Sequence[dict[str, Any]]:
    """A record that went away meanwhile, or whose address is masked, leads nowhere."""
    try:
        links = request.call("system", "related", address=address, limit=_LINKS, near=False)["items"]
        if near:
            found = request.call("system", "related", address=address, limit=min(_LINKS, len(links) + _NEAR))["items"]
            links += [each for each in found if each["kind"] == "near"]
    except (Missing, Invalid, Denied):
        return []
    return links


def _to_edge(address: str, entry: Mapping[str, Any]) -> GraphEdge:
    ends = (entry["address"], address) if entry.get("incoming") else (address, entry["address"])
    if entry["kind"] in _MUTUAL:  # read from both ends, it is one line
        ends = (min(ends), max(ends))
    return GraphEdge(*ends, entry["kind"])
