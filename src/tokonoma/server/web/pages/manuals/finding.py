"""Find everything about a topic: the search, its account of what was and was not searched, its hits, and their copy."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tokonoma.core.errors import Conflict, Denied, Invalid, Missing
from tokonoma.server.web.pages.file_views import quote_path, read_number, say_later, say_reason
from tokonoma.server.web.pages.handler import PROBLEMS
from tokonoma.server.web.pages.manuals.overview import MANUALS, link_line, list_names
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

FOUND = f"{MANUALS}/found/"
_HITS_PER_PAGE = 20
_INTENTS = ("definition", "procedure", "eligibility", "exceptions", "compare", "unknown")

LISTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "candidates": (say_later("Hits"), {"kind": "candidates"}),
    "top": (say_later("Best hits"), {"kind": "integrated_top"}),
    "exceptions": (say_later("Exceptions"), {"kind": "candidates", "signals": ["exceptions"]}),
    "references": (say_later("Referred to"), {"kind": "candidates", "signals": ["reference"]}),
    "conflicts": (say_later("Possible contradictions"), {"kind": "conflicts"}),
    "gaps": (say_later("Gaps"), {"kind": "gaps"}),
    "unscanned": (say_later("Not searched"), {"kind": "unscanned"}),
}
"""What a search has found, as tabs: the title, and what manual_hits is asked for."""

STAGES = (
    (0.0, say_later("The words in different notations: width, case, numerals, long vowels")),
    (1.0, say_later("Other forms of the words, words without spaces and hyphens, synonyms, similar meaning")),
    (2.0, say_later("Exceptions among the hits, and next to them")),
    (3.0, say_later("What the hits refer to: links, articles, appendices")),
    (3.5, say_later("Possible contradictions, gaps, and whether the result is sufficient")),
    (4.0, say_later("Any single word, and other manuals, if too little was found")),
)

SIGNALS: Mapping[str, str] = {
    "heading": say_later("in the heading"),
    "normalized": say_later("in the text"),
    "loose": say_later("in another spelling"),
    "synonym": say_later("by another name"),
    "exceptions": say_later("an exception"),
    "reference": say_later("referred to"),
    "semantic": say_later("by its meaning"),
}

STATUSES: Mapping[str, tuple[str, str]] = {
    "ready": ("fine-tag", say_later("complete")),
    "needs_followup": ("wait-tag", say_later("something is left to look at")),
    "blocked": ("bad-tag", say_later("not enough was found")),
}


def find_everything(request: PageRequest) -> PageResponse:
    """The form; with a query the search, which leads to the page of its result. So the result can be opened again."""
    asked = _read_form(request)
    if not asked["q"]:
        return _show_form(request, asked, "")
    budget = {"time_ms": 1_000 * max(1, min(600, asked["seconds"])), "max_candidates": max(1, min(1000, asked["most"]))}
    names = [each.strip() for each in asked["must"].split(",") if each.strip()]
    try:
        result = request.call(
            "manual",
            "find",
            query=asked["q"],
            manual_id=asked["manual"] or None,
            intent=asked["intent"] or None,
            max_stage=4 if asked["widen"] else 3,
            only_unscanned_from_trace_id=asked["resume"] or None,
            budget=budget,
            must_include=names or None,
        )
    except (Invalid, Missing) as error:
        return _show_form(request, asked, error.message, PROBLEMS[error.kind][1])
    kept = {name: asked[name] for name in ("q", "manual", "intent", "must")}
    kept |= {name: asked[name] for name, usual in (("seconds", 60), ("most", 200)) if asked[name] != usual}
    return redirect(build_path(FOUND + quote(result["trace_id"], safe=""), **kept, rounds=asked["rounds"]))


def _read_form(request: PageRequest) -> dict[str, Any]:
    get = request.get_parameter
    return {
        "q": get("q"),
        "manual": get("manual"),
        "intent": get("intent") if get("intent") in _INTENTS else "",
        "must": get("must"),
        "widen": get("narrow") != "1",
        "resume": get("resume"),
        "rounds": read_number(request, "rounds") or None,
        "seconds": read_number(request, "seconds") or 60,
        "most": read_number(request, "most") or 200,
    }


def _show_form(request: PageRequest, asked: Mapping[str, Any], problem: str, status: int = 200) -> PageResponse:
    values = {"asked": asked, "manuals": list_names(request), "problem": problem}
    return PageResponse("manuals/find.html", values, status)


def show_found(request: PageRequest, problem: str = "", copy: Mapping[str, str] | None = None) -> PageResponse:
    trace, offset = request.names["trace"], read_number(request, "offset")
    chosen = request.get_parameter("list")
    chosen = chosen if chosen in LISTS else "candidates"
    try:
        summary = request.call("manual", "hits", trace_id=trace, kind="summary")["summary"]
    except Missing as error:
        if "trace_id" not in error.details:
            raise
        return _show_form(request, _read_form(request), error.message, 404)
    page = request.call(
        "manual", "hits", trace_id=trace, **LISTS[chosen][1], offset=offset, limit=_HITS_PER_PAGE, context=1
    )
    here = FOUND + quote(trace, safe="")
    asked = {name: request.get_parameter(name) for name in ("q", "manual", "intent", "must", "seconds", "most")}
    rounds = read_number(request, "rounds")

    def link(name: str, start: int = 0) -> str:
        return build_path(here, **asked, rounds=rounds or None, list=name, offset=start or None)

    following = offset + _HITS_PER_PAGE
    return PageResponse(
        "manuals/found.html",
        {
            "asked": asked,
            "trace": trace,
            "summary": summary,
            "status": STATUSES.get(summary.get("integration_status", ""), ("", "")),
            "cutoff": say_reason(summary.get("cutoff_reason", "")),
            "left_out": [(say_reason(why), count) for why, count in summary.get("left_out_files", {}).items()],
            "stages": [(text, _is_applied(number, summary)) for number, text in STAGES],
            "signals": [(SIGNALS.get(name, name), share) for name, share in summary.get("signal_coverage", {}).items()],
            "lists": [(name, text, link(name)) for name, (text, _) in LISTS.items()],
            "chosen": chosen,
            "hits": [_describe_hit(each, trace) for each in page["items"]],
            "total": page["total"],
            "gone": page.get("gone", 0),
            "first": offset + 1,
            "previous": link(chosen, max(0, offset - _HITS_PER_PAGE)) if offset else "",
            "more": link(chosen, following) if following < page["total"] else "",
            "resume": build_path(f"{MANUALS}/find", **asked, resume=trace, rounds=rounds + 1),
            "rounds": rounds,
            "again": build_path(f"{MANUALS}/find", **asked),
            "here": link(chosen, offset),
            "problem": problem,
            "copy": copy or {"to_path": "", "mode": "create", "min_score": "0"},
        },
        400 if problem else 200,
    )


def _is_applied(number: float, summary: Mapping[str, Any]) -> bool:
    """The judgement, 3.5, follows every search that has got through stage 3."""
    last = summary.get("max_stage_applied", -1)
    return last >= 3 if number == 3.5 else number <= last


def _describe_hit(hit: Mapping[str, Any], trace: str) -> dict[str, Any]:
    """A hit with its links and words. A gap, and a file that was left out, is nowhere."""
    ref = hit.get("ref")
    lines = [(at, text.strip("\n"), link_line(ref, at, trace)) for at, text in hit.get("lines", ())] if ref else []
    reason = hit.get("reason", "")
    return {
        "title": hit.get("title", ""),
        "href": link_line(ref, ref.get("start_line", 1), trace) if ref else "",
        "place": f"{ref['manual_id']}/{ref['path']}:{ref.get('start_line', 1)}" if ref else "",
        "lines": lines,
        "more": hit.get("more", 0),
        "signals": [SIGNALS.get(each, each) for each in hit.get("signals", ())],
        "score": hit.get("score"),
        "reason": say_reason(reason),
        "changed": hit.get("changed", False),
        "files": hit.get("files", 1),
    }


def copy_found(request: PageRequest) -> PageResponse:
    """Copy all hits into one file of the vault."""
    copy = {name: request.get_field(name) for name in ("to_path", "mode", "min_score")}
    score = 0.6 if copy["min_score"] == "0.6" else 0.0
    mode = copy["mode"] if copy["mode"] in ("create", "overwrite", "append") else "create"
    chosen = {"to_path": copy["to_path"], "mode": mode, "min_score": score}
    try:
        copied = request.call("bridge", "copy_trace", trace_id=request.names["trace"], **chosen)
    except (Invalid, Missing, Conflict, Denied) as error:
        return show_found(request, problem=error.message, copy=copy)
    return redirect(build_path(f"/admin/vault/file/{quote_path(copied['path'])}", notice="copied"))
