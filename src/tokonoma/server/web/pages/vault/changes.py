"""The history of a file: its versions, what differs between two of them, and how to go back to one."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Conflict, Denied, Invalid, Missing, Refusal
from tokonoma.server.web.pages.file_views import say_later
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.pages.vault.common import (
    WholeText,
    compare_texts,
    link_action,
    link_file,
    list_crumbs,
    read_whole,
)

ACTIONS: Mapping[str, str] = {
    "create": say_later("created"),
    "overwrite": say_later("overwritten"),
    "append": say_later("appended to"),
    "replace": say_later("text replaced"),
    "move": say_later("moved"),
    "relink": say_later("links changed"),
    "restore": say_later("restored"),
    "delete": say_later("deleted"),
}
"""What a change was, in words."""


def show_history(request: PageRequest) -> PageResponse:
    name = request.names["name"]
    listed = request.call("vault", "history", path=name, cursor=request.get_parameter("cursor") or None)
    path, current = listed["path"], find_current(request, name)
    older, newer = request.get_parameter("older"), request.get_parameter("newer")
    changes = [
        {**each, "what": ACTIONS.get(each["action"], each["action"]), "restore": _link_restore(path, each, current)}
        for each in listed["items"]
    ]
    following = listed.get("next_cursor")
    values: dict[str, Any] = {
        "file": path,
        "crumbs": list_crumbs(path),
        "href": link_file(path) if current else "",
        "current": current,
        "changes": changes,
        "versions": _list_versions(listed["items"], current),
        "older": older,
        "newer": newer,
        "more": build_path(link_action("history", path), cursor=following) if following else "",
    }
    return PageResponse("vault/history.html", {**values, **_compare_versions(request, path, older, newer)})


def find_current(request: PageRequest, name: str) -> str:
    """The version of the file now; empty if it is not there."""
    try:
        part = request.call("vault", "read", path=name, full=True, limits={"max_chars": 1})
    except Missing:
        return ""
    except Denied:  # not a text now; it has no version that could be shown
        return ""
    return part["version"]


def _link_restore(path: str, change: Mapping[str, Any], current: str) -> str:
    previous = change.get("previous_version")
    if not previous or previous == current:
        return ""
    return build_path(link_action("restore", path), version=previous)


def _list_versions(changes: Sequence[Mapping[str, Any]], current: str) -> list[dict[str, Any]]:
    """The contents that can be read, newest first, each with the change that made it, if one did."""
    made = {each["version"]: each for each in reversed(changes) if "version" in each and each["action"] != "move"}
    names = [current, *(each.get("previous_version", "") for each in changes)]
    found = [name for name in dict.fromkeys(names) if name]
    return [{"version": name, "made": made.get(name), "is_current": name == current} for name in found]


def _compare_versions(request: PageRequest, path: str, older: str, newer: str) -> dict[str, Any]:
    if not older or not newer:
        return {"difference": None, "problem": ""}
    try:
        texts = [_read_version(request, path, version) for version in (older, newer)]
    except Refusal as error:
        return {"difference": None, "problem": error.message}
    difference = compare_texts(texts[0].text, texts[1].text) if all(each.is_complete for each in texts) else None
    too_long = "These versions are too long to be compared here."
    return {"difference": difference, "problem": too_long if difference is None else ""}


def _read_version(request: PageRequest, path: str, version: str) -> WholeText:
    return read_whole(request, path, version)


def show_restore(request: PageRequest) -> PageResponse:
    return _show_restore(request, request.get_parameter("version"), "")


def _show_restore(request: PageRequest, version: str, problem: str) -> PageResponse:
    """What would change: the second step."""
    name = request.names["name"]
    current = find_current(request, name)
    past = read_whole(request, name, version)
    now = read_whole(request, name).text if current else ""
    values = {
        "file": name,
        "crumbs": list_crumbs(name),
        "version": past.version,
        "current": current,
        "difference": compare_texts(now, past.text) if past.is_complete else None,
        "history": link_action("history", name),
        "problem": problem,
    }
    return PageResponse("vault/restore.html", values, 409 if problem else 200)


def restore_file(request: PageRequest) -> PageResponse:
    name, version = request.names["name"], request.get_field("version")
    expected = request.get_field("expected_version") or None
    try:
        restored = request.call("vault", "restore", path=name, version=version, expected_version=expected)
    except (Conflict, Denied) as error:
        return _show_restore(request, version, error.message)
    except Invalid as error:
        raise Missing(error.message) from None
    return redirect(build_path(link_file(restored["path"]), notice="restored"))
