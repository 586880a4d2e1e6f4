"""What the forms of a memo's page change: its relations, and what it replaces."""

from tokonoma.core.errors import Conflict, Denied, Invalid, Limited, Missing, Refusal
from tokonoma.server.web.pages.memory.memo import link_memo, show_current
from tokonoma.server.web.pages.memory.read import EVERYWHERE
from tokonoma.server.web.pages.memory.view import parse_memo_id
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_TYPED = ("target", "tag", "weight", "reason", "direction", "replaced")


def change_relations(request: PageRequest) -> PageResponse:
    memo_id = request.names["name"]
    notice = "saved"
    try:
        match request.get_field("do"):
            case "add":
                _add_relation(request, memo_id)
            case "remove":
                _remove_relation(request)
                notice = "deleted"
            case "replace":
                _mark_replaced(request, memo_id)
            case "unmark":
                request.call("memory", "save", memo_id=memo_id, namespace=EVERYWHERE, supersedes=[])
            case _:
                raise Invalid("This page cannot be asked for in this way.")
    except (Invalid, Missing, Conflict, Denied, Limited) as error:
        return _show_again(request, memo_id, error)
    return redirect(build_path(link_memo(memo_id), notice))


def _show_again(request: PageRequest, memo_id: str, error: Refusal) -> PageResponse:
    typed = {name: request.get_field(name) for name in _TYPED}
    return show_current(request, memo_id, problem=error.message, typed=typed)


def _add_relation(request: PageRequest, memo_id: str) -> None:
    other = parse_memo_id(request.get_field("target"))
    if not other:
        raise Invalid("Give the id or the address of the other memo.")
    source, target = (other, memo_id) if request.get_field("direction") == "from" else (memo_id, other)
    request.call(
        "memory",
        "relation.save",
        sourceMemoId=source,
        targetMemoId=target,
        tag=request.get_field("tag").strip(),
        namespace=find_common_namespace(request, memo_id, other),
        weight=_parse_weight(request.get_field("weight")),
        reason=request.get_field("reason") or None,
    )


def _remove_relation(request: PageRequest) -> None:
    request.call(
        "memory",
        "relation.delete",
        sourceMemoId=request.get_field("source"),
        targetMemoId=request.get_field("target"),
        tag=request.get_field("tag"),
        namespace=request.get_field("namespace"),
    )


def _mark_replaced(request: PageRequest, memo_id: str) -> None:
    older = parse_memo_id(request.get_field("replaced"))
    if not older:
        raise Invalid("Give the id or the address of the other memo.")
    request.call("memory", "save", memo_id=memo_id, namespace=EVERYWHERE, supersedes=older)


def _parse_weight(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise Invalid("The weight is a number from 0 to 1.") from None


def find_common_namespace(request: PageRequest, one: str, other: str) -> str:
    """The nearest namespace that holds both: a relation lies there."""
    places = [
        request.call("memory", "get", memo_id=each, namespace=EVERYWHERE, max_characters=1)["namespace"]
        for each in (one, other)
    ]
    first, second = ([part for part in place.split("/") if part] for place in places)
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    return "/" + "/".join(first[:shared])
