"""The folders of the vault, its coverage, and its deleted files."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tokonoma.core.errors import Refusal
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.file_views import (
    CoverageStrip,
    build_missing_strip,
    build_strip,
    list_callers,
    read_coverage,
    read_number,
    say_reason,
    take_page,
)
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path
from tokonoma.server.web.pages.vault.common import VAULT, link_action, link_file, link_folder, list_crumbs

_STRIPS_PER_PAGE = 25


def show_folder(request: PageRequest) -> PageResponse:
    folder = request.get_parameter("dir").strip("/")
    cursor = request.get_parameter("cursor") or None
    listed = request.call("vault", "ls", relative_dir=folder or None, shallow=True, cursor=cursor)
    files = [
        {**each, "href": link_file(each["path"]), "why": say_reason(each.get("reason", ""))} for each in listed["items"]
    ]
    folders = [{**each, "href": link_folder(each["path"])} for each in listed["folders"]]
    following = listed.get("next_cursor")
    return PageResponse(
        "vault/folder.html",
        {
            "folder": folder,
            "crumbs": list_crumbs(folder),
            "folders": folders if cursor is None else [],
            "files": files,
            "total": listed["total"],
            "indexing": listed.get("indexing"),
            "left_out": [(say_reason(why), count) for why, count in listed.get("left_out_files", {}).items()],
            "more": build_path(VAULT, dir=folder, cursor=following) if following else "",
            "new": build_path(f"{VAULT}/new", at=f"{folder}/" if folder else ""),
            "coverage": build_path(f"{VAULT}/coverage", dir=folder),
        },
    )


def show_coverage(pages: PageParts, request: PageRequest) -> PageResponse:
    """Every file below a folder as a strip of its lines."""
    folder, start = request.get_parameter("dir").strip("/"), read_number(request, "start")
    ask = partial(request.call, "vault", "ls", relative_dir=folder or None)
    files, listed = take_page(ask, start, _STRIPS_PER_PAGE)
    here, following, earlier = f"{VAULT}/coverage", start + _STRIPS_PER_PAGE, start - _STRIPS_PER_PAGE
    caller = request.get_parameter("caller")
    return PageResponse(
        "vault/coverage.html",
        {
            "folder": folder,
            "crumbs": list_crumbs(f"{folder}/") if folder else [],
            "strips": [_build_file_strip(request, pages, each, caller) for each in files],
            "total": listed["total"],
            "indexing": listed.get("indexing"),
            "back": build_path(here, dir=folder, start=earlier or None, caller=caller) if earlier >= 0 else "",
            "more": build_path(here, dir=folder, start=following, caller=caller) if following < listed["total"] else "",
            "reader": caller,
            "callers": list_callers(request, pages, "vault"),
            "here": here,
        },
    )


def _build_file_strip(request: PageRequest, pages: PageParts, file: Mapping[str, Any], caller: str) -> CoverageStrip:
    path = file["path"]
    if file.get("reason"):
        return build_missing_strip(path, link_file(path), say_reason(file["reason"]))
    try:
        return build_strip(path, link_file(path), read_coverage(request, pages, "vault", caller, path=path))
    except Refusal as error:  # it was deleted or changed a moment ago
        return build_missing_strip(path, link_file(path), error.message)


def show_trash(request: PageRequest) -> PageResponse:
    """Files that were deleted through Tokonoma, with the version that can be restored."""
    listed = request.call("vault", "history", cursor=request.get_parameter("cursor") or None)
    files = [
        {**each, "restore": build_path(link_action("restore", each["path"]), version=each["previous_version"])}
        for each in listed["items"]
    ]
    following = listed.get("next_cursor")
    more = build_path(f"{VAULT}/trash", cursor=following) if following else ""
    return PageResponse("vault/trash.html", {"files": files, "more": more})
