"""`/admin/backups`: make one, check it, take it along."""

from tokonoma.server.web.pages.request import Download, PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.system_parts import SystemParts


def show_backups(parts: SystemParts, request: PageRequest) -> PageResponse:
    values = {"backups": parts.list_backups(), "folder": parts.find_places()["backups"]}
    return PageResponse("system/backups.html", values)


def create_backup(parts: SystemParts, request: PageRequest) -> PageResponse:
    parts.create_backup(request.owner_caller, bool(request.get_field("files")))
    return redirect(build_path(request.path, "backed_up"))


def show_contents(parts: SystemParts, request: PageRequest) -> PageResponse:
    """Read the whole backup, and say what is in it."""
    name = request.get_parameter("name")
    values = {"name": name, "contents": parts.verify_backup(name), "folder": parts.find_places()["backups"]}
    return PageResponse("system/backup.html", values)


def download(parts: SystemParts, request: PageRequest) -> PageResponse:
    name = request.get_field("name")
    return PageResponse(download=Download(name, parts.find_backup(request.owner_caller, name)))
