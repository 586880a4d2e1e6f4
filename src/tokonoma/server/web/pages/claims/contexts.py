"""`/admin/claims/activate`: what an agent would get for a task, and why; `/admin/claims/context`: a context that was
made before, and the list of those that have not expired."""

from typing import Any

from tokonoma.core.errors import Denied, Expired, Invalid, Missing
from tokonoma.server.web.pages.claims.view import CLAIMS, SCOPES, render_claims
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path

_MOST = ("5", "12", "25", "50")
_LISTED = 20


def show_activate(request: PageRequest) -> PageResponse:
    task, purposes = request.get_parameter("q").strip(), request.get_parameter("allow").replace(",", " ").split()
    scopes = [each for each in request.list_parameter("scope") if each in SCOPES]
    most = request.get_parameter("most") if request.get_parameter("most") in _MOST else ""
    context: dict[str, Any] | None = None
    problem = ""
    if task:
        try:
            context = request.call(
                "claims",
                "activate",
                q=task,
                scope=scopes or None,
                allow=purposes or None,
                top_k=int(most) if most else None,
                include_meta=True,
                cursor=request.get_parameter("cursor") or None,
            )
        except (Invalid, Denied) as error:
            problem = error.message
    following = (context or {}).get("next_cursor", "")
    kept = {"q": task, "allow": " ".join(purposes), "most": most, "cursor": following}
    more = "".join(f"&scope={each}" for each in scopes)
    return render_claims(
        request,
        "activate.html",
        status=400 if problem else 200,
        context=context,
        has_meaning=any(each["scores"]["vector"] for each in (context or {}).get("claims", ())),
        task=task,
        chosen=scopes,
        allow=" ".join(purposes),
        most=most,
        sizes=_MOST,
        more=build_path(f"{CLAIMS}/activate", **kept) + more if following else "",
        problem=problem,
    )


def show_context(request: PageRequest) -> PageResponse:
    """Its claims as they are now. Only the caller that made it can read it."""
    wanted, cursor = request.get_parameter("id").strip(), request.get_parameter("cursor")
    context: dict[str, Any] | None = None
    problem = ""
    if wanted:
        try:
            context = request.call("claims", "context.get", active_context_id=wanted)
        except (Invalid, Missing, Expired) as error:
            problem = error.message
    kept = request.call("claims", "context.list", limit=_LISTED, cursor=cursor or None) if context is None else None
    return render_claims(
        request,
        "context.html",
        status=404 if problem else 200,
        context=context,
        wanted=wanted,
        kept=kept["items"] if kept else [],
        more=build_path(request.path, cursor=kept["next_cursor"]) if kept and kept["has_more"] else "",
        problem=problem,
    )
