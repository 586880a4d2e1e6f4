"""manual_excepts: the sentences that announce an exception."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import Ref, checked_id, checked_ref, ref_of
from tokonoma.modules.manual.cache import Library, library, missing_file

_ITEMS = 50  # a page
_AROUND = 60  # characters on each side


class Excepted(TypedDict):
    ref: Ref
    title: str
    words: list[str]
    snippet: str


class Exceptions(TypedDict):
    items: list[Excepted]
    total: int
    has_more: bool
    next_cursor: NotRequired[str]


def excepts(
    desk: Desk,
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    ref: Annotated[dict[str, Any] | None, Field(description="one file, or one section with start_line")] = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> Exceptions:
    """Sections with words of exception (ただし, 対象外, unless, not supported …), each with the first place."""
    held = library(desk)
    places = _places(held, manual_id, ref)
    excepted = held.stock.with_word(held.glossary(manual_id).exceptions)
    listed = [place for place in places if place in excepted]
    (start,) = cursors.decode("excepts", cursor) if cursor else (0,)
    items: list[Excepted] = []
    for place in listed[start : start + _ITEMS]:
        section, folded = held.stock.sections[place], held.stock.folded(place)
        words = sorted(excepted[place], key=folded.find)
        at = folded.find(words[0])
        items.append(
            {
                "ref": ref_of(section.manual, section.path, section.line),
                "title": section.title,
                "words": words[:10],
                "snippet": folded[max(0, at - _AROUND) : at + _AROUND],
            }
        )
    page: Exceptions = {"items": items, "total": len(listed), "has_more": start + _ITEMS < len(listed)}
    if page["has_more"]:
        page["next_cursor"] = cursors.encode("excepts", start + _ITEMS)
    return page


def _places(held: Library, manual_id: str | None, ref: dict[str, Any] | None) -> list[int]:
    if ref is None:
        return held.places(checked_id(manual_id) if manual_id is not None else None)
    manual, path, line = checked_ref(ref)
    sections = held.stock.sections
    places = [place for place in held.places(manual) if sections[place].path == path]
    if not places:
        raise missing_file(manual, path)
    if line is None:
        return places
    held_by = max((place for place in places if sections[place].line <= line), default=places[0])
    whole = sections[held_by]
    return [place for place in places if whole.line <= sections[place].line <= whole.end]
