"""Search lines of the vault, and find everything about a topic in it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tokonoma.core.errors import Conflict, Denied, Invalid, Missing
from tokonoma.server.web.pages.file_views import read_number, say_later, say_reason
from tokonoma.server.web.pages.manuals.finding import SIGNALS, STATUSES
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.vault.common import VAULT, link_file, link_line

FOUND = f"{VAULT}/found/"
_HITS_PER_PAGE = 20
_MODES = ("plain", "loose", "regex")
LISTS = {"candidates": say_later("Hits"), "unscanned": say_later("Not searched")}


def show_search(request: PageRequest) -> PageResponse:
    """Lines that contain a text."""
    get = request.get_parameter
    mode = get("mode") if get("mode") in _MODES else "plain"
    asked = {"q": get("q"), "mode": mode, "dir": get("dir").strip("/"), "glob": get("glob")}
    values: dict[str, Any] = {"asked": asked, "found": None, "more": "", "problem": ""}
    if asked["q"]:
        scope = {"relative_dir": asked["dir"] or None, "glob": asked["glob"] or None}
        try:
            found = request.call("vault", "search", query=asked["q"], mode=mode, **scope, cursor=get("cursor") or None)
        except Invalid as error:
            return PageResponse("vault/search.html", {**values, "problem": error.message}, 400)
        items = [{**each, "href": link_line(each["path"], each["line"])} for each in found["items"]]
        values["found"] = {**found, "items": items}
        if found["has_more"]:
            values["more"] = build_path(f"{VAULT}/search", **asked, cursor=found["next_cursor"])
    return PageResponse("vault/search.html", values)


def find_everything(request: PageRequest) -> PageResponse:
    get = request.get_parameter
    asked = {"q": get("q"), "dir": get("dir").strip("/"), "glob": get("glob")}
    if not asked["q"]:
        return PageResponse("vault/find.html", {"asked": asked, "problem": ""})
    scope = {name: value for name, value in (("relative_dir", asked["dir"]), ("glob", asked["glob"])) if value}
    try:
        found = request.call("vault", "find", query=asked["q"], scope=scope or None)
    except Invalid as error:
        return PageResponse("vault/find.html", {"asked": asked, "problem": error.message}, 400)
    return redirect(build_path(FOUND + quote(found["trace_id"], safe=""), **asked))


def show_found(request: PageRequest, problem: str = "", copy: Mapping[str, str] | None = None) -> PageResponse:
    trace, offset, get = request.names["trace"], read_number(request, "offset"), request.get_parameter
    chosen = get("list") if get("list") in LISTS else "candidates"
    asked = {"q": get("q"), "dir": get("dir"), "glob": get("glob")}
    try:
        summary = request.call("vault", "hits", trace_id=trace, kind="summary")["summary"]
    except Missing as error:
        if "trace_id" not in error.details:
            raise
        return PageResponse("vault/find.html", {"asked": asked, "problem": error.message}, 404)
    page = request.call("vault", "hits", trace_id=trace, kind=chosen, offset=offset, limit=_HITS_PER_PAGE)
    here, following = FOUND + quote(trace, safe=""), offset + _HITS_PER_PAGE

    def link(name: str, start: int = 0) -> str:
        return build_path(here, **asked, list=name, offset=start or None)

    counted = {SIGNALS.get(name, name): count for name, count in summary.get("signal_coverage", {}).items()}
    return PageResponse(
        "vault/found.html",
        {
            "asked": asked,
            "trace": trace,
            "summary": summary,
            "status": STATUSES.get(summary.get("integration_status", ""), ("", "")),
            "cutoff": say_reason(summary.get("cutoff_reason", "")),
            "left_out": [(say_reason(why), count) for why, count in summary.get("left_out_files", {}).items()],
            "signals": [(text, count / max(1, summary.get("integrated_nodes", 1))) for text, count in counted.items()],
            "lists": [(name, text, link(name)) for name, text in LISTS.items()],
            "chosen": chosen,
            "hits": [_describe_hit(each) for each in page["items"]],
            "total": page["total"],
            "first": offset + 1,
            "previous": link(chosen, max(0, offset - _HITS_PER_PAGE)) if offset else "",
            "more": link(chosen, following) if following < page["total"] else "",
            "again": build_path(f"{VAULT}/find", **asked),
            "here": link(chosen, offset),
            "problem": problem,
            "copy": copy or {"to_path": "", "mode": "create", "min_score": "0"},
        },
        400 if problem else 200,
    )


def _describe_hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    path, line = hit["ref"]["path"], hit["ref"].get("start_line")
    is_left_out = "reason" in hit
    return {
        "title": hit["title"],
        "href": "" if is_left_out else link_line(path, line or 1),
        "place": path if line is None else f"{path}:{line}–{hit.get('end_line', line)}",
        "lines": [],
        "more": 0,
        "signals": [SIGNALS.get(each, each) for each in hit["signals"]],
        "score": None if is_left_out else hit["score"],
        "reason": say_reason(hit.get("reason", "")),
        "changed": False,
        "files": hit.get("files", 1),
    }


def copy_found(request: PageRequest) -> PageResponse:
    """Copy all hits into one file."""
    copy = {name: request.get_field(name) for name in ("to_path", "mode", "min_score")}
    mode = copy["mode"] if copy["mode"] in ("create", "overwrite", "append") else "create"
    score = 0.6 if copy["min_score"] == "0.6" else 0.0
    chosen = {"to_path": copy["to_path"], "mode": mode, "min_score": score}
    try:
        copied = request.call("bridge", "copy_trace", trace_id=request.names["trace"], **chosen)
    except (Invalid, Missing, Conflict, Denied) as error:
        return show_found(request, error.message, copy)
    return redirect(build_path(link_file(copied["path"]), notice="copied"))
