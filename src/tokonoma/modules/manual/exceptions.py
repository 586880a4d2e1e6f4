"""manual_excepts: sections with words of exception."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.modules.manual.model import ManualId, ManualRef, PageCursor, build_ref, cite_manuals, paginate, parse_ref
from tokonoma.modules.manual.sync import ManualLibrary, load_library

_PER_PAGE = 50
_CONTEXT_CHARS = 60  # on each side of an exception


class ExceptionHit(TypedDict):
    ref: ManualRef
    title: str
    words: list[str]
    snippet: str


class ExceptionHits(TypedDict):
    items: list[ExceptionHit]
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]


def list_exceptions(
    desk: Desk,
    manual_id: ManualId = None,
    ref: Annotated[dict[str, Any] | None, Field(description="one file, or one section with start_line")] = None,
    cursor: PageCursor = None,
) -> ExceptionHits:
    """List sections with words of exception (ただし, 対象外, unless, not supported …), each with its first match."""
    library = load_library(desk)
    positions = _find_positions(library, manual_id, ref)
    with_words = library.corpus.find_words(library.glossary(manual_id)[0].exceptions)
    listed = [position for position in positions if position in with_words]
    shown, fields = paginate(desk, "excepts", listed, cursor, _PER_PAGE)
    cite_manuals(desk)
    items: list[ExceptionHit] = []
    for position in shown:
        section, folded = library.corpus.sections[position], library.corpus.folded_text(position)
        words = sorted(with_words[position], key=folded.find)
        at, ref_here = folded.find(words[0]), build_ref(*section.key)
        snippet = folded[max(0, at - _CONTEXT_CHARS) : at + _CONTEXT_CHARS]
        items.append({"ref": ref_here, "title": section.title, "words": words[:10], "snippet": snippet})
    return {"items": items, **fields}


def _find_positions(library: ManualLibrary, manual_id: str | None, ref: dict[str, Any] | None) -> Sequence[int]:
    if ref is None:
        return library.positions(manual_id)
    manual, path, line = parse_ref(ref)
    positions, sections = library.positions(manual, path), library.corpus.sections
    if line is None:
        return positions
    position = max((each for each in positions if sections[each].line <= line), default=positions[0])
    first, last = sections[position].line, sections[position].end
    return [each for each in positions if first <= sections[each].line <= last]
