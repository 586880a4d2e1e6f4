"""`/admin/approvals`: calls that wait for the owner, because a rule of the policy says `ask`. No tool leads here: only
a form of the owner's own session decides."""

from functools import partial

import orjson
from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Conflict, Expired, Missing
from tokonoma.server.web.access_parts import ApprovalParts, WaitingCall
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect, refuse

PATH = "/admin/approvals"
_SHOWN = 50  # decisions


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.approvals
    handler = PageHandler(pages, partial(show_approvals, parts), partial(decide, parts), owner_only=True)
    return [Route(PATH, handler)]


def show_approvals(parts: ApprovalParts, request: PageRequest, problem: str = "") -> PageResponse:
    decided = parts.list_decided()
    values = {
        "waiting": [(each, _format_params(each)) for each in parts.list_waiting()],
        "decided": decided[:_SHOWN],
        "problem": problem,
    }
    return PageResponse("access/approvals.html", values, 409 if problem else 200)


def decide(parts: ApprovalParts, request: PageRequest) -> PageResponse:
    id, chosen = request.get_field("id"), request.get_field("decision")
    if chosen not in ("approve", "deny"):
        return refuse("Not possible", "Choose: approve or refuse.", 400)
    try:
        parts.decide(request.owner_caller, id, "approved" if chosen == "approve" else "denied")
    except (Conflict, Expired, Missing):
        return show_approvals(
            parts, request, problem="This call does not wait any more: it was decided elsewhere, or its time is over."
        )
    return redirect(build_path(PATH, notice="approved" if chosen == "approve" else "refused"))


def _format_params(waiting: WaitingCall) -> list[tuple[str, str]]:
    """Each parameter with its value: a text as it is, everything else as JSON."""
    found: list[tuple[str, str]] = []
    for name, value in (waiting.params or {}).items():
        text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        found.append((name, text))
    return found
