"""manual_list, manual_ls and manual_read: what the manuals contain, and parts of their text.

Reading starts with a little and never exceeds the limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Conflict, Denied, Invalid, Missing, Refusal, find_error_code, limit_refusal
from tokonoma.core.ids import Opaque
from tokonoma.files import FILE_ERROR_CODES
from tokonoma.files.backlog import IndexingProgress
from tokonoma.modules.manual.model import (
    ManualId,
    ManualRef,
    PageCursor,
    SectionPlace,
    build_ref,
    cite_manuals,
    is_json,
)
from tokonoma.modules.manual.parts import (
    ManualPart,
    ManualReadLimits,
    ReadingRules,
    ReadScope,
    TruncatedReason,
    build_part,
    choose_scope,
)
from tokonoma.modules.manual.reading_log import ShownText, record_shown
from tokonoma.modules.manual.refs import ManualReader, parse_place
from tokonoma.modules.manual.sync import GLOSSARY_FILE, SETTINGS_FILE, load_library
from tokonoma.modules.manual.traces import record_use

_FILES_PER_PAGE = 200
_SELECT_FILES = """select manual, path, kind, size, lines, problem, reason, encoding from manual_file
order by manual, path"""
_REF = "from manual_hits: {manual_id, path, start_line, json_path?, hash?}; with end_line exactly these lines"
_SCOPE = "default: snippet for .md, file for .json, section for json_path"
_REFS = "instead of ref; together at most max_chars"


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
    indexing: NotRequired[IndexingProgress]


class ManualFile(TypedDict):
    manual_id: str
    path: str
    kind: Literal["md", "json"]
    characters: int
    lines: int
    problem: NotRequired[str]
    reason: NotRequired[Annotated[str, Field(description="why it is not searched")]]
    encoding: NotRequired[Annotated[str, Field(description="if it is not UTF-8")]]


class ManualFiles(TypedDict):
    items: list[ManualFile]
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]
    indexing: NotRequired[IndexingProgress]


class ManualReadError(TypedDict):
    code: str
    message: str
    reason: NotRequired[str]
    current: NotRequired[ManualRef | None]


class ReadItem(TypedDict):
    """One of several parts: its first and last line and its text, or why it was not read."""

    lines: NotRequired[tuple[int, int]]
    text: NotRequired[str]
    hash: NotRequired[Annotated[Opaque, Field(description="if the ref had none")]]
    next_ref: NotRequired[ManualRef]
    error: NotRequired[ManualReadError]


class ManualReading(TypedDict):
    """A part; or, of several refs, `items` in their order, and the `rest` that was too much for one answer."""

    ref: NotRequired[ManualRef]
    title: NotRequired[str]
    scope: NotRequired[ReadScope]
    start_line: NotRequired[int]
    end_line: NotRequired[int]
    text: NotRequired[str]
    truncated: NotRequired[bool]
    truncated_reason: NotRequired[TruncatedReason]
    next_start_line: NotRequired[int]
    next_ref: NotRequired[ManualRef]
    items: NotRequired[list[ReadItem]]
    rest: NotRequired[Annotated[int, Field(description="this many refs at the end were not read: too long together")]]


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
    listed: ManualList = {"items": items, "total": len(items), "has_more": False}
    if (indexing := library.count_indexed()) is not None:
        listed["indexing"] = indexing
    return listed


def list_manual_files(desk: Desk, manual_id: ManualId = None, cursor: PageCursor = None) -> ManualFiles:
    """List the files of a manual, in order of path."""
    library = load_library(desk)
    files = {library.corpus.sections[position].file for position in library.positions(manual_id)}
    after = tuple(desk.open_cursor("files", cursor)) if cursor else ("", "")
    rows = [row for row in desk.rows(_SELECT_FILES) if row[:2] in files]
    rest = [row for row in rows if (row[0], row[1]) > after]
    items: list[ManualFile] = []
    for manual, path, kind, size, lines, problem, reason, encoding in rest[:_FILES_PER_PAGE]:
        item: ManualFile = {"manual_id": manual, "path": path, "kind": kind, "characters": size, "lines": lines}
        if problem:
            item["problem"] = problem
        if reason:
            item["reason"] = reason
        if encoding:
            item["encoding"] = encoding
        items.append(item)
    page: ManualFiles = {"items": items, "total": len(rows), "has_more": len(rest) > _FILES_PER_PAGE}
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("files", *rest[_FILES_PER_PAGE - 1][:2])
    if (indexing := library.count_indexed(manual_id)) is not None:
        page["indexing"] = indexing
    return page


def read(
    desk: Desk,
    ref: Annotated[dict[str, Any] | None, Field(description=_REF)] = None,
    scope: Annotated[ReadScope | None, Field(description=_SCOPE)] = None,
    limits: Annotated[ManualReadLimits | None, Field(description="default: max_chars 8000, max_sections 20")] = None,
    expand: Annotated[bool, Field(description="false: a section without its subsections")] = True,
    trace_id: Annotated[str | None, Field(description="of the search that led here")] = None,
    refs: Annotated[list[dict[str, Any]] | None, Field(max_length=20, description=_REFS)] = None,
) -> ManualReading:
    """Read a part of a manual from a line on: a snippet, a section, several sections, a file; or several parts. A text
    that is cut goes on at next_ref. A ref with a hash is refused (conflict) if its section has changed."""
    if (ref is None) == (refs is None):
        raise Invalid("Give either ref or refs.", field="ref")
    rules = ReadingRules(scope, limits or {}, expand)
    cite_manuals(desk)
    if ref is None:
        return _read_parts(ManualReader(desk), refs or [], rules, trace_id)
    place = parse_place(ref)
    reader = ManualReader(desk, (place.manual, place.path))
    part = _read_part(reader, place, rules)
    _record_reading(reader, [part], trace_id)
    return ManualReading(**part)


def _read_part(reader: ManualReader, place: SectionPlace, rules: ReadingRules) -> ManualPart:
    reader.check_place(place)
    file = reader.open_file(place.manual, place.path)
    settings = reader.library.on_disk.settings.get(place.manual)
    scope = choose_scope(place, rules, settings is not None and settings.allow_file)
    value = _find_value(reader, place) if scope in ("snippet", "section") else None
    part = build_part(file, place, build_ref(place.manual, place.path), scope, rules, value)
    reader.add_hash(part["ref"])
    if "next_ref" in part:
        reader.add_hash(part["next_ref"])
    return part


def _find_value(reader: ManualReader, place: SectionPlace) -> tuple[int, int] | None:
    """The lines of what the JSON Pointer of a ref leads to; None if the ref means lines."""
    if not place.json_path or not is_json(place.path) or place.end_line is not None:
        return None
    lines = reader.find_lines(place)
    if lines is None:
        problem = f"{place.path} has nothing at json_path {place.json_path!r}. manual_toc lists its parts."
        raise Missing(problem, path=place.path, json_path=place.json_path)
    return lines


def _read_parts(
    reader: ManualReader, refs: Sequence[Mapping[str, Any]], rules: ReadingRules, trace_id: str | None
) -> ManualReading:
    """As many parts as fit into max_chars. Only the first is cut; others that do not fit are left for the next call."""
    left, items, parts = rules.max_chars, list[ReadItem](), list[ManualPart]()
    rest = 0
    for number, ref in enumerate(refs):
        reader.desk.check()
        try:
            place = parse_place(ref)
            part = _read_part(reader, place, replace(rules, limits={**rules.limits, "max_chars": max(1, left)}))
        except (Invalid, Missing, Denied, Conflict) as error:
            items.append({"error": _describe_error(error)})
            continue
        if left < len(part["text"]) or (parts and part.get("truncated_reason") == "max_chars"):
            rest = len(refs) - number
            break
        left -= len(part["text"])
        parts.append(part)
        items.append(_to_item(part, place))
    _record_reading(reader, parts, trace_id)
    return {"items": items, "rest": rest} if rest else {"items": items}


def _record_reading(reader: ManualReader, parts: Sequence[ManualPart], trace_id: str | None) -> None:
    texts: list[ShownText] = []
    for part in parts:
        manual, path = part["ref"]["manual_id"], part["ref"]["path"]
        file, line = reader.open_file(manual, path), part["start_line"]
        texts.append(ShownText(manual, path, file, line, part["ref"].get("start_column", 1), part["text"]))
        if trace_id is not None:
            record_use(reader.desk, trace_id, (manual, path, file.section_at(line).line))
    record_shown(reader.desk, texts)


def _to_item(part: ManualPart, place: SectionPlace) -> ReadItem:
    """Without what the caller knows from its ref."""
    item: ReadItem = {"lines": (part["start_line"], part["end_line"]), "text": part["text"]}
    if "hash" in part["ref"] and not place.hash:
        item["hash"] = part["ref"]["hash"]
    if "next_ref" in part:
        item["next_ref"] = part["next_ref"]
    return item


def _describe_error(error: Refusal) -> ManualReadError:
    limit_refusal(error)
    described: ManualReadError = {"code": str(find_error_code(error, FILE_ERROR_CODES)), "message": error.message}
    if isinstance(error, Conflict):
        described["reason"], described["current"] = error.reason, error.details.get("current")
    return described
