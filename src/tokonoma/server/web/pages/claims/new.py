"""`/admin/claims/new`: store a claim with its source, as an agent does with claims.upsert."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.clock import format_time, now
from tokonoma.core.errors import Conflict, Denied, Invalid
from tokonoma.server.web.pages.claims.view import locate_claim, render_claims
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_FIELDS = ("text", "kind", "scope", "boundary_class", "url", "note")


def show_new(request: PageRequest) -> PageResponse:
    typed = dict.fromkeys(_FIELDS, "") | {"kind": "fact", "scope": "project", "boundary_class": "internal"}
    return _render_new(request, typed)


def create(request: PageRequest) -> PageResponse:
    typed = {name: request.get_field(name) for name in _FIELDS}
    assert request.session is not None
    provenance: dict[str, Any] = {"at": format_time(now()), "actor": request.session.person.name}
    provenance |= {name: typed[name] for name in ("url", "note") if typed[name]}
    given = {name: typed[name] for name in ("kind", "scope", "boundary_class") if typed[name]}
    try:
        stored = request.call("claims", "upsert", text=typed["text"], provenance=provenance, **given)
    except (Invalid, Conflict, Denied) as error:
        return _render_new(request, typed, error.message)
    return redirect(build_path(locate_claim(stored["id"]), notice="saved"))


def _render_new(request: PageRequest, typed: Mapping[str, str], problem: str = "") -> PageResponse:
    return render_claims(request, "new.html", status=400 if problem else 200, form=typed, problem=problem)
