"""`/admin/claims/entities`: the people, things, events and ideas that claims name; `/admin/claims/entity`: one of them
with its relations and claims."""

from typing import Any

from tokonoma.core.errors import Invalid, Missing
from tokonoma.server.web.pages.claims.view import CLAIMS, ENTITY_TYPES, choose_filter, render_claims
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path

_PAGE = 100
_RELATIONS = 200
_MOST_CLAIMS = 20


def show_entities(request: PageRequest) -> PageResponse:
    query, type = request.get_parameter("q").strip(), choose_filter(request, "type", ENTITY_TYPES)
    cursor = request.get_parameter("cursor") or None
    page = request.call("claims", "entities", query=query or None, type=type or None, limit=_PAGE, cursor=cursor)
    following = page.get("next_cursor", "")
    return render_claims(
        request,
        "entities.html",
        page=page,
        query=query,
        type=type,
        types=ENTITY_TYPES,
        more=build_path(f"{CLAIMS}/entities", q=query, type=type, cursor=following) if following else "",
    )


def show_entity(request: PageRequest) -> PageResponse:
    key, depth = request.get_parameter("key"), request.get_parameter("depth")
    depth = depth if depth in ("1", "2", "3") else "1"
    around = request.call("claims", "related", entity=key, depth=int(depth), limit=_RELATIONS)
    entity = around["entity"]
    known = {each["key"]: each["name"] for each in [*around["entities"], entity]}
    return render_claims(
        request,
        "entity.html",
        entity=entity,
        relations=around["items"],
        entities=around["entities"],
        known=known,
        depth=depth,
        claims=_load_claims(request, entity["claims"]),
        is_cut=around["has_more"],
    )


def _load_claims(request: PageRequest, ids: list[str]) -> list[dict[str, Any]]:
    """The first ones with their texts; one that is gone meanwhile is left out."""
    claims: list[dict[str, Any]] = []
    for claim_id in ids[:_MOST_CLAIMS]:
        try:
            claims.append(request.call("claims", "get", claim_id=claim_id))
        except (Missing, Invalid):
            continue
    return claims
