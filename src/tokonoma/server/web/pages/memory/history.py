"""The versions of a memo: who made them and when, what lies between any two, and going back to one."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Conflict, Invalid
from tokonoma.server.web.pages.memory.compare import DiffLine, compare_texts
from tokonoma.server.web.pages.memory.memo import format_metadata, link_memo
from tokonoma.server.web.pages.memory.read import EVERYWHERE, read_version
from tokonoma.server.web.pages.memory.shown import complete, name_memo
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_PAGE = 50
_ABOVE = ("title", "namespace", "thread", "date", "valid_from", "valid_until", "expires_at", "deleted_at")


def show_history(request: PageRequest) -> PageResponse:
    memo_id = request.names["name"]
    history = _list_versions(request, memo_id)
    newest = complete(request.call("memory", "history", memo_id=memo_id, limit=1)["items"][0])
    chosen = _read_number(request, "version")
    new, old = _read_number(request, "new"), _read_number(request, "old")
    if new and old:
        new, old = max(new, old), min(new, old)
    return PageResponse(
        "memory/history.html",
        {
            "memo_id": memo_id,
            "name": name_memo({"memo_id": memo_id, **newest}),
            "newest": newest,
            "versions": [complete(each) for each in history["items"]],
            "here": link_memo(memo_id),
            "chosen": complete(read_version(request, memo_id, chosen)) if chosen else None,
            "old": old,
            "new": new,
            "diff": _compare(request, memo_id, old, new) if old and new else None,
            "next": _link_next(memo_id, history),
            "problem": "",
        },
    )


def restore_version(request: PageRequest) -> PageResponse:
    """With a version: a new one with its content. Without: the memo comes back from the trash."""
    memo_id, version = request.names["name"], request.get_field("version")
    expected = request.get_field("expected")
    if not (version.isdecimal() or not version) or not expected.isdecimal():
        raise Invalid("Open the page again to see what is there now.")
    try:
        request.call(
            "memory",
            "restore",
            memo_id=memo_id,
            namespace=EVERYWHERE,
            version=int(version) if version else None,
            expected_version=int(expected),
        )
    except Conflict:
        raise Conflict("The memo has a newer version. Nothing was restored.") from None
    return redirect(build_path(link_memo(memo_id), "restored"))


def _list_versions(request: PageRequest, memo_id: str) -> dict[str, Any]:
    cursor = request.get_parameter("cursor") or None
    return request.call("memory", "history", memo_id=memo_id, limit=_PAGE, cursor=cursor)


def _link_next(memo_id: str, history: Mapping[str, Any]) -> str:
    cursor = history.get("next_cursor")
    return build_path(f"{link_memo(memo_id)}/history", cursor=cursor) if cursor else ""


def _read_number(request: PageRequest, name: str) -> int:
    text = request.get_parameter(name)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _compare(request: PageRequest, memo_id: str, old: int, new: int) -> list[DiffLine]:
    return compare_texts(*(_render(read_version(request, memo_id, each)) for each in (old, new)))


def _render(version: Mapping[str, Any]) -> str:
    """Everything that a version holds, as text: the fields above the content, each in one line."""
    lines = [f"{name}: {version[name]}" for name in _ABOVE if version.get(name)]
    if replaced := version.get("supersedes"):
        lines.append(f"supersedes: {' '.join(replaced)}")
    if metadata := format_metadata(version["metadata"]):
        lines += ["metadata:", *(f"  {line}" for line in metadata.splitlines())]
    return "\n".join([*lines, "", version["content"]])
