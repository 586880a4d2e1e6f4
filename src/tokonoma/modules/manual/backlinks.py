"""manual_backlinks: which sections link to a page or to a section of it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.files.links import TextLink, find_links, list_link_lines
from tokonoma.files.pages import link_names
from tokonoma.files.text import section_text
from tokonoma.modules.manual.model import (
    ManualFileKey,
    ManualRef,
    PageCursor,
    PageFields,
    build_ref,
    cite_manuals,
    paginate,
    parse_ref,
)
from tokonoma.modules.manual.references import resolve_reference
from tokonoma.modules.manual.refs import mask_file
from tokonoma.modules.manual.source_file import SourceFile, open_source_file
from tokonoma.modules.manual.sync import ManualLibrary, load_library
from tokonoma.modules.manual.terms import SectionReference

_SECTIONS_PER_PAGE = 50


class ManualLinkLine(TypedDict):
    line: int
    text: str


class ManualBacklink(TypedDict):
    ref: ManualRef
    title: str
    lines: list[ManualLinkLine]


class ManualBacklinks(PageFields):
    items: list[ManualBacklink]


def list_backlinks(
    desk: Desk,
    ref: Annotated[dict[str, Any], Field(description="{manual_id, path}; with start_line: links to that section only")],
    cursor: PageCursor = None,
) -> ManualBacklinks:
    """List the sections of a manual that link to a page or a section, with the lines of the links."""
    manual, path, line = parse_ref(ref)
    library = load_library(desk)
    targets = find_targets(library, manual, path, line)
    referring = [
        position
        for position in library.positions(manual)
        if _may_link(library, position, path)
        and any(_leads_to(library, position, each, targets) for each in library.corpus.references(position))
    ]
    shown, fields = paginate(desk, "backlinks", referring, cursor, _SECTIONS_PER_PAGE)
    cite_manuals(desk)
    return {"items": list(_read_links(desk, library, shown, targets)), **fields}


def find_targets(library: ManualLibrary, manual: str, path: str, line: int | None) -> frozenset[int]:
    """All sections of the page, or the one that the line is in."""
    positions = library.positions(manual, path)
    if line is None:
        return frozenset(positions)
    above = [each for each in positions if library.corpus.sections[each].line <= line]
    return frozenset(above[-1:] or positions[:1])


def _may_link(library: ManualLibrary, position: int, path: str) -> bool:
    is_inside = library.corpus.sections[position].path == path  # a link inside the page does not name it
    return is_inside or any(library.corpus.may_refer(position, name) for name in link_names(path))


def _leads_to(
    library: ManualLibrary, position: int, reference: SectionReference | TextLink, targets: frozenset[int]
) -> bool:
    """Links inside of what is asked for do not count."""
    if position in targets or reference.kind in ("name", "picture"):
        return False
    return not targets.isdisjoint(resolve_reference(library, library.corpus.sections[position], reference))


def _read_links(
    desk: Desk, library: ManualLibrary, positions: Sequence[int], targets: frozenset[int]
) -> Iterator[ManualBacklink]:
    """The lines of the links, as this caller may see them."""
    files: dict[ManualFileKey, SourceFile | None] = {}
    for position in positions:
        section = library.corpus.sections[position]
        if section.file not in files:
            files[section.file] = _open_masked(desk, library, section.file)
        file = files[section.file]
        own = section_text(file.lines, file.section_at(section.line)) if file is not None else ""
        links = [each for each in find_links(own) if _leads_to(library, position, each, targets)]
        if links:
            lines = list_link_lines(own, links, section.line)
            shown: list[ManualLinkLine] = [{"line": number, "text": text} for number, text in lines]
            yield {"ref": build_ref(*section.key), "title": section.title, "lines": shown}


def _open_masked(desk: Desk, library: ManualLibrary, file: ManualFileKey) -> SourceFile | None:
    try:
        whole = open_source_file(desk.server.locations()["manuals"], *file)
    except Refusal:  # it is gone
        return None
    return mask_file(desk, library, *file, whole)
