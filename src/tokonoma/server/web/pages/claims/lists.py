"""`/admin/claims`: all claims, newest first, or those that fit a query, best first with the parts of their scores."""

from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.server.web.pages.claims.view import CLAIMS, CLASSES, KINDS, SCOPES, choose_filter, render_claims
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path

_PAGE = 50
_HITS = 20


def show_claims(request: PageRequest) -> PageResponse:
    query = request.get_parameter("q").strip()
    given = {
        "q": query,
        "kind": choose_filter(request, "kind", KINDS),
        "scope": choose_filter(request, "scope", SCOPES),
        "boundary": choose_filter(request, "boundary", CLASSES),
        "status": choose_filter(request, "status", ("all",)),
    }
    problem, page = "", dict[str, Any](items=[], has_more=False)
    try:
        page = _search(request, given) if query else _list(request, given)
    except Invalid as error:
        problem = error.message
    following = page.get("next_cursor", "")
    return render_claims(
        request,
        "list.html",
        status=400 if problem else 200,
        page=page,
        given=given,
        is_narrowed=any(given.values()),
        more=build_path(CLAIMS, **given, cursor=following) if following else "",
        problem=problem,
    )


def _list(request: PageRequest, given: dict[str, str]) -> dict[str, Any]:
    """Claims as the search returns them, without scores."""
    page = request.call(
        "claims",
        "list",
        kind=given["kind"] or None,
        scope=given["scope"] or None,
        boundary_class=given["boundary"] or None,
        superseded=given["status"] == "all",
        limit=_PAGE,
        cursor=request.get_parameter("cursor") or None,
    )
    return {**page, "items": [{"claim": claim} for claim in page["items"]]}


def _search(request: PageRequest, given: dict[str, str]) -> dict[str, Any]:
    return request.call(
        "claims",
        "search",
        query=given["q"],
        kind=given["kind"] or None,
        scope=[given["scope"]] if given["scope"] else None,
        boundary_class=given["boundary"] or None,
        top_k=_HITS,
        include_meta=True,
        cursor=request.get_parameter("cursor") or None,
    )
