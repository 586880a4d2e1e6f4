"""Whole memos and versions: the tools return long contents in parts."""

from typing import Any

from tokonoma.core.errors import Conflict, Missing
from tokonoma.server.web.pages.request import PageRequest

PART = 100_000  # characters: the most that memory.get and memory.history return at once
EVERYWHERE = "/"  # the root of what this reader may see


def read_memo(request: PageRequest, memo_id: str) -> dict[str, Any]:
    """A memo that is not in the trash, with its whole content. Missing."""
    memo = _get_part(request, memo_id, 0)
    while memo.pop("content_truncated", False):
        more = _get_part(request, memo_id, len(memo["content"]))
        if more["version"] != memo["version"] or not more["content"]:
            raise Conflict("The memo was changed while it was read. Open the page again.")
        memo["content"] += more["content"]
        if more.get("content_truncated"):
            memo["content_truncated"] = True
    return memo


def find_memo(request: PageRequest, memo_id: str) -> dict[str, Any] | None:
    """The same; None if this reader has no such memo."""
    try:
        return read_memo(request, memo_id)
    except Missing:
        return None


def read_version(request: PageRequest, memo_id: str, version: int) -> dict[str, Any]:
    """An earlier or the present version, with its whole content; also of a memo in the trash. Missing."""
    found, offset = dict[str, Any](), 0
    while not found or found.pop("content_truncated", False):
        answer = request.call("memory", "history", memo_id=memo_id, version=version, offset=offset)
        part = answer["items"][0]
        found = {**part, "content": found.get("content", "") + part["content"]}
        offset += PART
    return found


def _get_part(request: PageRequest, memo_id: str, offset: int) -> dict[str, Any]:
    return request.call("memory", "get", memo_id=memo_id, namespace=EVERYWHERE, offset=offset, max_characters=PART)
