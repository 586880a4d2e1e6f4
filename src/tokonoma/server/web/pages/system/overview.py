"""`/admin/jobs`, `/admin/settings` and `/admin/health`: what runs, what is set from where, and what needs a look."""

from typing import Any

from tokonoma.core.errors import Missing, Refusal
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.system_parts import SystemParts

_GROUPS = (("fail", "Problems"), ("warn", "Needs a look"), ("ok", "In order"))


def show_jobs(parts: SystemParts, request: PageRequest) -> PageResponse:
    status = request.call("system", "status")
    values = {"jobs": parts.list_jobs(), "waiting": status.get("sizes", {}).get("embedding_queue", 0)}
    return PageResponse("system/jobs.html", values)


def wake_job(parts: SystemParts, request: PageRequest) -> PageResponse:
    if not parts.wake_job(request.owner_caller, request.get_field("name")):
        raise Missing("There is no such job any more: it is done.")
    return redirect(build_path(request.path, "started"))


def show_settings(parts: SystemParts, request: PageRequest) -> PageResponse:
    lines = parts.list_settings()
    only_changed = request.get_parameter("changed") == "1"
    values = {
        "lines": [line for line in lines if line.origin != "default"] if only_changed else lines,
        "only_changed": only_changed,
        "places": parts.find_places(),
        "keyring": parts.keyring_status(),
    }
    return PageResponse("system/settings.html", values)


def rotate_keyring(parts: SystemParts, request: PageRequest) -> PageResponse:
    parts.rotate_keyring(request.owner_caller)
    return redirect(build_path(request.path, "rotated"))


def show_health(parts: SystemParts, request: PageRequest) -> PageResponse:
    thorough = request.get_parameter("all") == "1"  # it takes seconds in a large house
    findings = parts.run_checks(thorough)
    groups = [(title, state, [each for each in findings if each.state == state]) for state, title in _GROUPS]
    try:
        status: dict[str, Any] = request.call("system", "status")
    except Refusal:  # the checks say why
        status = {}
    values = {"groups": [group for group in groups if group[2]], "sizes": status.get("sizes", {})}
    values["thorough"] = thorough
    return PageResponse("system/health.html", values)
