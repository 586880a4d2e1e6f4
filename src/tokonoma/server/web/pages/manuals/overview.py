"""The list of manuals, the files of one with their coverage, and the search of lines."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from tokonoma.core.errors import Invalid, Refusal
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.file_views import (
    CoverageStrip,
    build_missing_strip,
    build_strip,
    list_callers,
    quote_path,
    read_coverage,
    read_number,
    say_reason,
    take_page,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path

MANUALS = "/admin/manuals"
STRIPS_PER_PAGE = 25
_MODES = ("plain", "loose", "regex")


def show_manuals(request: PageRequest) -> PageResponse:
    listed = request.call("manual", "list")
    manuals = [{**each, "href": link_manual(each["manual_id"])} for each in listed["items"]]
    return PageResponse("manuals/list.html", {"manuals": manuals, "indexing": listed.get("indexing")})


def show_manual(pages: PageParts, request: PageRequest) -> PageResponse:
    """The files of a manual, each as a strip of its lines."""
    manual, start = request.names["manual"], read_number(request, "start")
    about = next((each for each in _list_manuals(request) if each["manual_id"] == manual), None)
    ask = partial(request.call, "manual", "ls", manual_id=manual)
    files, listed = take_page(ask, start, STRIPS_PER_PAGE)
    total = listed["total"]
    caller = request.get_parameter("caller")
    strips = [_build_manual_strip(request, pages, each, caller) for each in files]
    here, more = link_manual(manual), start + STRIPS_PER_PAGE
    earlier = start - STRIPS_PER_PAGE
    return PageResponse(
        "manuals/manual.html",
        {
            "manual": manual,
            "about": about or {},
            "files": list(zip(files, strips, strict=True)),
            "total": total,
            "indexing": listed.get("indexing"),
            "here": here,
            "start": start,
            "back": build_path(here, start=earlier or None, caller=caller) if earlier >= 0 else "",
            "more": build_path(here, start=more, caller=caller) if more < total else "",
            "reader": caller,
            "callers": list_callers(request, pages, "manual"),
        },
    )


def _build_manual_strip(request: PageRequest, pages: PageParts, file: Mapping[str, Any], caller: str) -> CoverageStrip:
    manual, path = file["manual_id"], file["path"]
    href = link_text(manual, path)
    if file.get("reason"):
        return build_missing_strip(path, href, say_reason(file["reason"]))
    try:
        return build_strip(path, href, read_coverage(request, pages, "manual", caller, manual_id=manual, path=path))
    except Refusal as error:  # it was deleted or changed a moment ago
        return build_missing_strip(path, href, error.message)


def show_search(request: PageRequest) -> PageResponse:
    """Lines that contain a text."""
    query, mode = request.get_parameter("q"), request.get_parameter("mode")
    manual, glob = request.get_parameter("manual"), request.get_parameter("glob")
    mode = mode if mode in _MODES else "plain"
    values: dict[str, Any] = {"q": query, "mode": mode, "manual": manual, "glob": glob, "found": None, "more": ""}
    values |= {"manuals": list_names(request), "problem": ""}
    if query:
        options = {"query": query, "mode": mode, "manual_id": manual or None, "glob": glob or None, "context": 1}
        cursor = request.get_parameter("cursor") or None
        try:
            found = request.call("manual", "search", **options, cursor=cursor)
        except Invalid as error:
            return PageResponse("manuals/search.html", {**values, "problem": error.message}, 400)
        items = [{**each, "href": link_line(each["ref"], each["line"])} for each in found["items"]]
        values["found"] = {**found, "items": items}
        if found["has_more"]:
            asked = {"q": query, "mode": mode, "manual": manual, "glob": glob}
            values["more"] = build_path(f"{MANUALS}/search", **asked, cursor=found["next_cursor"])
    return PageResponse("manuals/search.html", values)


def list_names(request: PageRequest) -> list[tuple[str, str]]:
    """The manuals to choose from: id and title."""
    return [(each["manual_id"], each.get("title", each["manual_id"])) for each in _list_manuals(request)]


def _list_manuals(request: PageRequest) -> list[dict[str, Any]]:
    return request.ask("manual", "list", {"items": []})["items"]


def link_manual(manual: str) -> str:
    return f"{MANUALS}/in/{quote(manual, safe='')}"


def link_text(manual: str, path: str) -> str:
    return f"{MANUALS}/read/{quote_path(f'{manual}/{path}')}"


def link_line(ref: Mapping[str, Any], line: int, trace: str = "") -> str:
    """The reader at a line, which it marks."""
    path = build_path(link_text(ref["manual_id"], ref["path"]), view="lines", line=line, trace=trace)
    return f"{path}#L{line}"
