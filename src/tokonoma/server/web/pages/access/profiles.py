"""`/admin/clients/profiles`: reaches with a name."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.server.web.access_parts import CredentialParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access.editor import CLIENTS, EditedReach, read_reach, show_again, show_editor
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

PROFILES = f"{CLIENTS}/profiles"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.credentials
    pairs = {
        PROFILES: (show_new_profile, make_profile),
        f"{PROFILES}/{{name}}": (show_profile, change_profile),
        f"{PROFILES}/{{name}}/remove": (ask_remove_profile, remove_profile),
    }
    return [
        Route(path, PageHandler(pages, partial(get, parts), partial(post, parts), owner_only=True))
        for path, (get, post) in pairs.items()
    ]


def show_new_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, EditedReach("profiles", ""))


def make_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    name = request.get_field("name").strip()
    known = next((each.reach for each in parts.list_profiles() if each.name == name), None)
    edited = EditedReach("profiles", "")
    if known is not None:
        return show_again(parts, request, edited, Invalid("There is already a profile with this name."))
    return _save(parts, request, edited, name)


def show_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, _find_profile(parts, request))


def change_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    edited = _find_profile(parts, request)
    return _save(parts, request, edited, edited.name)


def ask_remove_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    name = _find_profile(parts, request).name
    values = {"what": "profile", "name": name, "is_last": False, "back": request.path.removesuffix("/remove")}
    return PageResponse("access/confirm.html", {**values, "problem": ""})


def remove_profile(parts: CredentialParts, request: PageRequest) -> PageResponse:
    parts.remove_profile(request.owner_caller, request.names["name"])
    return redirect(build_path(CLIENTS, notice="deleted"))


def _save(parts: CredentialParts, request: PageRequest, edited: EditedReach, name: str) -> PageResponse:
    if request.get_field("do") == "preview":
        return show_again(parts, request, edited)
    try:
        parts.save_profile(request.owner_caller, name, read_reach(parts, request, edited))
    except Refusal as error:
        return show_again(parts, request, edited, error)
    return redirect(build_path(CLIENTS, notice="saved"))


def _find_profile(parts: CredentialParts, request: PageRequest) -> EditedReach:
    for each in parts.list_profiles():
        if each.name == request.names["name"]:
            return EditedReach("profiles", each.name, each.reach, f"tokonoma profiles set {each.name!r}")
    raise Missing("There is no profile with this name.")
