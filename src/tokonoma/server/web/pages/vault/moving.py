"""Move and delete a file. Both ask before they do it."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Conflict, Denied, Invalid
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.vault.changes import find_current
from tokonoma.server.web.pages.vault.common import VAULT, describe_backlinks, link_file, list_crumbs


def show_move(request: PageRequest) -> PageResponse:
    name = request.names["name"]
    return _show_form(request, "vault/move.html", "", to_path=name, update_links=True)


def _show_form(request: PageRequest, template: str, problem: str, **more: Any) -> PageResponse:
    name = request.names["name"]
    values: Mapping[str, Any] = {
        "file": name,
        "crumbs": list_crumbs(name),
        "href": link_file(name),
        "part": request.call("vault", "read", path=name, full=True, limits={"max_chars": 1}),
        "backlinks": describe_backlinks(request, name),
        "problem": problem,
    }
    return PageResponse(template, {**values, **more}, 400 if problem else 200)


def move_file(request: PageRequest) -> PageResponse:
    name, goal = request.names["name"], request.get_field("to_path").strip()
    update = request.get_field("update_links") == "1"
    asked = {"to_path": goal, "update_links": update, "expected_version": request.get_field("version") or None}
    try:
        moved = request.call("vault", "move", from_path=name, **asked)
    except (Invalid, Conflict, Denied) as error:
        return _show_form(request, "vault/move.html", error.message, to_path=goal, update_links=update)
    here = build_path(link_file(moved["path"]), notice="moved")
    if not moved.get("relinked") and not moved.get("not_relinked"):
        return redirect(here)
    changed = [(path, link_file(path)) for path in moved.get("relinked_paths", ())]
    left = [(each["path"], link_file(each["path"]), each["reason"]) for each in moved.get("not_relinked", ())]
    return PageResponse("vault/moved.html", {"file": moved["path"], "href": here, "changed": changed, "left": left})


def show_delete(request: PageRequest) -> PageResponse:
    return _show_form(request, "vault/delete.html", "")


def delete_file(request: PageRequest) -> PageResponse:
    name = request.names["name"]
    version = request.get_field("version") or find_current(request, name)
    try:
        request.call("vault", "delete", path=name, expected_version=version)
    except (Conflict, Denied, Invalid) as error:
        return _show_form(request, "vault/delete.html", error.message)
    return redirect(build_path(f"{VAULT}/trash", notice="deleted"))
