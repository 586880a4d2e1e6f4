"""The types of `manual`: addresses and refs of sections, and what manual_find returns."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired
from urllib.parse import unquote

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, format_address
from tokonoma.core.errors import Invalid, Missing, Unavailable
from tokonoma.core.ids import Opaque
from tokonoma.core.paths import PathParts, join_path, split_file_path
from tokonoma.files.backlog import IndexingProgress
from tokonoma.files.folder import FileEntry
from tokonoma.files.listing import LeftOut, LeftOutReason
from tokonoma.modules.manual.owner_files import Glossary, ManualSettings
from tokonoma.modules.manual.tables import NAME

MAX_HITS = 200
"""Hits of one result."""
_LINE = re.compile(r"#L([1-9]\d{0,8})(?:-L?(\d{1,9}))?(?:@([0-9a-f]{8})(?:\+(\d{1,9}))?)?\Z")
_HASH = re.compile(r"@([0-9a-f]{8})(?:\+(\d{1,9}))?\Z")
_ID = re.compile(r"[^/\\\x00]{1,255}\Z")
_REF_FIELDS = ("target", "manual_id", "path", "start_line", "start_column", "end_line", "json_path", "hash")

SectionKey = tuple[str, str, int]
"""manual, path, first line"""
ManualFileKey = tuple[str, str]
"""manual, path"""
CutoffReason = Literal["time_budget", "candidate_cap", "stage_cap", "hard_limit", "indexing"]
Status = Literal["ready", "needs_followup", "blocked"]
ManualId = Annotated[str | None, Field(description="one manual; default: all")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]


class ManualRef(TypedDict):
    target: NotRequired[Literal["manual"]]
    manual_id: str
    path: str
    start_line: NotRequired[int]
    start_column: NotRequired[int]
    end_line: NotRequired[int]
    json_path: NotRequired[str]
    hash: NotRequired[Opaque]


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
    unscanned_files: NotRequired[Annotated[int, Field(description="files with no section that was searched")]]
    left_out_files: NotRequired[
        Annotated[dict[str, int], Field(description="files that cannot be searched, by reason; listed by manual_hits")]
    ]
    pending_vectors: NotRequired[
        Annotated[int, Field(description="sections that are not yet searched by meaning; ask again later")]
    ]
    integrated_nodes: int
    signal_coverage: dict[str, float]
    file_bias_ratio: float
    conflict_count: int
    gap_count: int
    sufficiency_score: float
    integration_status: Status
    cutoff_reason: NotRequired[CutoffReason]
    indexing: NotRequired[IndexingProgress]
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
    indexing: NotRequired[IndexingProgress]


class FileNote(NamedTuple):
    """What is to be said of a file. With a `reason` it is not searched: it could not be read."""

    problem: str = ""
    reason: LeftOutReason | Literal[""] = ""
    encoding: str = ""  # if it is not UTF-8


@dataclass(frozen=True, slots=True)
class ManualsOnDisk:
    """The files in the folder of the manuals."""

    files: dict[ManualFileKey, FileEntry] = field(default_factory=dict[ManualFileKey, FileEntry])
    glossaries: dict[str, Glossary] = field(default_factory=dict[str, Glossary])
    settings: dict[str, ManualSettings] = field(default_factory=dict[str, ManualSettings])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut], compare=False)
    # Changed, and not indexed: they are not shown until they are. `pending` are those that a job indexes; the others
    # cannot be stored, because the disk is full or read-only.
    pending: set[ManualFileKey] = field(default_factory=set[ManualFileKey], compare=False)
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


class SectionPlace(NamedTuple):
    """What a ref or an address of this module names: a file, a section, lines, or a value of a JSON file."""

    manual: str
    path: str
    line: int | None = None
    column: int = 1
    end_line: int | None = None
    json_path: str = ""
    hash: str = ""  # of a section, where the place must be the one that it was given for
    offset: int = 0  # how many lines `line` is below the first line of that section


def is_json(path: str) -> bool:
    return path.lower().endswith(".json")


def parse_place_name(name: str) -> SectionPlace:
    """`<id>/<path>`, then nothing, `#L10` (a section), `#L10-L20` (lines) or `#/a/b` (a value, percent-encoded), and
    `@1a2b3c4d` or `@1a2b3c4d+7` if the section must have this hash."""
    before, mark, pointer = name.rpartition("#")
    if mark and pointer.startswith("/") and is_json(before):
        manual, path = to_file_key((before,))
        hash = _HASH.search(pointer)
        place = SectionPlace(manual, path, json_path=unquote(pointer[: hash.start()] if hash else pointer))
        return place._replace(hash=hash[1], offset=int(hash[2] or 0)) if hash else place
    match = _LINE.search(name)
    manual, path = to_file_key((name[: match.start()] if match else name,))
    if match is None:
        return SectionPlace(manual, path)
    line, end = int(match[1]), None if match[2] is None else int(match[2])
    return SectionPlace(manual, path, line, end_line=end, hash=match[3] or "", offset=int(match[4] or 0))


def parse_section_name(name: str) -> tuple[str, str, int | None]:
    """`<id>/<path>#L10` → manual, path, line."""
    return parse_place_name(name)[:3]


def to_file_key(parts: PathParts) -> ManualFileKey:
    """Composed, as callers write it: a folder copied from macOS has its names decomposed."""
    manual, _, path = unicodedata.normalize("NFC", join_path(parts)).partition("/")
    return manual, path


def cite_manuals(desk: Desk) -> None:
    """Say that the answer holds text of manuals: people write them outside of Tokonoma."""
    desk.cite(format_address(NAME, ""), "")


def build_ref(manual: str, path: str, line: int | None = None, hash: str = "", json_path: str = "") -> ManualRef:
    ref: ManualRef = {"target": "manual", "manual_id": manual, "path": path}
    if line is not None:
        ref["start_line"] = line
    if hash:
        ref["hash"] = hash
    if json_path:
        ref["json_path"] = json_path
    return ref


def require_manual_id(manual_id: str) -> str:
    """Return the id, which is the name of the manual's folder, composed; Invalid if it cannot be one."""
    if not _ID.match(manual_id) or manual_id.startswith("."):
        raise Invalid("manual_id must be the name of a manual's folder; manual_list lists them.", field="manual_id")
    return unicodedata.normalize("NFC", manual_id)


def parse_ref(ref: Mapping[str, Any]) -> tuple[str, str, int | None]:
    """The manual, path and line of a caller's ref."""
    unknown = sorted(set(ref).difference(_REF_FIELDS))
    if unknown:
        allowed = ", ".join(_REF_FIELDS)
        raise Invalid(f"Unknown fields in ref: {', '.join(unknown)}. Allowed: {allowed}.", field="ref")
    if ref.get("target", "manual") != "manual":
        raise Invalid("This tool reads manuals only: target must be manual.", reason="scope", field="ref")
    if not isinstance(ref.get("manual_id"), str) or not isinstance(ref.get("path"), str):
        raise Invalid("A ref needs manual_id and path, both strings. manual_ls lists them.", field="ref")
    line = ref.get("start_line")
    if line is not None and (type(line) is not int or line < 1):
        raise Invalid("start_line must be an integer from 1.", field="ref")
    if not isinstance(ref.get("json_path") or "", str):
        raise Invalid("json_path must be a JSON Pointer, such as /items/3/name.", field="ref")
    return require_manual_id(ref["manual_id"]), join_path(split_file_path(ref["path"], "ref", reading=True)), line


def manual_missing_error(manual: str, visible: Mapping[str, object]) -> Missing:
    hint = "There are no manuals yet: put a folder of .md files into the manuals' folder."
    if visible:
        hint = f"Manuals: {', '.join(sorted(visible)[:10])}."
    return Missing(f"There is no manual {manual!r}. {hint}", manual_id=manual)


def manual_file_missing_error(manual: str, path: str) -> Missing:
    return Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.", manual_id=manual, path=path)


def indexing_error(progress: IndexingProgress) -> Unavailable:
    done, total = progress["done"], progress["total"]
    return Unavailable(
        f"New files are being indexed: {done} of {total} done. Ask again in a moment.", reason="indexing", **progress
    )


def paginate(
    desk: Desk, kind: str, positions: Sequence[int], cursor: str | None, size: int
) -> tuple[Sequence[int], PageFields]:
    (start,) = desk.open_cursor(kind, cursor) if cursor else (0,)
    fields: PageFields = {"total": len(positions), "has_more": start + size < len(positions)}
    if fields["has_more"]:
        fields["next_cursor"] = desk.seal_cursor(kind, start + size)
    return positions[start : start + size], fields
