"""`/admin/memory/threads`: the conversations and documents that memos belong to, last changed first."""

from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.server.web.pages.memory.view import PATH
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path

_PAGE = 50


def show_threads(request: PageRequest) -> PageResponse:
    namespace, cursor = request.get_parameter("namespace").strip(), request.get_parameter("cursor")
    values: dict[str, Any] = {"namespace": namespace, "threads": [], "next": "", "problem": ""}
    try:
        found = request.call("memory", "threads", namespace=namespace or "/", limit=_PAGE, cursor=cursor or None)
    except Invalid as error:
        return PageResponse("memory/threads.html", {**values, "problem": error.message}, 400)
    values["threads"] = [
        {**each, "href": build_path(PATH, thread=each["thread"], namespace=namespace)} for each in found["items"]
    ]
    if found["has_more"]:
        values["next"] = build_path(request.path, namespace=namespace, cursor=found["next_cursor"])
    return PageResponse("memory/threads.html", values)
