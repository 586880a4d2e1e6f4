"""Which lines of a file a reading means, how they are cut to the size of an answer, and where the text goes on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.errors import Denied, Invalid
from tokonoma.modules.manual.model import ManualRef, SectionPlace, is_json
from tokonoma.modules.manual.source_file import SourceFile

_SNIPPET_CHARS = 600
_DEFAULT_CHARS, _MAX_CHARS, _MAX_SECTIONS = 8000, 20_000, 20

ReadScope = Literal["snippet", "section", "sections", "file", "lines"]
TruncatedReason = Literal["max_chars", "max_sections", "snippet"]


class ManualReadLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=_MAX_CHARS)]]
    max_sections: NotRequired[Annotated[int, Field(ge=1, le=_MAX_SECTIONS)]]
    allow_file: NotRequired[bool]


class ManualPart(TypedDict):
    ref: ManualRef
    title: str
    scope: ReadScope
    start_line: int
    end_line: int
    text: str
    truncated: bool
    truncated_reason: NotRequired[TruncatedReason]
    next_start_line: NotRequired[int]
    next_ref: NotRequired[ManualRef]


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How much a caller wants."""

    scope: ReadScope | None = None
    limits: ManualReadLimits = field(default_factory=ManualReadLimits)
    expand: bool = True

    @property
    def max_chars(self) -> int:
        return self.limits.get("max_chars", _DEFAULT_CHARS)


class LineSpan(NamedTuple):
    """`last` is the last line that is meant. `whole`: the last line of what may follow, if `last` is only as far as one
    answer goes."""

    first: int
    last: int
    whole: int


class TextPart(NamedTuple):
    """`end` is the last line of which something is in the text. `following`: the line and the column, counted from 1,
    at which the text goes on; None if all of it is here."""

    text: str
    end: int
    following: tuple[int, int] | None


def choose_scope(place: SectionPlace, rules: ReadingRules, allow_file: bool) -> ReadScope:
    """The scope that is asked for, if it is allowed. A ref with an end_line means its lines, whatever the scope."""
    json_file = is_json(place.path)
    if place.end_line is not None:
        return "snippet" if rules.scope == "snippet" else "lines"
    scope = rules.scope or ("snippet" if not json_file else "section" if place.json_path else "file")
    if scope == "lines":
        raise Invalid("scope lines needs a ref with start_line and end_line.", reason="scope", field="scope")
    has_part = bool(place.line or place.json_path)
    if json_file and (scope == "sections" or (scope == "section" and not has_part)):
        problem = "A whole JSON file has no sections. Use scope file or snippet, or name a part by json_path."
        raise Invalid(problem, reason="scope", field="scope")
    if not json_file and scope == "file" and not (allow_file and rules.limits.get("allow_file")):
        raise Denied(
            "Whole Markdown files are not available by default: read a section. An owner can allow them with"
            " `allow_file: true` in the manual's manual.yml; limits.allow_file must then be true as well.",
            field="scope",
        )
    return scope


def choose_lines(
    file: SourceFile, place: SectionPlace, scope: ReadScope, rules: ReadingRules, value: tuple[int, int] | None
) -> LineSpan:
    """The lines from the ref's line on, to where the scope ends. Invalid if the file does not have them."""
    total, section = max(1, len(file.lines)), file.section_at(value[0] if value else place.line or 1)
    first = value[0] if value else place.line or (section.line if scope in ("section", "sections") else 1)
    for name, line in (("start_line", first), ("end_line", place.end_line or first)):
        if line > total:
            raise Invalid(f"{place.path} has {len(file.lines)} lines; {name} is {line}.", field="ref")
    if place.column > max(1, len(file.lines[first - 1]) if file.lines else 0):
        length = len(file.lines[first - 1]) if file.lines else 0
        raise Invalid(f"Line {first} has {length} characters; start_column is {place.column}.", field="ref")
    if place.end_line is not None:
        return LineSpan(first, place.end_line, place.end_line)
    if value is not None and scope == "section":
        return LineSpan(*value, value[1])
    last = {"file": total, "snippet": section.own_end, "section": section.end if rules.expand else section.own_end}
    if scope in last:
        return LineSpan(first, max(first, last[scope]), max(first, last[scope]))
    following = file.sections[file.sections.index(section) :][: rules.limits.get("max_sections", _MAX_SECTIONS)]
    return LineSpan(first, following[-1].own_end, file.sections[-1].own_end)


def build_part(
    file: SourceFile,
    place: SectionPlace,
    ref: ManualRef,
    scope: ReadScope,
    rules: ReadingRules,
    value: tuple[int, int] | None = None,
) -> ManualPart:
    """The part that a ref means. `ref` names the file; it becomes the ref of the part. `value` are the first and the
    last line of what its JSON Pointer leads to."""
    span = choose_lines(file, place, scope, rules, value)
    max_chars = min(rules.max_chars, _SNIPPET_CHARS if scope == "snippet" else _MAX_CHARS)
    part = take_part(file.lines, span.first, place.column, span.last, max_chars)
    result: ManualPart = {
        "ref": _build_line_ref(ref, span.first, place.column),
        "title": file.section_at(span.first).title,
        "scope": scope,
        "start_line": span.first,
        "end_line": part.end,
        "text": part.text,
        "truncated": part.following is not None or span.last < span.whole,
    }
    if value is not None:
        result["ref"]["json_path"] = place.json_path
    following = part.following or ((span.last + 1, 1) if span.last < span.whole else None)
    if following is None:
        return result
    result["truncated_reason"] = "max_sections"
    if part.following is not None:
        result["truncated_reason"] = "snippet" if scope == "snippet" else "max_chars"
    if part.end < span.whole:
        result["next_start_line"] = part.end + 1
    result["next_ref"] = _build_line_ref(ref, *following)
    if scope == "section" or place.end_line is not None:  # what remains of a section may be in its subsections
        result["next_ref"]["end_line"] = span.last
    return result


def _build_line_ref(file: ManualRef, line: int, column: int) -> ManualRef:
    ref: ManualRef = {**file, "start_line": line}
    if column > 1:
        ref["start_column"] = column
    return ref


def take_part(lines: Sequence[str], first: int, column: int, last: int, max_chars: int) -> TextPart:
    """Whole lines up to a number of characters. A first line that is longer is cut, and goes on in the next part."""
    taken: list[str] = []
    size, skipped = 0, column - 1
    for number, whole in enumerate(lines[first - 1 : last], first):
        line = whole[skipped:]
        if size + len(line) > max_chars:
            if taken:
                return TextPart("".join(taken), number - 1, (number, 1))
            return TextPart(line[:max_chars], number, (number, skipped + max_chars + 1))
        taken.append(line)
        size, skipped = size + len(line), 0
    return TextPart("".join(taken), first + max(0, len(taken) - 1), None)
