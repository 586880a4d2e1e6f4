"""A section of a manual beside the outline of its file."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Missing, Refusal
from tokonoma.server.web.pages.file_views import build_strip, number_lines, read_number, show_unreadable
from tokonoma.server.web.pages.manuals.overview import MANUALS, link_line, link_manual, link_text
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

READER = f"{MANUALS}/read/"
_PLACE = re.compile(r"#L(\d{1,9})(?:-L(\d{1,9}))?(?:@[0-9a-f]+(?:\+\d+)?)?\Z")
_POINTER = re.compile(r"\.json#(/[^#]*)\Z", re.IGNORECASE)
_MOST_CHARACTERS = 20_000
_MOST_NODES = 1_500


def show_manual_text(request: PageRequest) -> PageResponse:
    name, line = request.names["name"], read_number(request, "line")
    if place := _PLACE.search(name):  # the address of a section, as searches and graphs have it
        return _lead_to_line(request, name[: place.start()], int(place[1]))
    pointer = _POINTER.search(name)
    manual, _, path = (name[: pointer.start(1) - 1] if pointer else name).partition("/")
    if not path:
        return redirect(link_manual(manual))
    ref: dict[str, Any] = {"manual_id": manual, "path": path}
    try:
        nodes = _list_nodes(request, manual, path)
        if pointer:
            part = _read_part(request, {**ref, "json_path": pointer[1]}, None)
        else:
            part = _read_from(request, ref, nodes, line)
    except Refusal as error:
        return show_unreadable(error, f"{manual}/{path}", link_manual(manual))
    return _show_part(request, nodes, _choose_node(nodes, part["start_line"]), part)


def _read_from(
    request: PageRequest, ref: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], line: int
) -> dict[str, Any]:
    """The section of a line from its beginning; with `from` in the query from exactly there, where a long section goes
    on. A line that is not on the first page of its section is the first on its page."""
    exact, column = read_number(request, "from"), read_number(request, "column")
    node = _choose_node(nodes, exact or line)
    start = exact or (node["line_start"] if node else 1)
    place = {**ref, "start_line": start, **({"start_column": column} if exact and column > 1 else {})}
    part = _read_part(request, place, node)
    if not exact and node is not None and part["end_line"] < line <= node["line_end"]:
        part = _read_part(request, {**ref, "start_line": line}, node)
    return part


def _lead_to_line(request: PageRequest, name: str, line: int) -> PageResponse:
    manual, _, path = name.partition("/")
    return redirect(link_line({"manual_id": manual, "path": path}, line))


def _list_nodes(request: PageRequest, manual: str, path: str) -> list[Mapping[str, Any]]:
    """The outline; empty for a person who has no tool for it, and then the file is shown without one."""
    page = request.ask("manual", "toc", None, manual_id=manual, path=path)
    if page is None:
        return []
    nodes: list[Mapping[str, Any]] = [*page["items"]]
    while page["has_more"] and len(nodes) < _MOST_NODES:
        page = request.call("manual", "toc", manual_id=manual, path=path, cursor=page["next_cursor"])
        nodes += page["items"]
    if not nodes:
        raise Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.")
    return nodes


def _choose_node(nodes: Sequence[Mapping[str, Any]], line: int) -> Mapping[str, Any] | None:
    """The last section that begins at the line or before it."""
    return next((node for node in reversed(nodes) if node["line_start"] <= max(1, line)), None)


def _read_part(request: PageRequest, ref: Mapping[str, Any], node: Mapping[str, Any] | None) -> dict[str, Any]:
    """The section itself, without those below it: the next page shows them. So every line is on exactly one page."""
    trace = request.get_parameter("trace") or None
    limits = {"max_chars": _MOST_CHARACTERS}
    is_whole = node is not None and node["kind"] == "json_file" and "json_path" not in ref
    # Without an outline there are no next pages: then the sections below are shown too.
    expand = node is None and "json_path" not in ref
    scope = {"scope": "file"} if is_whole else {"scope": "section", "expand": expand}
    try:
        return request.call("manual", "read", ref=ref, limits=limits, **scope, trace_id=trace)
    except Missing:
        if trace is None:
            raise
        return request.call("manual", "read", ref=ref, limits=limits, **scope)  # the search is over


def _show_part(
    request: PageRequest,
    nodes: Sequence[Mapping[str, Any]],
    node: Mapping[str, Any] | None,
    part: Mapping[str, Any],
) -> PageResponse:
    manual, path = part["ref"]["manual_id"], part["ref"]["path"]
    here, view = link_text(manual, path), request.get_parameter("view")
    is_markdown = not path.lower().endswith(".json")
    view = view if view in ("lines", "raw") else "text" if is_markdown else "lines"
    coverage = request.ask("manual", "coverage", None, manual_id=manual, path=path)
    strip = build_strip(path, here, coverage) if coverage else None
    at = nodes.index(node) if node is not None else 0
    following = part.get("next_ref")

    def link(line: int, shown: str = view) -> str:
        return build_path(here, line=line, view=shown if shown != "text" else None)

    return PageResponse(
        "manuals/read.html",
        {
            "manual": manual,
            "file": path,
            "manual_href": link_manual(manual),
            "part": part,
            "view": view,
            "views": [(each, link(part["start_line"], each)) for each in ("text", "lines", "raw")[not is_markdown :]],
            "nodes": [(each, link(each["line_start"])) for each in nodes],
            "node": node,
            "previous": link(nodes[at - 1]["line_start"]) if at else "",
            "next": link(nodes[at + 1]["line_start"]) if at + 1 < len(nodes) else "",
            "rest": _link_rest(here, view, following) if following else "",
            "lines": number_lines(part["text"], part["start_line"], strip) if view == "lines" else [],
            "marked": read_number(request, "line"),
            "strip": strip,
            "backlinks": _list_backlinks(request, manual, path),
        },
    )


def _link_rest(here: str, view: str, following: Mapping[str, Any]) -> str:
    """Where a section goes on that is too long for one page."""
    asked: dict[str, Any] = {"from": following["start_line"], "column": following.get("start_column"), "view": view}
    return build_path(here, **asked)


def _list_backlinks(request: PageRequest, manual: str, path: str) -> list[dict[str, Any]]:
    found = request.ask("manual", "backlinks", {"items": []}, ref={"manual_id": manual, "path": path})["items"]
    return [{**each, "href": link_line(each["ref"], each["ref"].get("start_line", 1))} for each in found]
