"""`/admin/clients/people`: add people, set their passwords, make links that sign them in, revoke them."""

from functools import partial
from urllib.parse import quote

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Refusal
from tokonoma.server.web.access_parts import CredentialParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access.editor import CLIENTS, EditedReach, read_reach, show_again, show_editor
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

PEOPLE = f"{CLIENTS}/people"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.credentials
    pairs = {
        f"{PEOPLE}/new": (show_new_person, add_person),
        f"{PEOPLE}/{{id}}": (show_person, change_person),
        f"{PEOPLE}/{{id}}/revoke": (ask_revoke_person, revoke_person),
    }
    return [
        Route(path, PageHandler(pages, partial(get, parts), partial(post, parts), owner_only=True))
        for path, (get, post) in pairs.items()
    ]


def show_new_person(parts: CredentialParts, request: PageRequest) -> PageResponse:
    return show_editor(parts, request, EditedReach("people", ""))


def add_person(parts: CredentialParts, request: PageRequest) -> PageResponse:
    edited = EditedReach("people", "")
    if request.get_field("do") == "preview":
        return show_again(parts, request, edited)
    name, password = request.get_field("name").strip(), request.get_field("password")
    try:
        person = parts.add_person(request.owner_caller, name, read_reach(parts, request, edited), password)
    except Refusal as error:
        return show_again(parts, request, edited, error)
    return redirect(build_path(f"{PEOPLE}/{person.id}", notice="saved"))


def show_person(parts: CredentialParts, request: PageRequest, problem: str = "") -> PageResponse:
    person = parts.find_person(request.names["id"])
    count = next((count for each, count in parts.list_people() if each.id == person.id), 0)
    grants = [each for each in parts.list_grants() if each.person == person.id and each.state == "active"]
    values = {"person": person, "sessions": count, "grants": grants, "problem": problem}
    return PageResponse("access/person.html", values, 400 if problem else 200)


def change_person(parts: CredentialParts, request: PageRequest) -> PageResponse:
    person, chosen = parts.find_person(request.names["id"]), request.get_field("do")
    if chosen == "link":
        secret = parts.create_link(request.owner_caller, person.id)
        link = f"{request.origin}/sign-in?link={quote(secret)}"
        return PageResponse("access/made.html", {"name": person.name, "key": "", "link": link})
    password = request.get_field("password")
    if chosen == "password" and password != request.get_field("again"):
        return show_person(parts, request, problem="The two passwords are not the same.")
    if chosen == "password" and not password:
        return show_person(parts, request, problem="Type a password.")
    try:
        parts.set_password(request.owner_caller, person.id, password if chosen == "password" else "")
    except Refusal as error:
        return show_person(parts, request, error.message)
    return redirect(build_path(request.path, notice="password"))


def ask_revoke_person(parts: CredentialParts, request: PageRequest) -> PageResponse:
    person = parts.find_person(request.names["id"])
    back = f"{PEOPLE}/{person.id}"
    values = {"what": "person", "name": person.name, "is_last": False, "back": back, "problem": ""}
    return PageResponse("access/confirm.html", values)


def revoke_person(parts: CredentialParts, request: PageRequest) -> PageResponse:
    parts.revoke_person(request.owner_caller, request.names["id"])
    return redirect(build_path(CLIENTS, notice="revoked"))
