"""manual_list, manual_ls, manual_toc, manual_read, manual_excepts: what the manuals contain, and parts of their text.

Reading starts with a little and never exceeds the limits.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.files.text import take_lines
from tokonoma.modules.manual.hits import record_use
from tokonoma.modules.manual.hooks import SourceFile, open_source_file
from tokonoma.modules.manual.model import (
    ManualId,
    ManualRef,
    PageCursor,
    build_ref,
    cite_manuals,
    paginate,
    parse_ref,
    section_address,
)
from tokonoma.modules.manual.sync import GLOSSARY_FILE, SETTINGS_FILE, ManualLibrary, load_library

_FILES_PER_PAGE, _NODES_PER_PAGE = 200, 300
_SNIPPET_CHARS = 600
_MAX_CHARS, _MAX_SECTIONS = 20_000, 20
_SELECT_FILES = "select manual, path, kind, size, lines, problem from manual_file order by manual, path"

ReadScope = Literal["snippet", "section", "sections", "file"]
TruncatedReason = Literal["max_chars", "max_sections", "snippet"]


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
    next_cursor: NotRequired[Opaque]


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
    next_cursor: NotRequired[Opaque]


class ManualReadLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=_MAX_CHARS)]]
    max_sections: NotRequired[Annotated[int, Field(ge=1, le=_MAX_SECTIONS)]]
    allow_file: NotRequired[bool]


class ManualText(TypedDict):
    ref: ManualRef
    title: str
    scope: ReadScope
    start_line: int
    end_line: int
    text: str
    truncated: bool
    truncated_reason: NotRequired[TruncatedReason]
    next_start_line: NotRequired[int]


def list_manuals(desk: Desk) -> ManualList:
    """List the manuals; each is a folder of .md and .json files."""
    library = load_library(desk)
    items: list[Manual] = []
    for manual, paths in sorted(library.visible.items()):
        settings, glossary = library.on_disk.settings.get(manual), library.on_disk.glossaries.get(manual)
        item: Manual = {"manual_id": manual, "files": len(paths), "sections": len(library.positions(manual))}
        if settings is not None and settings.title:
            item["title"] = settings.title
        ignored = {SETTINGS_FILE: settings, GLOSSARY_FILE: glossary}
        problems = [f"{name}: {file.problem}" for name, file in ignored.items() if file is not None and file.problem]
        if problems:
            item["problems"] = problems
        items.append(item)
    return {"items": items, "total": len(items), "has_more": False}


def list_manual_files(desk: Desk, manual_id: ManualId = None, cursor: PageCursor = None) -> ManualFiles:
    """List the files of a manual, in order of path."""
    library = load_library(desk)
    files = {library.corpus.sections[position].file for position in library.positions(manual_id)}
    after = tuple(desk.open_cursor("files", cursor)) if cursor else ("", "")
    rows = [row for row in desk.rows(_SELECT_FILES) if row[:2] in files]
    rest = [row for row in rows if (row[0], row[1]) > after]
    items: list[ManualFile] = []
    for manual, path, kind, size, lines, problem in rest[:_FILES_PER_PAGE]:
        item: ManualFile = {"manual_id": manual, "path": path, "kind": kind, "characters": size, "lines": lines}
        if problem:
            item["problem"] = problem
        items.append(item)
    page: ManualFiles = {"items": items, "total": len(rows), "has_more": len(rest) > _FILES_PER_PAGE}
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("files", *rest[_FILES_PER_PAGE - 1][:2])
    return page


def list_contents(
    desk: Desk,
    manual_id: str,
    path: Annotated[str | None, Field(description="one file")] = None,
    cursor: PageCursor = None,
) -> TableOfContents:
    """List the headings of a manual with their lines; a JSON file is one node."""
    library = load_library(desk)
    positions = library.positions(manual_id, path)
    shown, fields = paginate(desk, "toc", positions, cursor, _NODES_PER_PAGE)
    cite_manuals(desk)
    nodes: list[TocNode] = [
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
        for section in map(library.corpus.sections.__getitem__, shown)
    ]
    return {"items": nodes, **fields}


def read(
    desk: Desk,
    ref: Annotated[dict[str, Any], Field(description="from manual_hits: {manual_id, path, start_line}")],
    scope: Annotated[ReadScope | None, Field(description="default: snippet for .md, file for .json")] = None,
    limits: Annotated[ManualReadLimits | None, Field(description="default: max_chars 8000, max_sections 20")] = None,
    expand: Annotated[bool, Field(description="false: a section without its subsections")] = True,
    trace_id: Annotated[str | None, Field(description="of the search that led here")] = None,
) -> ManualText:
    """Read a part of a manual: a snippet, a section, several sections from there on, or a file."""
    manual, path, line = parse_ref(ref)
    library = load_library(desk)
    visible = [library.corpus.sections[position].line for position in library.positions(manual, path)]
    whole = open_source_file(desk.server.locations()["manuals"], manual, path)
    file = _hide_sections(mask_file(desk, library, manual, path, whole), visible)
    if line is not None and line > max(1, len(file.lines)):
        raise Invalid(f"{path} has {len(file.lines)} lines; start_line is {line}.", field="ref")
    is_json = path.lower().endswith(".json")
    chosen = scope or ("file" if is_json else "snippet")
    settings = library.on_disk.settings.get(manual)
    allow_file = bool((limits or {}).get("allow_file")) and settings is not None and settings.allow_file
    _check_scope(chosen, is_json, allow_file)
    cite_manuals(desk)
    text = _build_text(file, build_ref(manual, path), line or 1, chosen, limits or {}, expand)
    if trace_id is not None:
        record_use(desk, trace_id, (manual, path, file.section_at(line or 1).line))
    return text


def mask_file(desk: Desk, library: ManualLibrary, manual: str, path: str, file: SourceFile) -> SourceFile:
    """The file without what this caller may not see."""
    address, namespace = section_address(manual, path), library.on_disk.namespace_of(manual)
    return file.mask(lambda text: desk.policy.mask_text(text, address, namespace))


def _hide_sections(file: SourceFile, visible: Collection[int]) -> SourceFile:
    """The file as this caller may see it: lines of hidden sections become empty, without a trace. `visible` are the
    first lines of sections."""
    lines = list(file.lines)
    for section in file.sections:
        if section.line not in visible:
            lines[section.line - 1 : section.own_end] = [""] * (section.own_end - section.line + 1)
    return SourceFile(
        "".join(lines), lines, [section for section in file.sections if section.line in visible] or file.sections[:1]
    )


def _check_scope(scope: ReadScope, is_json: bool, allow_file: bool) -> None:
    if is_json and scope in ("section", "sections"):
        raise Invalid("A JSON file has no sections. Use scope file or snippet.", reason="scope", field="scope")
    if not is_json and scope == "file" and not allow_file:
        raise Denied(
            "Whole Markdown files are not available by default: read a section. An owner can allow them with"
            " `allow_file: true` in the manual's manual.yml; limits.allow_file must then be true as well.",
            field="scope",
        )


def _build_text(
    file: SourceFile, ref: ManualRef, line: int, scope: ReadScope, limits: ManualReadLimits, expand: bool
) -> ManualText:
    section = file.section_at(line)
    first, last = section.line, section.end if expand else section.own_end  # of scope "section"
    whole: int | None = None  # the last line of all that may follow, if `last` is limited
    if scope == "file":
        first, last = line, max(1, len(file.lines))
    elif scope == "snippet":
        first, last = line, section.own_end
    elif scope == "sections":
        index = file.sections.index(section)
        last = file.sections[index : index + limits.get("max_sections", _MAX_SECTIONS)][-1].own_end
        whole = file.sections[-1].own_end
    reason: TruncatedReason = "snippet" if scope == "snippet" else "max_chars"
    max_chars = min(limits.get("max_chars", 8000), _SNIPPET_CHARS if scope == "snippet" else _MAX_CHARS)
    text, end = take_lines(file.lines, first, last, max_chars)
    result: ManualText = {
        "ref": {**ref, "start_line": first},
        "title": section.title,
        "scope": scope,
        "start_line": first,
        "end_line": end,
        "text": text,
        "truncated": end < last or len(text) < sum(len(each) for each in file.lines[first - 1 : last]),
    }
    if result["truncated"]:
        result["truncated_reason"] = reason
    elif whole is not None and last < whole:
        result["truncated"], result["truncated_reason"] = True, "max_sections"
    if result["truncated"] and end < max(last, whole or 0):
        result["next_start_line"] = end + 1
    return result
