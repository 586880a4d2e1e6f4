"""manual_list, manual_ls, manual_toc: what there is, without its text."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import checked_id
from tokonoma.modules.manual.cache import library, missing_file, missing_manual
from tokonoma.modules.manual.index import ABOUT, GLOSSARY, Shelved

_FILES = 200  # a page
_NODES = 300

Page = Annotated[str | None, Field(description="next_cursor of the page before")]


class Manual(TypedDict):
    manual_id: str
    title: NotRequired[str]
    files: int
    sections: int
    problems: NotRequired[list[str]]


class Manuals(TypedDict):
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


class Node(TypedDict):
    kind: Literal["heading", "json_file"]
    node_id: str
    path: str
    title: str
    level: int
    parent_id: str | None
    line_start: int
    line_end: int


class Contents(TypedDict):
    items: list[Node]
    total: int
    has_more: bool
    next_cursor: NotRequired[str]


def list_manuals(desk: Desk) -> Manuals:
    """The manuals by id: each is a folder of .md and .json files."""
    held = library(desk)
    sections: dict[str, int] = {}
    for manual in held.seen:
        sections[manual] = len(held.places(manual))
    items: list[Manual] = []
    for manual, paths in sorted(held.seen.items()):
        item: Manual = {"manual_id": manual, "files": len(paths), "sections": sections[manual]}
        about = held.shelved.abouts.get(manual)
        if about is not None and about.title:
            item["title"] = about.title
        if problems := _problems(held.shelved, manual):
            item["problems"] = problems
        items.append(item)
    return {"items": items, "total": len(items), "has_more": False}


def _problems(shelved: Shelved, manual: str) -> list[str]:
    """What its owner wrote beside the files, and does not count."""
    beside = {ABOUT: shelved.abouts.get(manual), GLOSSARY: shelved.glossaries.get(manual)}
    return [f"{name}: {found.problem}" for name, found in beside.items() if found is not None and found.problem]


def ls(
    desk: Desk,
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    cursor: Page = None,
) -> ManualFiles:
    """The files of a manual, in order of path."""
    held = library(desk)
    if manual_id is not None and checked_id(manual_id) not in held.seen:
        raise missing_manual(manual_id, held.seen)
    after = tuple(cursors.decode("files", cursor)) if cursor else ("", "")
    rows = [row for row in desk.rows(_FILES_SQL) if row[1] in held.seen.get(row[0], ()) and manual_id in (None, row[0])]
    left = [row for row in rows if (row[0], row[1]) > after]
    items: list[ManualFile] = []
    for manual, path, kind, size, lines, problem in left[:_FILES]:
        item: ManualFile = {"manual_id": manual, "path": path, "kind": kind, "characters": size, "lines": lines}
        if problem:
            item["problem"] = problem
        items.append(item)
    page: ManualFiles = {"items": items, "total": len(rows), "has_more": len(left) > _FILES}
    if len(left) > _FILES:
        page["next_cursor"] = cursors.encode("files", left[_FILES - 1][0], left[_FILES - 1][1])
    return page


_FILES_SQL = "select manual, path, kind, size, lines, problem from manual_file order by manual, path"


def toc(
    desk: Desk,
    manual_id: str,
    path: Annotated[str | None, Field(description="one file")] = None,
    cursor: Page = None,
) -> Contents:
    """The headings of a manual with their lines; a JSON file is one node."""
    held = library(desk)
    places = held.places(checked_id(manual_id))
    if path is not None:
        places = held.seen[manual_id].get(path, [])
        if not places:
            raise missing_file(manual_id, path)
    (start,) = cursors.decode("toc", cursor) if cursor else (0,)
    nodes: list[Node] = []
    for place in places[start : start + _NODES]:
        section = held.stock.sections[place]
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
    page: Contents = {"items": nodes, "total": len(places), "has_more": start + _NODES < len(places)}
    if page["has_more"]:
        page["next_cursor"] = cursors.encode("toc", start + _NODES)
    return page
