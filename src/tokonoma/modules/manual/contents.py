"""manual_toc: the headings of Markdown files and the parts of JSON files."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.files.backlog import IndexingProgress
from tokonoma.modules.manual.corpus import IndexedSection
from tokonoma.modules.manual.model import PageCursor, cite_manuals, is_json, paginate
from tokonoma.modules.manual.sync import load_library

_NODES_PER_PAGE = 300

NodeKind = Literal["heading", "json_file", "json_node"]


class TocNode(TypedDict):
    kind: NodeKind
    node_id: str
    path: str
    title: str
    level: int
    parent_id: str | None
    line_start: int
    line_end: int
    hash: Opaque
    json_path: NotRequired[str]


class TableOfContents(TypedDict):
    items: list[TocNode]
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]
    indexing: NotRequired[IndexingProgress]


def list_contents(
    desk: Desk,
    manual_id: str,
    path: Annotated[str | None, Field(description="one file")] = None,
    cursor: PageCursor = None,
) -> TableOfContents:
    """List the headings of a manual with their lines, and the parts of its JSON files."""
    library = load_library(desk, None if path is None else (manual_id, path))
    positions = library.positions(manual_id, path)
    shown, fields = paginate(desk, "toc", positions, cursor, _NODES_PER_PAGE)
    if path is None and (indexing := library.count_indexed(manual_id)) is not None:
        fields["indexing"] = indexing
    cite_manuals(desk)
    nodes = [_to_node(library.corpus.sections[position]) for position in shown]
    return {"items": nodes, **fields}


def _to_node(section: IndexedSection) -> TocNode:
    node: TocNode = {
        "kind": "heading",
        "node_id": f"{section.path}#L{section.line}",
        "path": section.path,
        "title": section.title,
        "level": section.level,
        "parent_id": None if section.parent is None else f"{section.path}#L{section.parent}",
        "line_start": section.line,
        "line_end": section.end,
        "hash": section.hash,
    }
    if is_json(section.path):
        node["kind"] = "json_file" if section.level == 0 else "json_node"
    if section.json_path:
        node["json_path"] = section.json_path
    return node
