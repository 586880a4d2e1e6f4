"""`/admin/search`: one search over all modules, with what each score is made of, and why a record is not found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape
from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.query import find_terms
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PROBLEMS, PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse

PATH = "/admin/search"
_MOST = 50  # that the search returns at once; facets count in all of them
_SHOWN = 20
_FACETS = 8  # namespaces and kinds that are offered
_SEARCHED = ("memory", "items", "claims", "manual", "vault")  # offered before the first search
_FILTERS = ("namespace", "since", "until", "kind")


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [Route(PATH, PageHandler(pages, partial(show_search, pages), needs_session=True))]


def show_search(pages: PageParts, request: PageRequest) -> PageResponse:
    assert request.session is not None
    query, expect = request.get_parameter("query").strip(), request.get_parameter("expect").strip()
    asked = {name: request.get_parameter(name).strip() for name in _FILTERS}
    chosen = request.list_parameter("module")
    known = [each.name for each in pages.list_modules(request.session.person.principal) if each.name in _SEARCHED]
    values: dict[str, Any] = {
        "query": query,
        "expect": expect,
        "asked": asked,
        "chosen": chosen,
        "modules": known,
        "results": [],
        "facets": [],
        "expected": None,
        "problem": "",
        "more": "",
        "is_full": False,
        "total": 0,
        "link": partial(_link, query, chosen, asked),
        "is_narrowed": bool(chosen or any(asked.values())),
    }
    if not query:
        return PageResponse("explore/search.html", values)
    try:
        found = request.call(
            "gateway",
            "explain_search",
            query=query,
            modules=chosen or None,
            k=_MOST,
            expect=expect or None,
            **{name: text or None for name, text in asked.items()},
        )
    except (Invalid, Missing) as error:
        return PageResponse("explore/search.html", {**values, "problem": error.message}, PROBLEMS[error.kind][1])
    return PageResponse("explore/search.html", {**values, **_describe(request, query, found, values["link"])})


def _describe(request: PageRequest, query: str, found: Mapping[str, Any], link: Callable[..., str]) -> dict[str, Any]:
    results: Sequence[dict[str, Any]] = found["results"]
    show_all = bool(request.get_parameter("all"))
    more = "" if show_all or len(results) <= _SHOWN else _add(request, "all", "1")
    return {
        "modules": found["modules"],
        "results": [_to_row(each, query) for each in (results if show_all else results[:_SHOWN])],
        "total": len(results),
        "is_full": len(results) == _MOST,
        "facets": _count_facets(results, link),
        "expected": found.get("expected"),
        "more": more,
    }


def _count_facets(results: Sequence[Mapping[str, Any]], link: Callable[..., str]) -> list[tuple[str, list[Any]]]:
    """Label and links that narrow the search to what is there, with how many hits each has."""
    facets: list[tuple[str, list[Any]]] = []
    for label, name in (("Modules", "module"), ("Namespace", "namespace"), ("Kind", "kind")):
        counted = Counter(each[name] for each in results if name in each).most_common(_FACETS)
        found = [(each, count, link(**{name: [each] if name == "module" else each})) for each, count in counted]
        facets.append((label, found))
    return facets


def _to_row(result: Mapping[str, Any], query: str) -> dict[str, Any]:
    details = result["score_details"]
    return {
        **result,
        "marked_title": mark_terms(result["title"], query),
        "marked_text": mark_terms(result["text"], query),
        "bars": read_bars(details),
        "terms": sorted(details.get("text", {}).get("terms", {}).items(), key=lambda each: -each[1]),
        "coverage": details.get("text", {}).get("coverage"),
        "other_time": details.get("time"),
        "parts": list(_flatten(details)),
    }


def read_bars(details: Mapping[str, Any]) -> dict[str, float | None]:
    """The four parts of a score between 0 and 1; None: this part was not looked at."""
    text, vector, signs = details.get("text"), details.get("vector"), details.get("signs", {})
    around = signs.get("around", {}).get("value")
    if around is None and text and text["thread"]:
        around = text["thread"] / max(text["score"], 1e-9)
    return {
        "words": text["level"] if text else 0.0,
        "meaning": vector["share"] if vector else None,
        "date": details.get("time_share", 0.0 if "time" in details else None),
        "thread": around,
    }


def mark_terms(text: str, query: str) -> Markup:
    """The text, with the words of the query in `<mark>`."""
    marked, done = Markup(""), 0
    for start, end in find_terms(text, query):
        marked += escape(text[done:start]) + Markup("<mark>{}</mark>").format(text[start:end])
        done = end
    return marked + escape(text[done:])


def _flatten(parts: Mapping[str, Any], name: str = "") -> list[tuple[str, str]]:
    """Every number of a score with its path, as the tool returns it."""
    found: list[tuple[str, str]] = []
    for key, value in parts.items():
        path = f"{name}.{key}".removeprefix(".")
        if isinstance(value, dict):
            found += _flatten(value, path)  # pyright: ignore[reportUnknownArgumentType] - JSON
        else:
            found.append((path, f"{value:.4g}" if isinstance(value, float) else str(value)))
    return found


def _link(query: str, chosen: Sequence[str], asked: Mapping[str, str], **changed: str | list[str]) -> str:
    """This search with another value of some filters."""
    values: dict[str, str | Sequence[str]] = {"query": query, "module": chosen, **asked, **changed}
    pairs = [(name, each) for name, value in values.items() for each in ([value] if isinstance(value, str) else value)]
    return f"{PATH}?{urlencode([pair for pair in pairs if pair[1]])}"


def _add(request: PageRequest, name: str, value: str) -> str:
    pairs = [pair for pair in request.pairs if pair[0] not in (name, "notice")]
    return f"{PATH}?{urlencode([*pairs, (name, value)])}"
