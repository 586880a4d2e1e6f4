"""`/admin/graph`: records and links of all modules as a picture, with a table that holds the same; and the path between
two records. `/admin/graph/data` is what the script of the page asks when a node is opened."""

from functools import partial
from typing import Any

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Conflict, Denied, Invalid, Missing
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.graph_links import ITEM_KINDS, add_link, is_removable, remove_link
from tokonoma.server.web.pages.graph_walk import (
    PATH,
    RecordGraph,
    build_graph,
    find_path,
    name_module,
    read_newest,
    read_title,
)
from tokonoma.server.web.pages.handler import PROBLEMS, PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.words.names import NAMES

DATA = f"{PATH}/data"
_DEPTHS = ("1", "2", "3")
_NEWEST = 30
_COLOURS = ("memory", "items", "claims", "manual", "vault")


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [
        Route(PATH, PageHandler(pages, show_graph, change_links, needs_session=True)),
        Route(DATA, PageHandler(pages, show_data, needs_session=True)),
    ]


def show_data(request: PageRequest) -> PageResponse:
    if request.get_parameter("to"):
        graph = find_path(request, request.get_parameter("from"), request.get_parameter("to"))[1]
    else:
        graph = _read_graph(request)
    data = graph.to_data()
    for edge in data["edges"]:
        edge["label"] = NAMES.get(edge["kind"], edge["kind"]) if request.language == "ja" else edge["kind"]
    return PageResponse(data=data)


def change_links(request: PageRequest) -> PageResponse:
    """Add a link between two records, or remove one; then the same picture again."""
    source, target, kind = (request.get_field(name).strip() for name in ("source", "target", "kind"))
    act = remove_link if request.get_field("do") == "remove" else add_link
    try:
        source, target = (read_title(request, each)[0] for each in (source, target))
        act(request, source, target, kind)
    except (Invalid, Missing, Conflict, Denied) as error:
        return show_graph(request, error.message)
    notice = "link_removed" if act is remove_link else "link_added"
    kept = {name: request.get_parameter(name) for name in ("start", "depth", "near")}
    return redirect(build_path(PATH, notice, **({**kept, "start": kept["start"] or source})))


def show_graph(request: PageRequest, problem: str = "") -> PageResponse:
    asked = {name: request.get_parameter(name).strip() for name in ("start", "from", "to")}
    depth = _read_depth(request)
    values: dict[str, Any] = {
        "asked": asked,
        "depth": depth,
        "depths": _DEPTHS,
        "near": bool(request.get_parameter("near")),
        "path": request.path,
        "steps": [],
        "searched_all": True,
        "problem": problem,
        "find": name_module,
        "here": build_path(PATH, **{name: request.get_parameter(name) for name in ("start", "depth", "near")}),
        "typed": {name: request.get_field(name) for name in ("source", "target", "kind")},
        "item_kinds": ITEM_KINDS,
    }
    try:
        if asked["from"] and asked["to"]:
            way, graph, values["searched_all"] = find_path(request, asked["from"], asked["to"])
            values["steps"] = [(address, graph.titles[address]) for address in way]
        else:
            graph = _read_graph(request)
    except (Invalid, Missing) as error:
        empty = _describe(RecordGraph(), "")
        status = PROBLEMS[error.kind][1]
        return PageResponse("explore/graph.html", {**values, **empty, "problem": error.message}, status)
    near = "1" if values["near"] else ""
    source = build_path(DATA, **({**asked, "depth": depth, "near": near}))  # pyright: ignore[reportArgumentType]
    return PageResponse("explore/graph.html", {**values, **_describe(graph, source)}, 400 if problem else 200)


def _describe(graph: RecordGraph, source: str) -> dict[str, Any]:
    data, linked = graph.to_data(), graph.list_linked()
    modules = sorted({node["module"] for node in data["nodes"]})
    return {
        "graph": data,
        "removable": {(each.source, each.target, each.kind) for each in graph.edges if is_removable(each)},
        "titles": {node["id"]: node["title"] for node in data["nodes"]},
        "alone": [node for node in data["nodes"] if node["id"] not in linked],
        "source": source,
        "modules": [(name, name if name in _COLOURS else "other") for name in modules],
    }


def _read_graph(request: PageRequest) -> RecordGraph:
    start = request.get_parameter("start").strip()
    build = partial(build_graph, request)
    if not start:
        return build(read_newest(request, _NEWEST), 1)
    address, title = read_title(request, start)
    return build({address: title}, int(_read_depth(request)), near=bool(request.get_parameter("near")))


def _read_depth(request: PageRequest) -> str:
    asked = request.get_parameter("depth")
    return asked if asked in _DEPTHS else "1"
