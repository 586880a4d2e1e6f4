"""The types of `manual`: addresses and refs of sections, what manual_find returns, and the owner's files.

An owner may write two files beside those of a manual: `glossary.yml` (words that mean one thing, words that announce an
exception) and `manual.yml` (a title, the namespace that it belongs to, whether whole files may be read).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, format_address
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.files.folder import FileEntry
from tokonoma.files.yaml_text import load_mapping
from tokonoma.modules.manual.tables import NAME

MAX_SETTINGS_BYTES = 512 * 1024
MAX_HITS = 200
"""Hits of one result."""
_LINE = re.compile(r"#L(\d{1,9})(?:-L?\d+)?\Z")
_ID = re.compile(r"[^/\\\x00]{1,128}\Z")
_SETTINGS = ("title", "space", "allow_file")
_REF_FIELDS = {"target", "manual_id", "path", "start_line", "json_path"}

SectionKey = tuple[str, str, int]
"""manual, path, first line"""
ManualFileKey = tuple[str, str]
"""manual, path"""
CutoffReason = Literal["time_budget", "candidate_cap", "stage_cap", "hard_limit"]
Status = Literal["ready", "needs_followup", "blocked"]
ManualId = Annotated[str | None, Field(description="one manual; default: all")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]


class ManualRef(TypedDict):
    target: NotRequired[Literal["manual"]]
    manual_id: str
    path: str
    start_line: NotRequired[int]
    json_path: NotRequired[str]


class ManualBudget(TypedDict):
    time_ms: NotRequired[Annotated[int, Field(ge=1, le=600_000)]]
    max_candidates: NotRequired[Annotated[int, Field(ge=1, le=1000)]]


class ManualFindSummary(TypedDict):
    scanned_files: int
    scanned_nodes: int
    candidates: int
    warnings: list[str]
    max_stage_applied: float
    scope_expanded: bool
    unscanned_sections_count: int
    integrated_nodes: int
    signal_coverage: dict[str, float]
    file_bias_ratio: float
    conflict_count: int
    gap_count: int
    sufficiency_score: float
    integration_status: Status
    cutoff_reason: NotRequired[CutoffReason]
    hidden_by_policy: NotRequired[Annotated[int, Field(description="for the owner: sections that no answer shows")]]


class ManualNextAction(TypedDict):
    type: str
    intent: str
    confidence: float | None
    params: dict[str, Any] | None


class ManualFindResult(TypedDict):
    trace_id: str
    summary: ManualFindSummary
    next_actions: list[ManualNextAction]


class PageFields(TypedDict):
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]


@dataclass(frozen=True, slots=True)
class Glossary:
    groups: tuple[tuple[str, ...], ...] = ()
    exceptions: tuple[str, ...] = ()
    problem: str = ""  # why it was not read

    def merge(self, other: "Glossary") -> "Glossary":
        problem = self.problem or other.problem
        return Glossary((*self.groups, *other.groups), (*self.exceptions, *other.exceptions), problem)


@dataclass(frozen=True, slots=True)
class ManualSettings:
    title: str = ""
    namespace: str = "/"
    allow_file: bool = False  # whether a Markdown file may be read whole
    problem: str = ""  # why some of it is ignored


@dataclass(frozen=True, slots=True)
class ManualsOnDisk:
    """The files in the folder of the manuals."""

    files: dict[ManualFileKey, FileEntry] = field(default_factory=dict[ManualFileKey, FileEntry])
    glossaries: dict[str, Glossary] = field(default_factory=dict[str, Glossary])
    settings: dict[str, ManualSettings] = field(default_factory=dict[str, ManualSettings])
    # Changed, and not indexed, because the disk is full or read-only: nobody sees them until they are.
    unindexed: set[ManualFileKey] = field(default_factory=set[ManualFileKey], compare=False)

    def namespace_of(self, manual: str) -> str:
        return self.settings.get(manual, ManualSettings()).namespace


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`low`: fewer candidates than this are too few. `bias`: this share in one file is too much."""

    low: int = 3
    bias: float = 0.80
    at: int = 0  # when they last moved


def section_address(manual: str, path: str, line: int | None = None) -> str:
    """`tokonoma://manual/<id>/<path>#L10`"""
    address = f"tokonoma://{NAME}/{manual}/{path}"
    return address if line is None else f"{address}#L{line}"


def parse_section_name(name: str) -> tuple[str, str, int | None]:
    """`<id>/<path>#L10` → manual, path, line."""
    match = _LINE.search(name)
    manual, _, path = (name[: match.start()] if match else name).partition("/")
    return manual, path, int(match[1]) if match else None


def cite_manuals(desk: Desk) -> None:
    """Say that the answer holds text of manuals: people write them outside of Tokonoma."""
    desk.cite(format_address(NAME, ""), "")


def build_ref(manual: str, path: str, line: int | None = None) -> ManualRef:
    ref: ManualRef = {"target": "manual", "manual_id": manual, "path": path}
    if line is not None:
        ref["start_line"] = line
    return ref


def require_manual_id(manual_id: str) -> str:
    """Return the id, which is the name of the manual's folder; Invalid if it cannot be one."""
    if not _ID.match(manual_id) or manual_id.startswith("."):
        raise Invalid("manual_id must be the name of a manual's folder; manual_list lists them.", field="manual_id")
    return manual_id


def parse_ref(ref: Mapping[str, Any]) -> tuple[str, str, int | None]:
    """The manual, path and line of a caller's ref."""
    unknown = sorted(set(ref) - _REF_FIELDS)
    if unknown:
        raise Invalid(
            f"Unknown fields in ref: {', '.join(unknown)}. Allowed: target, manual_id, path, start_line, json_path.",
            field="ref",
        )
    if ref.get("target", "manual") != "manual":
        raise Invalid("This tool reads manuals only: target must be manual.", reason="scope", field="ref")
    if not isinstance(ref.get("manual_id"), str) or not isinstance(ref.get("path"), str):
        raise Invalid("A ref needs manual_id and path, both strings. manual_ls lists them.", field="ref")
    line = ref.get("start_line")
    if line is not None and (type(line) is not int or line < 1):
        raise Invalid("start_line must be an integer from 1.", field="ref")
    return require_manual_id(ref["manual_id"]), join_path(split_file_path(ref["path"], "ref")), line


def manual_missing_error(manual: str, visible: Mapping[str, object]) -> Missing:
    hint = "There are no manuals yet: put a folder of .md files into the manuals' folder."
    if visible:
        hint = f"Manuals: {', '.join(sorted(visible)[:10])}."
    return Missing(f"There is no manual {manual!r}. {hint}", manual_id=manual)


def manual_file_missing_error(manual: str, path: str) -> Missing:
    return Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.", manual_id=manual, path=path)


def paginate(
    desk: Desk, kind: str, positions: Sequence[int], cursor: str | None, size: int
) -> tuple[Sequence[int], PageFields]:
    (start,) = desk.open_cursor(kind, cursor) if cursor else (0,)
    fields: PageFields = {"total": len(positions), "has_more": start + size < len(positions)}
    if fields["has_more"]:
        fields["next_cursor"] = desk.seal_cursor(kind, start + size)
    return positions[start : start + size], fields


@lru_cache(maxsize=1)
def load_shipped_glossary() -> Glossary:
    """The general glossary that comes with the program."""
    return parse_glossary((files("tokonoma.modules.manual") / "glossary.yml").read_bytes())


@lru_cache(maxsize=100)  # parsed before every answer, and seldom changed
def parse_glossary(raw: bytes) -> Glossary:
    """`terms:` is a list of lists, each of words that mean one thing; `exceptions:` is a list of words."""
    value, problem = load_mapping(raw, MAX_SETTINGS_BYTES)
    terms = value.get("terms")
    groups = [_to_texts(group) for group in cast("list[Any]", terms)] if isinstance(terms, list) else []
    return Glossary(tuple(group for group in groups if len(group) > 1), _to_texts(value.get("exceptions")), problem)


@lru_cache(maxsize=100)
def parse_settings(raw: bytes) -> ManualSettings:
    value, problem = load_mapping(raw, MAX_SETTINGS_BYTES)
    space, allow_file = value.get("space", "/"), value.get("allow_file", False)
    if not isinstance(space, str) or not space.startswith("/") or ".." in space.split("/"):
        return ManualSettings(problem="space must be an absolute namespace, like /team")
    namespace = "/" + "/".join(part for part in space.split("/") if part)
    problems = [problem] if problem else []
    unknown = sorted(str(name) for name in value if name not in _SETTINGS)
    if unknown:
        problems.append(f"unknown: {', '.join(unknown)[:200]}; allowed: {', '.join(_SETTINGS)}")
    if not isinstance(allow_file, bool):
        problems.append("allow_file must be true or false")
    return ManualSettings(str(value.get("title", "")), namespace, allow_file is True, "; ".join(problems))


def _to_texts(value: Any) -> tuple[str, ...]:
    texts = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(str(each).strip() for each in texts if isinstance(each, str | int | float) and str(each).strip())
