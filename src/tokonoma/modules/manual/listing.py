"""manual_list, manual_ls, manual_toc: what there is, without its text."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import require_manual_id
from tokonoma.modules.manual.cache import load_library, manual_file_missing_error, manual_missing_error
from tokonoma.modules.manual.index import GLOSSARY_FILE, SETTINGS_FILE, ManualsOnDisk

_FILES_PER_PAGE = 200  # a page
_NODES_PER_PAGE = 300

PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]


class Manual(TypedDict):
    manual_id: str
    title: NotRequired[str]
    files: int
    sections: int
    problems: NotRequired[list[str]]


class ManualList(TypedDict):
    items: list[Manual]
    total: int
    has_more: bool


class ManualFile(TypedDict):
    manual_id: str
    path: str
    kind: Literal["md", "json"]
    characters: int
    lines: int
    problem: NotRequired[str]


class ManualFiles(TypedDict):
    items: list[ManualFile]
    total: int
    has_more: bool
    next_cursor: NotRequired[str]


class TocNode(TypedDict):
    kind: Literal["heading", "json_file"]
    node_id: str
    path: str
    title: str
    level: int
    parent_id: str | None
    line_start: int
    line_end: int


class TableOfContents(TypedDict):
    items: list[TocNode]
    total: int
    has_more: bool
    next_cursor: NotRequired[str]


def list_manuals(desk: Desk) -> ManualList:
    """The manuals by id: each is a folder of .md and .json files."""
    held = load_library(desk)
    sections: dict[str, int] = {}
    for manual in held.visible:
        sections[manual] = len(held.positions(manual))
    items: list[Manual] = []
    for manual, paths in sorted(held.visible.items()):
        item: Manual = {"manual_id": manual, "files": len(paths), "sections": sections[manual]}
        about = held.on_disk.settings.get(manual)
        if about is not None and about.title:
            item["title"] = about.title
        if problems := _settings_problems(held.on_disk, manual):
            item["problems"] = problems
        items.append(item)
    return {"items": items, "total": len(items), "has_more": False}


def _settings_problems(shelved: ManualsOnDisk, manual: str) -> list[str]:
    """What its owner wrote beside the files, and does not count."""
    beside = {SETTINGS_FILE: shelved.settings.get(manual), GLOSSARY_FILE: shelved.glossaries.get(manual)}
    return [f"{name}: {found.problem}" for name, found in beside.items() if found is not None and found.problem]


def list_manual_files(
    desk: Desk,
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    cursor: PageCursor = None,
) -> ManualFiles:
    """The files of a manual, in order of path."""
    held = load_library(desk)
    if manual_id is not None and require_manual_id(manual_id) not in held.visible:
        raise manual_missing_error(manual_id, held.visible)
    after = tuple(cursors.decode("files", cursor)) if cursor else ("", "")
    rows = [
        row for row in desk.rows(_FILES_SQL) if row[1] in held.visible.get(row[0], ()) and manual_id in (None, row[0])
    ]
    left = [row for row in rows if (row[0], row[1]) > after]
    items: list[ManualFile] = []
    for manual, path, kind, size, lines, problem in left[:_FILES_PER_PAGE]:
        item: ManualFile = {"manual_id": manual, "path": path, "kind": kind, "characters": size, "lines": lines}
        if problem:
            item["problem"] = problem
        items.append(item)
    page: ManualFiles = {"items": items, "total": len(rows), "has_more": len(left) > _FILES_PER_PAGE}
    if len(left) > _FILES_PER_PAGE:
        page["next_cursor"] = cursors.encode("files", left[_FILES_PER_PAGE - 1][0], left[_FILES_PER_PAGE - 1][1])
    return page


_FILES_SQL = "select manual, path, kind, size, lines, problem from manual_file order by manual, path"


def list_contents(
    desk: Desk,
    manual_id: str,
    path: Annotated[str | None, Field(description="one file")] = None,
    cursor: PageCursor = None,
) -> TableOfContents:
    """The headings of a manual with their lines; a JSON file is one node."""
    held = load_library(desk)
    places = held.positions(require_manual_id(manual_id))
    if path is not None:
        places = held.visible[manual_id].get(path, [])
        if not places:
            raise manual_file_missing_error(manual_id, path)
    (start,) = cursors.decode("toc", cursor) if cursor else (0,)
    nodes: list[TocNode] = []
    for place in places[start : start + _NODES_PER_PAGE]:
        section = held.corpus.sections[place]
        nodes.append(
            {
                "kind": "json_file" if section.path.lower().endswith(".json") else "heading",
                "node_id": f"{section.path}#L{section.line}",
                "path": section.path,
                "title": section.title,
                "level": section.level,
                "parent_id": None if section.parent is None else f"{section.path}#L{section.parent}",
                "line_start": section.line,
                "line_end": section.end,
            }
        )
    page: TableOfContents = {"items": nodes, "total": len(places), "has_more": start + _NODES_PER_PAGE < len(places)}
    if page["has_more"]:
        page["next_cursor"] = cursors.encode("toc", start + _NODES_PER_PAGE)
    return page
