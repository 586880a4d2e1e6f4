"""Write a file in the browser: with a preview, and against the version that was read. Typed text is never lost."""

from typing import Any

from tokonoma.core.errors import Conflict, Denied, Invalid, Missing, Refusal
from tokonoma.server.web.pages.file_views import say_later, show_unreadable
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.vault.common import (
    WholeText,
    compare_texts,
    link_file,
    link_folder,
    list_crumbs,
    read_whole,
)

_TOO_LONG = say_later("This file is too long to be edited here. Open it on the disk with a program of yours.")
_HIDDEN_PARTS = say_later(
    "The policy hides parts of this file from you. Saving it here would overwrite them, so it cannot be edited here."
)


def show_editor(request: PageRequest) -> PageResponse:
    name = request.names["name"]
    try:
        text = read_whole(request, name)
    except Missing:
        raise
    except Refusal as error:
        return show_unreadable(error, name, link_folder("/".join(name.split("/")[:-1])))
    return _show_form(name, text.text, text)


def _show_form(name: str, content: str, base: WholeText, status: int = 200, **more: Any) -> PageResponse:
    """`base` is the content that the typed text was made from."""
    obstacle = "" if base.is_complete else _TOO_LONG
    values = {
        "file": name,
        "crumbs": list_crumbs(name),
        "href": link_file(name),
        "content": content.replace("\r\n", "\n"),
        "version": base.version,
        "line_end": "crlf" if "\r\n" in base.text else "lf",
        "encoding": base.encoding,
        "obstacle": _HIDDEN_PARTS if base.has_hidden_parts else obstacle,
        "preview": None,
        "problem": "",
        "difference": None,
        "current": None,
    }
    return PageResponse("vault/edit.html", {**values, **more}, status)


def save_file(request: PageRequest) -> PageResponse:
    name, version = request.names["name"], request.get_field("version")
    typed, line_end = request.get_field("content"), request.get_field("line_end")
    base = WholeText("\r\n" if line_end == "crlf" else "", version, "", True)
    kept: dict[str, Any] = {"version": version, "line_end": line_end, "obstacle": ""}
    if request.get_field("action") == "preview":
        return _show_form(name, typed, base, preview=typed, **kept)
    content = typed.replace("\n", "\r\n") if line_end == "crlf" else typed
    try:
        # A form without a version was not made by this page: it must not overwrite what it has never seen.
        written = request.call(
            "vault", "write", path=name, content=content, mode="overwrite", expected_version=version or "0" * 64
        )
    except Conflict as error:
        return _show_conflict(request, name, typed, error)
    except (Invalid, Denied, Missing) as error:
        return _show_form(name, typed, base, 400, problem=error.message, **kept)
    return redirect(build_path(link_file(written["path"]), notice="saved"))


def _show_conflict(request: PageRequest, name: str, typed: str, error: Conflict) -> PageResponse:
    """Both texts, and what differs. Saving again replaces the other text, which stays as a version."""
    try:
        current = read_whole(request, name)
    except Refusal:
        base = WholeText("", request.get_field("version"), "", True)
        return _show_form(name, typed, base, 409, problem=error.message, obstacle="")
    return _show_form(
        name,
        typed,
        current,
        409,
        problem="Changed in the meantime",
        current=current.text,
        difference=compare_texts(current.text.replace("\r\n", "\n"), typed),
    )


def show_new_file(request: PageRequest) -> PageResponse:
    return _show_new(request.get_parameter("at"), "")


def _show_new(path: str, content: str, status: int = 200, **more: Any) -> PageResponse:
    values = {"file": path, "content": content, "problem": "", "preview": None, "exists": ""}
    return PageResponse("vault/new.html", {**values, **more}, status)


def create_file(request: PageRequest) -> PageResponse:
    path, content = request.get_field("path").strip(), request.get_field("content")
    if request.get_field("action") == "preview":
        return _show_new(path, content, preview=content)
    try:
        created = request.call("vault", "create", path=path, content=content)
    except Conflict as error:
        return _show_new(path, content, 409, problem=error.message, exists=link_file(path))
    except (Invalid, Denied) as error:
        return _show_new(path, content, 400, problem=error.message)
    return redirect(build_path(link_file(created["path"]), notice="saved"))
