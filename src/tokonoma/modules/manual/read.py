"""manual_read: a little first, then a section, then more; never more than the limits allow. And records by address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import LABELS, Desk, Document, Label, Record, Rows, Statements
from tokonoma.core.errors import Denied, Invalid, Missing, Refusal
from tokonoma.core.server_info import House
from tokonoma.files.folder import opened_root
from tokonoma.files.sections import Section, body, lines_of, markdown, whole_file
from tokonoma.modules.manual import trails as trace
from tokonoma.modules.manual.addresses import Ref, address, checked_ref, parsed, ref_of
from tokonoma.modules.manual.cache import Library, library, missing_file, missing_manual
from tokonoma.modules.manual.index import documents_of, refresh, renew, root_of
from tokonoma.modules.manual.tables import NAME

_SNIPPET = 600  # characters
_CHARACTERS, _SECTIONS = 20_000, 20  # at most

Scope = Literal["snippet", "section", "sections", "file"]


class Limits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=_CHARACTERS)]]
    max_sections: NotRequired[Annotated[int, Field(ge=1, le=_SECTIONS)]]
    allow_file: NotRequired[bool]


class Text(TypedDict):
    ref: Ref
    title: str
    scope: Scope
    start_line: int
    end_line: int
    text: str
    truncated: bool
    truncated_reason: NotRequired[Literal["max_chars", "max_sections", "snippet"]]
    next_start_line: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Opened:
    """A manual's file as it is now."""

    lines: Sequence[str]
    sections: Sequence[Section]

    def at(self, line: int) -> Section:
        """The section whose own lines hold this one."""
        found = [section for section in self.sections if section.line <= line]
        return found[-1] if found else self.sections[0]


def read(
    desk: Desk,
    ref: Annotated[dict[str, Any], Field(description="of manual_hits: {manual_id, path, start_line}")],
    scope: Annotated[Scope | None, Field(description="default: snippet of .md, file of .json")] = None,
    limits: Annotated[Limits | None, Field(description="max_chars 8000, max_sections 20, allow_file")] = None,
    expand: Annotated[bool, Field(description="false: a section without those below it")] = True,
    trace_id: Annotated[str | None, Field(description="of the search that led here")] = None,
) -> Text:
    """Read a place of a manual: a snippet, a section, several sections from there on, or a file."""
    manual, path, line = checked_ref(ref)
    held = library(desk)
    if manual not in held.seen:
        raise missing_manual(manual, held.seen)
    if path not in held.seen[manual]:
        raise missing_file(manual, path)
    opened = _without(open_file(root_of(desk), manual, path), held, held.seen[manual][path])
    if line is not None and line > max(1, len(opened.lines)):
        raise Invalid(f"{path} has {len(opened.lines)} lines; start_line is {line}.", field="ref")
    is_json = path.lower().endswith(".json")
    chosen = scope or ("file" if is_json else "snippet")
    about = held.shelved.abouts.get(manual)
    _check_scope(chosen, is_json, bool((limits or {}).get("allow_file")), about is not None and about.allow_file)
    told = _text(opened, manual, path, line or 1, chosen, limits or {}, expand)
    if trace_id is not None:
        trace.use(desk, trace_id, (manual, path, opened.at(line or 1).line))
    return told


def _without(opened: Opened, held: Library, seen: Sequence[int]) -> Opened:
    """The file as this caller may see it: the lines of sections that it may not are left out, without a trace."""
    shown = {held.stock.sections[place].line for place in seen}
    lines = list(opened.lines)
    for section in opened.sections:
        if section.line not in shown:
            lines[section.line - 1 : section.own_end] = [""] * (section.own_end - section.line + 1)
    return Opened(lines, [section for section in opened.sections if section.line in shown] or opened.sections[:1])


def _check_scope(scope: Scope, is_json: bool, asked: bool, allowed: bool) -> None:
    if is_json and scope in ("section", "sections"):
        raise Invalid("A JSON file has no sections: read it with scope file or snippet.", reason="scope", field="scope")
    if not is_json and scope == "file" and not (asked and allowed):
        raise Denied(
            "Whole Markdown files are not given out: read a section. An owner may allow it with `allow_file: true` in"
            " the manual's manual.yml; limits.allow_file must then be true as well.",
            field="scope",
        )


def _text(opened: Opened, manual: str, path: str, line: int, scope: Scope, limits: Limits, expand: bool) -> Text:
    most = limits.get("max_chars", 8000)
    section = opened.at(line)
    reason: Literal["max_chars", "max_sections", "snippet"] = "max_chars"
    first, last = _range(opened, section, line, scope, limits, expand)
    if scope == "snippet":
        most, reason = min(most, _SNIPPET), "snippet"
    text, end = _capped(opened.lines, first, last, most)
    told: Text = {
        "ref": ref_of(manual, path, first),
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


def _range(opened: Opened, section: Section, line: int, scope: Scope, limits: Limits, expand: bool) -> tuple[int, int]:
    """The first and last line of what is asked for."""
    if scope == "file":
        return line, max(1, len(opened.lines))
    if scope == "snippet":
        return line, section.own_end
    if scope == "section":
        return section.line, section.end if expand else section.own_end
    place = opened.sections.index(section)
    chosen = opened.sections[place : place + limits.get("max_sections", _SECTIONS)]
    return section.line, chosen[-1].own_end


def _capped(lines: Sequence[str], first: int, last: int, most: int) -> tuple[str, int]:
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


def open_file(root: str, manual: str, path: str) -> Opened:
    with opened_root(root) as folder:
        text = folder.read((manual, *path.split("/"))).data.decode("utf-8-sig", errors="replace")
    sections = whole_file(text, path) if path.lower().endswith(".json") else markdown(text, path)
    return Opened(lines_of(text), sections)


def record(house: House, rows: Rows, address_: str) -> Record | None:
    """For the directory: a section with all below it, or a whole file if the address names no line. Its class is the
    strictest of what it holds."""
    manual, path, line = parsed(parts_of(address_)[1])
    found = rows.rows(
        "select line, space, label from manual_section where manual = :manual and path = :path",
        manual=manual,
        path=path,
    )
    if not found:
        return None
    try:
        opened = open_file(house.places()["manuals"], manual, path)
    except Refusal:
        return None
    section = opened.at(line or 1)
    first, last = (1, len(opened.lines)) if line is None else (section.line, section.end)
    labels: list[Label] = [row[2] for row in found if first <= row[0] <= last]
    strictest: Label = max(labels or ["internal"], key=LABELS.index)
    text = "".join(opened.lines) if line is None else body(opened.lines, section, whole=True)
    title = path if line is None else section.title
    return Record(address_, NAME, found[0][1], strictest, title, text, holds=frozenset(labels))


def documents(house: House, rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: every section, in order of address."""
    spaces = {(manual, path): space for manual, path, space in rows.rows(_FILES)}
    made: list[Document] = []
    for manual, path in sorted(spaces, key=lambda file: address(*file) + "#"):
        if after is not None and address(manual, path) + "#" < address(*parsed(parts_of(after)[1])[:2]) + "#":
            continue
        if len(made) >= limit:
            break
        try:
            opened = open_file(house.places()["manuals"], manual, path)
        except (Missing, Denied):
            continue
        found = documents_of(manual, path, spaces[manual, path], opened.sections, opened.lines)
        made += sorted((each for each in found if after is None or each.address > after), key=lambda each: each.address)
    return made[:limit]


_FILES = "select distinct manual, path, space from manual_section"


def fresh(desk: Desk, _address: str) -> None:
    refresh(desk)


def used(desk: Desk, address_: str, trace_id: str) -> None:
    """A section was copied, or read by others, because of a search here."""
    manual, path, line = parsed(parts_of(address_)[1])
    opened = open_file(root_of(desk), manual, path)
    trace.use(desk, trace_id, (manual, path, opened.at(line or 1).line))


def relabel(statements: Statements, labels: Mapping[str, Label]) -> None:
    """The policy has another mind about these sections."""
    rows: list[dict[str, Any]] = []
    for name, label in labels.items():
        manual, path, line = parsed(parts_of(name)[1])
        rows.append({"manual": manual, "path": path, "line": line, "label": label})
    statements.many(
        "update manual_section set label = :label where manual = :manual and path = :path and line = :line", rows
    )
    renew(statements, "classes")
