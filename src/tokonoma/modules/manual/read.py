"""manual_read: a little first, then a section, then more; never more than the limits allow. And records by address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Record, Rows, Statements, parse_address
from tokonoma.core.errors import Denied, Invalid, Missing, Refusal
from tokonoma.core.module import ServerInfo
from tokonoma.files.folder import open_root
from tokonoma.files.sections import Section, parse_markdown, section_text, single_section, split_lines
from tokonoma.modules.manual import trails as trace
from tokonoma.modules.manual.addresses import ManualRef, build_ref, parse_ref, parse_section_name, section_address
from tokonoma.modules.manual.cache import ManualLibrary, load_library, manual_file_missing_error, manual_missing_error
from tokonoma.modules.manual.index import build_documents, manuals_root, renew_state, sync_manuals
from tokonoma.modules.manual.tables import NAME

_SNIPPET_CHARS = 600  # characters
_MAX_CHARS, _MAX_SECTIONS = 20_000, 20  # at most

ReadScope = Literal["snippet", "section", "sections", "file"]


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
    truncated_reason: NotRequired[Literal["max_chars", "max_sections", "snippet"]]
    next_start_line: NotRequired[int]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A manual's file as it is now."""

    lines: Sequence[str]
    sections: Sequence[Section]

    def section_at(self, line: int) -> Section:
        """The section whose own lines hold this one."""
        found = [section for section in self.sections if section.line <= line]
        return found[-1] if found else self.sections[0]


def read(
    desk: Desk,
    ref: Annotated[dict[str, Any], Field(description="of manual_hits: {manual_id, path, start_line}")],
    scope: Annotated[ReadScope | None, Field(description="default: snippet of .md, file of .json")] = None,
    limits: Annotated[ManualReadLimits | None, Field(description="max_chars 8000, max_sections 20, allow_file")] = None,
    expand: Annotated[bool, Field(description="false: a section without those below it")] = True,
    trace_id: Annotated[str | None, Field(description="of the search that led here")] = None,
) -> ManualText:
    """Read a place of a manual: a snippet, a section, several sections from there on, or a file."""
    manual, path, line = parse_ref(ref)
    held = load_library(desk)
    if manual not in held.visible:
        raise manual_missing_error(manual, held.visible)
    if path not in held.visible[manual]:
        raise manual_file_missing_error(manual, path)
    opened = _hide_sections(open_source_file(manuals_root(desk), manual, path), held, held.visible[manual][path])
    if line is not None and line > max(1, len(opened.lines)):
        raise Invalid(f"{path} has {len(opened.lines)} lines; start_line is {line}.", field="ref")
    is_json = path.lower().endswith(".json")
    chosen = scope or ("file" if is_json else "snippet")
    about = held.on_disk.settings.get(manual)
    _check_scope(chosen, is_json, bool((limits or {}).get("allow_file")), about is not None and about.allow_file)
    told = _build_text(opened, manual, path, line or 1, chosen, limits or {}, expand)
    if trace_id is not None:
        trace.record_use(desk, trace_id, (manual, path, opened.section_at(line or 1).line))
    return told


def _hide_sections(opened: SourceFile, held: ManualLibrary, seen: Sequence[int]) -> SourceFile:
    """The file as this caller may see it: the lines of sections that it may not are left out, without a trace."""
    shown = {held.corpus.sections[place].line for place in seen}
    lines = list(opened.lines)
    for section in opened.sections:
        if section.line not in shown:
            lines[section.line - 1 : section.own_end] = [""] * (section.own_end - section.line + 1)
    return SourceFile(lines, [section for section in opened.sections if section.line in shown] or opened.sections[:1])


def _check_scope(scope: ReadScope, is_json: bool, asked: bool, allowed: bool) -> None:
    if is_json and scope in ("section", "sections"):
        raise Invalid("A JSON file has no sections: read it with scope file or snippet.", reason="scope", field="scope")
    if not is_json and scope == "file" and not (asked and allowed):
        raise Denied(
            "Whole Markdown files are not given out: read a section. An owner may allow it with `allow_file: true` in"
            " the manual's manual.yml; limits.allow_file must then be true as well.",
            field="scope",
        )


def _build_text(
    opened: SourceFile, manual: str, path: str, line: int, scope: ReadScope, limits: ManualReadLimits, expand: bool
) -> ManualText:
    most = limits.get("max_chars", 8000)
    section = opened.section_at(line)
    reason: Literal["max_chars", "max_sections", "snippet"] = "max_chars"
    first, last = _line_range(opened, section, line, scope, limits, expand)
    if scope == "snippet":
        most, reason = min(most, _SNIPPET_CHARS), "snippet"
    text, end = _cap_lines(opened.lines, first, last, most)
    told: ManualText = {
        "ref": build_ref(manual, path, first),
        "title": section.title,
        "scope": scope,
        "start_line": first,
        "end_line": end,
        "text": text,
        "truncated": end < last or len(text) < sum(len(each) for each in opened.lines[first - 1 : last]),
    }
    whole = opened.sections[-1].own_end if scope == "sections" else last
    if told["truncated"]:
        told["truncated_reason"] = reason
    elif scope == "sections" and last < whole:
        told["truncated"], told["truncated_reason"] = True, "max_sections"
    if told["truncated"] and end + 1 <= max(last, whole):
        told["next_start_line"] = end + 1
    return told


def _line_range(
    opened: SourceFile, section: Section, line: int, scope: ReadScope, limits: ManualReadLimits, expand: bool
) -> tuple[int, int]:
    """The first and last line of what is asked for."""
    if scope == "file":
        return line, max(1, len(opened.lines))
    if scope == "snippet":
        return line, section.own_end
    if scope == "section":
        return section.line, section.end if expand else section.own_end
    place = opened.sections.index(section)
    chosen = opened.sections[place : place + limits.get("max_sections", _MAX_SECTIONS)]
    return section.line, chosen[-1].own_end


def _cap_lines(lines: Sequence[str], first: int, last: int, most: int) -> tuple[str, int]:
    """Whole lines up to the limit; of a first line that is longer, its start."""
    taken: list[str] = []
    size = 0
    for line in lines[first - 1 : last]:
        if size + len(line) > most:
            break
        taken.append(line)
        size += len(line)
    if not taken and lines[first - 1 : last]:
        return lines[first - 1][:most], first
    return "".join(taken), first + max(0, len(taken) - 1)


def open_source_file(root: str, manual: str, path: str) -> SourceFile:
    with open_root(root) as folder:
        text = folder.read((manual, *path.split("/"))).data.decode("utf-8-sig", errors="replace")
    sections = single_section(text, path) if path.lower().endswith(".json") else parse_markdown(text, path)
    return SourceFile(split_lines(text), sections)


def read_record(house: ServerInfo, rows: Rows, address_: str) -> Record | None:
    """For the directory: a section with all below it, or a whole file if the address names no line. Its class is the
    strictest of what it holds."""
    manual, path, line = parse_section_name(parse_address(address_)[1])
    found = rows.rows(
        "select line, space, label from manual_section where manual = :manual and path = :path",
        manual=manual,
        path=path,
    )
    if not found:
        return None
    try:
        opened = open_source_file(house.locations()["manuals"], manual, path)
    except Refusal:
        return None
    section = opened.section_at(line or 1)
    first, last = (1, len(opened.lines)) if line is None else (section.line, section.end)
    labels: list[Classification] = [row[2] for row in found if first <= row[0] <= last]
    strictest: Classification = max(labels or ["internal"], key=CLASSIFICATIONS.index)
    text = "".join(opened.lines) if line is None else section_text(opened.lines, section, whole=True)
    title = path if line is None else section.title
    return Record(address_, NAME, found[0][1], strictest, title, text, part_classifications=frozenset(labels))


def list_documents(house: ServerInfo, rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: every section, in order of address."""
    spaces = {(manual, path): space for manual, path, space in rows.rows(_SELECT_FILES)}
    made: list[Document] = []
    for manual, path in sorted(spaces, key=lambda file: section_address(*file) + "#"):
        if (
            after is not None
            and section_address(manual, path) + "#"
            < section_address(*parse_section_name(parse_address(after)[1])[:2]) + "#"
        ):
            continue
        if len(made) >= limit:
            break
        try:
            opened = open_source_file(house.locations()["manuals"], manual, path)
        except (Missing, Denied):
            continue
        found = build_documents(manual, path, spaces[manual, path], opened.sections, opened.lines)
        made += sorted((each for each in found if after is None or each.address > after), key=lambda each: each.address)
    return made[:limit]


_SELECT_FILES = "select distinct manual, path, space from manual_section"


def refresh_record(desk: Desk, _address: str) -> None:
    sync_manuals(desk)


def on_record_used(desk: Desk, address_: str, trace_id: str) -> None:
    """A section was copied, or read by others, because of a search here."""
    manual, path, line = parse_section_name(parse_address(address_)[1])
    opened = open_source_file(manuals_root(desk), manual, path)
    trace.record_use(desk, trace_id, (manual, path, opened.section_at(line or 1).line))


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """The policy has another mind about these sections."""
    rows: list[dict[str, Any]] = []
    for name, label in labels.items():
        manual, path, line = parse_section_name(parse_address(name)[1])
        rows.append({"manual": manual, "path": path, "line": line, "label": label})
    statements.run_many(
        "update manual_section set label = :label where manual = :manual and path = :path and line = :line", rows
    )
    renew_state(statements, "classes")
