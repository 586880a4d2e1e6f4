"""What is done to several memos at once: into another namespace, into the trash, out of it. First the form of a list
asks, then a page says what will happen, then it is done."""

from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal
from tokonoma.server.web.pages.memory.listing import list_namespaces
from tokonoma.server.web.pages.memory.memo import name_other
from tokonoma.server.web.pages.memory.read import EVERYWHERE
from tokonoma.server.web.pages.memory.view import PATH
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_MOST = 100  # what memory.move takes at once
_DOES = ("move", "trash", "merge", "restore")
_NOTICES = {"move": "moved", "trash": "trashed", "restore": "restored"}


def change_memos(request: PageRequest) -> PageResponse:
    do, ids = request.get_field("do"), list(dict.fromkeys(request.list_field("id")))[:_MOST]
    back = _check_back(request.get_field("back"))
    if do not in _DOES:
        raise Invalid("This page cannot be asked for in this way.")
    if not ids:
        return redirect(_add_notice(back, "none_chosen"))
    if do == "merge":
        return redirect(f"{PATH}/merge?" + "&".join(f"id={each}" for each in ids if each.isascii()))
    if do != "restore" and not request.get_field("confirmed"):
        return _ask(request, do, ids, back)
    problems = _move(request, ids) if do == "move" else _change_each(request, do, ids)
    if problems:
        return _ask(request, do, [each for each, _ in problems], back, [text for _, text in problems])
    return redirect(_add_notice(back, _NOTICES[do]))


def _ask(request: PageRequest, do: str, ids: list[str], back: str, problems: list[str] | None = None) -> PageResponse:
    values: dict[str, Any] = {
        "do": do,
        "chosen": [(each, name_other(request, each)) for each in ids],
        "namespaces": [each["namespace"] for each in list_namespaces(request)["items"]] if do == "move" else [],
        "to": request.get_field("to"),
        "back": back,
        "problems": problems or [],
    }
    return PageResponse("memory/bulk.html", values, 400 if problems else 200)


def _move(request: PageRequest, ids: list[str]) -> list[tuple[str, str]]:
    """All or none. What is wrong, for each memo that was not moved."""
    to = request.get_field("to").strip()
    try:
        if not to:
            raise Invalid("Give the namespace that they move to.")
        request.call("memory", "move", memo_ids=ids, to=to if to.startswith("/") else f"/{to}")
    except (Invalid, Missing, Conflict) as error:
        return [(each, error.message if number == 0 else "") for number, each in enumerate(ids)]
    return []


def _change_each(request: PageRequest, do: str, ids: list[str]) -> list[tuple[str, str]]:
    """One call for each: what one refuses does not keep the others."""
    tool = "delete" if do == "trash" else "restore"
    problems: list[tuple[str, str]] = []
    for memo_id in ids:
        try:
            request.call("memory", tool, memo_id=memo_id, namespace=EVERYWHERE)
        except Refusal as error:
            if error.kind not in ("invalid", "missing", "conflict", "denied"):
                raise
            problems.append((memo_id, error.message))
    return problems


def _check_back(path: str) -> str:
    """Only a list of memos: the browser would follow `//host` to another site."""
    is_list = path == PATH or path.startswith((f"{PATH}?", f"{PATH}/"))
    return path if is_list and path.isascii() and path.isprintable() else PATH


def _add_notice(path: str, notice: str) -> str:
    plain, _, query = path.partition("?")
    kept = "&".join(each for each in query.split("&") if each and not each.startswith("notice="))
    return f"{plain}?{kept}&notice={notice}" if kept else build_path(plain, notice)
