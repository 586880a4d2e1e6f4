"""A file of the vault: formatted, by lines, or as it is."""

import re

from tokonoma.core.errors import Missing, Refusal
from tokonoma.server.web.pages.file_views import build_strip, number_lines, read_number, show_unreadable
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.vault.common import (
    describe_backlinks,
    link_action,
    link_file,
    link_folder,
    link_line,
    list_actions,
    list_crumbs,
    read_lines,
)

_PLACE = re.compile(r"#L(\d{1,9})(?:-L\d{1,9})?\Z")
_MARKDOWN = (".md", ".markdown")


def show_file(request: PageRequest) -> PageResponse:
    name, line = request.names["name"], read_number(request, "line")
    if place := _PLACE.search(name):  # the address of a passage, as searches and graphs have it
        return redirect(link_line(name[: place.start()], int(place[1])))
    version = request.get_parameter("version") or None
    first = max(1, read_number(request, "from", 1))
    try:
        part = read_lines(request, name, first, version)
        end = (part["applied_range"] or {"end_line": 0})["end_line"]
        if "from" not in request.query and end < line <= part["total_lines"]:
            first = line
            part = read_lines(request, name, first, version)
    except Missing as error:
        return _show_missing(request, name, error)
    except Refusal as error:
        return show_unreadable(error, name, link_folder("/".join(name.split("/")[:-1])))
    path, view = part["path"], request.get_parameter("view")
    here = link_file(path)
    is_markdown = path.lower().endswith(_MARKDOWN)
    view = view if view in ("lines", "raw") else "text" if is_markdown else "lines"
    coverage = None if version else request.ask("vault", "coverage", None, path=path)
    strip = build_strip(path, here, coverage) if coverage else None
    kept = {"version": version, "from": first if first > 1 else None}

    def link(shown: str, start: int | None = None) -> str:
        return build_path(here, "", **{**kept, "view": shown, **({"from": start} if start else {})})

    return PageResponse(
        "vault/read.html",
        {
            "file": path,
            "part": part,
            "version": version,
            "crumbs": list_crumbs(path),
            "view": view,
            "views": [(each, link(each)) for each in ("text", "lines", "raw")[not is_markdown :]],
            "first": first,
            "lines": number_lines(part["text"], first, strip) if view == "lines" and part["text"] else [],
            "marked": line,
            "more": link(view, part["next_range"]["start_line"]) if "next_range" in part else "",
            "strip": strip,
            "actions": list_actions(path),
            "here": here,
            "backlinks": [] if version else describe_backlinks(request, path),
        },
    )


def _show_missing(request: PageRequest, name: str, error: Missing) -> PageResponse:
    """A deleted file leads to its versions; what was never there is refused."""
    try:
        past = request.call("vault", "history", path=name)["items"]
    except Refusal:
        raise error from None
    if not past or request.get_parameter("version"):
        raise error
    values = {"file": name, "history": link_action("history", name), "last": past[0]}
    return PageResponse("vault/gone.html", values, 404)
