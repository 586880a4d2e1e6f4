"""`/admin/claims/{name}`: one claim with its sources, feedback, entities and history, and the chain of claims that
replaced each other."""

from collections.abc import Callable, Mapping
from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.claims.view import CLAIMS, SIGNALS, locate_claim, render_claims
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_MOST_STEPS = 20  # of a chain, in each direction


def show_claim(request: PageRequest) -> PageResponse:
    return _render_claim(request)


def change_claim(request: PageRequest) -> PageResponse:
    """Feedback, or another claim that replaces this one."""
    act = _ACTIONS.get(request.get_field("action"))
    if act is None:
        problem = "Choose what to do."
        return _render_claim(request, problem)
    try:
        notice = act(request, request.names["name"])
    except (Invalid, Conflict, Missing) as error:
        return _render_claim(request, error.message)
    return redirect(build_path(locate_claim(request.names["name"]), notice=notice))


def show_forget(request: PageRequest) -> PageResponse:
    return render_claims(request, "forget.html", claim=_load(request))


def forget(request: PageRequest) -> PageResponse:
    version = request.get_field("version")
    expected = int(version) if version.isascii() and version.isdigit() else None
    try:
        request.call("claims", "forget", claim_id=request.names["name"], expected_version=expected)
    except Conflict as error:
        return render_claims(request, "forget.html", 409, claim=_load(request), problem=error.message)
    return redirect(build_path(CLAIMS, notice="forgotten"))


def build_chain(request: PageRequest, claim: Mapping[str, Any], older: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the oldest claim that can be reached to the newest. Where several were replaced by one, all stand there,
    indented by how many steps they are away."""
    chain: list[dict[str, Any]] = []

    def walk_back(claims: list[dict[str, Any]], steps: int) -> None:
        for each in claims:
            if len(chain) < _MOST_STEPS:
                earlier = _read_history(request, each["id"])["superseded"]
                walk_back(earlier, steps + 1)
                chain.append({**each, "steps": -steps})

    walk_back(older, 1)
    chain.append({**claim, "steps": 0})
    following, steps = claim.get("superseded_by"), 0
    while following and steps < _MOST_STEPS:
        steps += 1
        try:
            newer = request.call("claims", "get", claim_id=following)
        except Missing:  # forgotten, or not for this person
            break
        chain.append({**newer, "steps": steps})
        following = newer.get("superseded_by")
    return chain


def _load(request: PageRequest) -> dict[str, Any]:
    return request.call("claims", "get", claim_id=request.names["name"])


def _read_history(request: PageRequest, claim_id: str) -> dict[str, Any]:
    return request.ask("claims", "history", {"items": [], "superseded": []}, claim_id=claim_id)


def _render_claim(request: PageRequest, problem: str = "") -> PageResponse:
    claim = _load(request)
    history = _read_history(request, claim["id"])
    entities = {each["id"]: each for each in claim["entities"]}
    return render_claims(
        request,
        "claim.html",
        status=400 if problem else 200,
        claim=claim,
        events=list(reversed(history["items"])),
        chain=build_chain(request, claim, history["superseded"]),
        entities=entities,
        signals=SIGNALS,
        counts=(counts := claim.get("feedback", {})),
        most_feedback=max([*counts.values(), 1]),
        by=request.get_field("by"),
        problem=problem,
    )


def _give_feedback(request: PageRequest, claim_id: str) -> str:
    request.call("claims", "feedback", claim_id=claim_id, signal=request.get_field("signal"))
    return "feedback"


def _supersede(request: PageRequest, claim_id: str) -> str:
    version = request.get_field("version")
    expected = int(version) if version.isascii() and version.isdigit() else None
    # An address is what other pages show; its last part is the id.
    newer = request.get_field("by").strip().rpartition("/")[2]
    request.call("claims", "supersede", claim_id=claim_id, by=newer, expected_version=expected)
    return "superseded"


_ACTIONS: dict[str, Callable[[PageRequest, str], str]] = {"feedback": _give_feedback, "supersede": _supersede}
