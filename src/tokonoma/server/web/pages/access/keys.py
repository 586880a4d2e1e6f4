"""`/admin/clients/keys` and `/admin/clients/grants`: make, change and revoke API keys; narrow and revoke clients."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.auth.api_keys import parse_expiry
from tokonoma.core.clock import format_time
from tokonoma.core.errors import Refusal
from tokonoma.server.web.access_parts import CredentialParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access.editor import CLIENTS, EditedReach, read_reach, show_again, show_editor
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

KEYS, GRANTS = f"{CLIENTS}/keys", f"{CLIENTS}/grants"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.credentials
    pairs = {
        f"{KEYS}/new": (show_new_key, make_key),
        f"{KEYS}/{{id}}": (show_key, change_key),
        f"{KEYS}/{{id}}/revoke": (ask_revoke_key, revoke_key),
        f"{GRANTS}/{{id}}": (show_grant, narrow_grant),
        f"{GRANTS}/{{id}}/revoke": (ask_revoke_grant, revoke_grant),
    }
    return [
        Route(path, PageHandler(pages, partial(get, parts), partial(post, parts), owner_only=True))
        for path, (get, post) in pairs.items()
    ]


# Keys


def show_new_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, EditedReach("keys", ""))


def make_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    edited = EditedReach("keys", "")
    if request.get_field("do") == "preview":
        return show_again(parts, request, edited)
    name, expires = request.get_field("name").strip(), request.get_field("expires").strip()
    try:
        reach = read_reach(parts, request, edited)
        key = parts.create_key(request.owner_caller, name, reach, parse_expiry(expires) if expires else None)
    except Refusal as error:
        return show_again(parts, request, edited, error)
    return PageResponse("access/made.html", {"name": name, "key": key, "link": ""})


def show_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, _find_key(parts, request))


def change_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    edited = _find_key(parts, request)
    if request.get_field("do") == "preview":
        return show_again(parts, request, edited)
    expires = request.get_field("expires").strip()
    try:
        reach = read_reach(parts, request, edited)
        unchanged = expires == edited.facts["expires"]
        ends = edited.facts["expires_at"] if unchanged else parse_expiry(expires) if expires else None
        parts.update_key(request.owner_caller, request.names["id"], reach, ends)
    except Refusal as error:
        return show_again(parts, request, edited, error)
    return redirect(build_path(request.path, notice="saved"))


def _find_key(parts: CredentialParts, request: PageRequest) -> EditedReach:
    key = parts.find_key(request.names["id"])
    expires = "" if key.expires_at is None else format_time(key.expires_at)
    facts = {"expires": expires, "expires_at": key.expires_at, "credential": f"key:{key.name}"}
    command = f"tokonoma keys set {key.name!r}"
    return EditedReach("keys", key.name, key.reach, command, {**facts, "created_at": key.created_at})


def ask_revoke_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    key = parts.find_key(request.names["id"])
    active = [each for each in parts.list_keys() if each.state == "active"]
    values = {"what": "key", "name": key.name, "is_last": [each.id for each in active] == [key.id]}
    return PageResponse("access/confirm.html", {**values, "back": f"{KEYS}/{key.id}", "problem": ""})


def revoke_key(parts: CredentialParts, request: PageRequest) -> PageResponse:
    parts.revoke_key(request.owner_caller, request.names["id"])
    return redirect(build_path(CLIENTS, notice="revoked"))


# Clients that people let in


def show_grant(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, _find_grant(parts, request))


def narrow_grant(parts: CredentialParts, request: PageRequest) -> PageResponse:
    edited = _find_grant(parts, request)
    if request.get_field("do") == "preview":
        return show_again(parts, request, edited)
    try:
        parts.narrow_grant(request.owner_caller, request.names["id"], read_reach(parts, request, edited))
    except Refusal as error:
        return show_again(parts, request, edited, error)
    return redirect(build_path(request.path, notice="saved"))


def _find_grant(parts: CredentialParts, request: PageRequest) -> EditedReach:
    grant = parts.find_grant(request.names["id"])
    facts = {"grant": grant, "credential": f"client:{grant.name}", "effective": grant.effective}
    return EditedReach("grants", grant.name, grant.reach, f"tokonoma clients narrow {grant.name}", facts)


def ask_revoke_grant(parts: CredentialParts, request: PageRequest) -> PageResponse:
    grant = parts.find_grant(request.names["id"])
    values = {"what": "client", "name": grant.name, "is_last": False, "back": f"{GRANTS}/{grant.id}", "problem": ""}
    return PageResponse("access/confirm.html", values)


def revoke_grant(parts: CredentialParts, request: PageRequest) -> PageResponse:
    parts.revoke_grant(request.owner_caller, request.names["id"])
    return redirect(build_path(CLIENTS, notice="revoked"))
