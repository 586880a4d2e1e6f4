"""New memos, and changes of memos: with a preview, and with both texts where someone else was faster."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from tokonoma.core.errors import Conflict, Denied, Invalid, Limited, Missing
from tokonoma.server.web.pages.memory.compare import compare_texts
from tokonoma.server.web.pages.memory.listing import list_namespaces
from tokonoma.server.web.pages.memory.memo import format_metadata, link_memo, name_other
from tokonoma.server.web.pages.memory.read import EVERYWHERE, read_memo
from tokonoma.server.web.pages.memory.shown import name_memo
from tokonoma.server.web.pages.memory.view import PATH
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_TEXTS = ("title", "content", "thread")
_DATES = ("date", "valid_from", "valid_until", "expires_at")
FIELDS = (*_TEXTS, *_DATES, "metadata", "namespace", "supersedes", "version")
_MASKED = re.compile(r"\[masked:[^\]\n]{1,60}\]")


def show_new(request: PageRequest) -> PageResponse:
    """The address may fill in fields: a note for a thread, or one that replaces another."""
    typed = {name: request.get_parameter(name) for name in FIELDS}
    return _show_editor(request, typed)


def save_new(request: PageRequest) -> PageResponse:
    typed = read_typed(request)
    if request.get_field("do") == "preview":
        return _show_editor(request, typed, preview=True)
    try:
        filled = {name: typed[name] for name in ("title", "thread", *_DATES) if typed[name]}
        saved = request.call(
            "memory",
            "save",
            content=typed["content"],
            namespace=typed["namespace"] or EVERYWHERE,
            metadata=parse_metadata(typed["metadata"]) or None,
            supersedes=typed["supersedes"] or None,
            **filled,
        )
    except (Invalid, Missing, Denied, Limited) as error:
        return _show_editor(request, typed, problem=error.message)
    path = build_path(link_memo(saved["memo_id"]), "saved")
    return redirect(path + "".join(f"&similar={each['memo_id']}" for each in saved.get("similar", ())))


def edit_memo(request: PageRequest) -> PageResponse:
    memo = read_memo(request, request.names["name"])
    return _show_editor(request, to_typed(memo), memo=memo)


def save_edited(request: PageRequest) -> PageResponse:
    typed, memo = read_typed(request), read_memo(request, request.names["name"])
    if request.get_field("do") == "preview":
        return _show_editor(request, typed, memo=memo, preview=True)
    try:
        version = _parse_version(typed["version"])
        if version != memo["version"]:
            return _show_conflict(request, typed, memo)
        changes = _list_changes(typed, to_typed(memo))
        if "content" in changes and _MASKED.search(memo["content"]) and not request.get_field("masked"):
            raise Invalid("Parts of this text are masked. If you save it, the masks replace what they hide.")
        if changes:
            request.call(
                "memory", "save", memo_id=memo["memo_id"], namespace=EVERYWHERE, expected_version=version, **changes
            )
    except Conflict:  # at this moment
        return _show_conflict(request, typed, read_memo(request, memo["memo_id"]))
    except (Invalid, Missing, Denied, Limited) as error:
        return _show_editor(request, typed, memo=memo, problem=error.message)
    return redirect(build_path(link_memo(memo["memo_id"]), "saved"))


def read_typed(request: PageRequest) -> dict[str, str]:
    typed = {name: request.get_field(name) for name in FIELDS}
    return {name: text if name == "content" else text.strip() for name, text in typed.items()}


def to_typed(memo: Mapping[str, Any]) -> dict[str, str]:
    """What the form of a stored memo holds."""
    typed = {name: str(memo.get(name, "")) for name in (*_TEXTS, *_DATES, "namespace")}
    typed["content"] = typed["content"].replace("\r\n", "\n")  # as a browser sends it back
    return {
        **typed,
        "metadata": format_metadata(memo["metadata"]),
        "version": str(memo["version"]),
        "supersedes": "",
    }


def parse_metadata(text: str) -> dict[str, Any]:
    """Invalid unless it is a JSON object; nothing is none."""
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Invalid("Metadata must be a JSON object, with its names in quotation marks.")
    return cast("dict[str, Any]", value)


def _list_changes(typed: Mapping[str, str], old: Mapping[str, str]) -> dict[str, Any]:
    """Only what was changed is sent: a text that is masked for this reader is not written back by accident."""
    changes: dict[str, Any] = {name: typed[name] for name in _TEXTS if typed[name] != old[name]}
    changes |= {name: typed[name] or "never" for name in _DATES if typed[name] != old[name]}
    metadata = parse_metadata(typed["metadata"])
    if metadata != parse_metadata(old["metadata"]):
        changes |= {"metadata": metadata, "metadata_mode": "replace"}
    return changes


def _parse_version(text: str) -> int:
    if not text.isdecimal():
        raise Invalid("Open the page again to see what is there now.")
    return int(text)


def _show_conflict(request: PageRequest, typed: dict[str, str], stored: dict[str, Any]) -> PageResponse:
    """Both texts side by side. The form now starts from the stored version: saving it again replaces that one."""
    theirs = to_typed(stored)
    return _show_editor(
        request,
        {**typed, "version": theirs["version"]},
        memo=stored,
        problem="Someone else has changed this memo since you opened it. Nothing of yours is lost.",
        stored=theirs,
        diff=compare_texts(theirs["content"], typed["content"]),
        status=409,
    )


def _show_editor(
    request: PageRequest,
    typed: Mapping[str, str],
    *,
    memo: dict[str, Any] | None = None,
    problem: str = "",
    preview: bool = False,
    stored: Mapping[str, str] | None = None,
    diff: object = None,
    status: int = 0,
) -> PageResponse:
    replaced = typed.get("supersedes", "")
    return PageResponse(
        "memory/editor.html",
        {
            "memo": memo,
            "name": name_memo(memo) if memo else "",
            "typed": typed,
            "here": link_memo(memo["memo_id"]) if memo else PATH,
            "action": f"{link_memo(memo['memo_id'])}/edit" if memo else f"{PATH}/new",
            "namespaces": [] if memo else [each["namespace"] for each in list_namespaces(request)["items"]],
            "replaced": name_other(request, replaced) if replaced else "",
            "is_masked": memo is not None and _MASKED.search(memo["content"]) is not None,
            "preview": typed["content"] if preview else "",
            "problem": problem,
            "stored": stored,
            "diff": diff,
        },
        status or (400 if problem else 200),
    )
