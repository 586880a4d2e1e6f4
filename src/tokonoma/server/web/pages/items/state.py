"""`/admin/items/state`: the current state of the project, one text that agents read first, with its earlier
revisions."""

from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.server.web.pages.items.view import ITEMS, diff_texts, read_count, render_items, split_tags
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect

_HISTORY = 50


def show_state(request: PageRequest) -> PageResponse:
    return _render_state(request)


def save_state(request: PageRequest) -> PageResponse:
    expected = read_count(request.get_field("revision"), 10**9) or None
    try:
        request.call(
            "items",
            "update_current_state",
            content=request.get_field("content"),
            related=request.get_field("related").replace(",", " ").split(),
            tags=split_tags(request.get_field("tags")),
            expected_revision=expected,
        )
    except Conflict:
        problem = "This text was changed after you opened it. Nothing was saved yet."
        return _render_state(request, problem, 409)
    except (Invalid, Missing) as error:
        return _render_state(request, error.message, 400)
    return redirect(build_path(f"{ITEMS}/state", notice="saved"))


def _render_state(request: PageRequest, problem: str = "", status: int = 200) -> PageResponse:
    current = request.call("items", "get_current_state", history=_HISTORY)
    wanted = read_count(request.get_parameter("revision"), 10**9)
    earlier = request.call("items", "get_current_state", revision=wanted) if wanted else None
    typed = request.get_field("content") if problem else current["content"].replace("\r\n", "\n")
    metadata = current["metadata"]
    return render_items(
        request,
        "state.html",
        status=status,
        current=current,
        earlier=earlier,
        lines=diff_texts(earlier["content"], current["content"]) if earlier else [],
        content=typed,
        related=request.get_field("related") if problem else " ".join(metadata["related"]),
        tags=request.get_field("tags") if problem else ", ".join(metadata["tags"]),
        both=diff_texts(current["content"], typed) if status == 409 else [],
        problem=problem,
    )
