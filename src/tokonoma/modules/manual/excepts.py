"""manual_excepts: the sentences that announce an exception."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import ManualRef, build_ref, parse_ref, require_manual_id
from tokonoma.modules.manual.cache import ManualLibrary, load_library, manual_file_missing_error

_HITS_PER_PAGE = 50  # a page
_CONTEXT_CHARS = 60  # characters on each side


class ExceptionHit(TypedDict):
    ref: ManualRef
    title: str
    words: list[str]
    snippet: str


class ExceptionHits(TypedDict):
    items: list[ExceptionHit]
    total: int
    has_more: bool
    next_cursor: NotRequired[str]


def list_exceptions(
    desk: Desk,
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    ref: Annotated[dict[str, Any] | None, Field(description="one file, or one section with start_line")] = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> ExceptionHits:
    """Sections with words of exception (ただし, 対象外, unless, not supported …), each with the first place."""
    held = load_library(desk)
    places = _find_positions(held, manual_id, ref)
    excepted = held.corpus.find_words(held.glossary(manual_id).exceptions)
    listed = [place for place in places if place in excepted]
    (start,) = cursors.decode("excepts", cursor) if cursor else (0,)
    items: list[ExceptionHit] = []
    for place in listed[start : start + _HITS_PER_PAGE]:
        section, folded = held.corpus.sections[place], held.corpus.folded_text(place)
        words = sorted(excepted[place], key=folded.find)
        at = folded.find(words[0])
        items.append(
            {
                "ref": build_ref(section.manual, section.path, section.line),
                "title": section.title,
                "words": words[:10],
                "snippet": folded[max(0, at - _CONTEXT_CHARS) : at + _CONTEXT_CHARS],
            }
        )
    page: ExceptionHits = {"items": items, "total": len(listed), "has_more": start + _HITS_PER_PAGE < len(listed)}
    if page["has_more"]:
        page["next_cursor"] = cursors.encode("excepts", start + _HITS_PER_PAGE)
    return page


def _find_positions(held: ManualLibrary, manual_id: str | None, ref: dict[str, Any] | None) -> list[int]:
    if ref is None:
        return held.positions(require_manual_id(manual_id) if manual_id is not None else None)
    manual, path, line = parse_ref(ref)
    sections = held.corpus.sections
    places = [place for place in held.positions(manual) if sections[place].path == path]
    if not places:
        raise manual_file_missing_error(manual, path)
    if line is None:
        return places
    held_by = max((place for place in places if sections[place].line <= line), default=places[0])
    whole = sections[held_by]
    return [place for place in places if whole.line <= sections[place].line <= whole.end]
