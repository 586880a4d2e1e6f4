"""manual_hits: the lists behind a trace, page by page.

A trace is what a search found and what it could not search. It is stored for half an hour, so that any process can
continue from it; what is read under a trace feeds the thresholds.
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, note_down, parse_address
from tokonoma.core.errors import Missing
from tokonoma.core.recent import RecentResults
from tokonoma.modules.manual.hooks import open_source_file
from tokonoma.modules.manual.model import (
    MAX_HITS,
    CutoffReason,
    ManualRef,
    SectionKey,
    cite_manuals,
    parse_section_name,
)
from tokonoma.modules.manual.stages import Signal
from tokonoma.modules.manual.sync import load_library

_MAX_TRACES = 100
_TRACE_MS = 30 * 60_000
_recent = RecentResults()
_SELECT_TRACE = "select data from manual_trace where id = :id and principal = :principal and at >= :old"
_INSERT_TRACE = "insert into manual_trace values (:id, :principal, :at, :data)"
_PRUNE_TRACES = """delete from manual_trace where at < :old or (principal = :principal and at <
    (select at from manual_trace where principal = :principal order by at desc limit 1 offset :most))"""
_INSERT_RUN = """insert into manual_run
values (:id, :at, :cutoff, :candidates, :widened, 0, 0, :tokens_in, :tokens_out)"""
_UPDATE_RUN = "update manual_run set used = :used, hit = :hit where id = :id"
# Up to this number of hits, each shows every signal that found it. A longer list shows only the strongest, because an
# agent pays for every character.
_FEW = 20

HitKind = Literal["candidates", "unscanned", "conflicts", "gaps", "integrated_top"]
Grouping = Literal["section", "file"]


class ManualHit(TypedDict):
    """One section; or, grouped, one file with its sections: first line, heading, score."""

    ref: NotRequired[ManualRef]
    title: NotRequired[str]
    signals: NotRequired[list[str]]
    score: NotRequired[float]
    reason: NotRequired[str]
    sections: NotRequired[list[tuple[int, str, float]]]


class ManualHits(TypedDict):
    items: list[ManualHit]
    total: int


@dataclass(slots=True)
class SearchTrace:
    """The lists that manual_hits pages through. `used` are the sections that were read under this trace."""

    id: str
    query: str
    manual: str | None
    candidates: list[ManualHit]
    unscanned: list[tuple[SectionKey, CutoffReason]]
    conflicts: list[ManualHit]
    gaps: list[ManualHit]
    integrated_top: list[ManualHit]
    used: list[SectionKey] = field(default_factory=list[SectionKey])


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: HitKind = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 50,
    signals: Annotated[list[Signal] | None, Field(description="only hits found by one of these")] = None,
    by: Annotated[Grouping, Field(description="file: [line, title, score] grouped by file, half as long")] = "section",
) -> ManualHits:
    """List the sections that a manual_find found, best first, without their text; or the sections that it did not
    search, the contradictions, the gaps. From a score of 0.6 on, a section contains the topic by name."""
    trace = load_trace(desk, trace_id)
    unscanned = [build_hit(key, "") | {"reason": reason} for key, reason in trace.unscanned]
    listed = _visible_hits(desk, unscanned if kind == "unscanned" else getattr(trace, kind))
    if signals:
        wanted = set(signals)
        listed = [item for item in listed if wanted.intersection(item.get("signals", ()))]
    page = listed[offset : offset + limit]
    cite_manuals(desk)
    if by == "file":
        return {"items": _group_by_file(page), "total": len(listed)}
    if len(page) > _FEW:
        for item in page:
            if "signals" in item:
                item["signals"] = item["signals"][:1]
    return {"items": page, "total": len(listed)}


def build_hit(key: SectionKey, title: str) -> ManualHit:
    # Without `target`: all of them are manuals, and a list of hundreds need not say so hundreds of times.
    manual, path, line = key
    return {"title": title, "ref": {"manual_id": manual, "path": path, "start_line": line}}


def _section_key(item: ManualHit) -> SectionKey | None:
    """None for a gap, which is nowhere."""
    ref = item.get("ref")
    return (ref["manual_id"], ref["path"], ref.get("start_line", 1)) if ref else None


def _visible_hits(desk: Desk, listed: Sequence[ManualHit]) -> list[ManualHit]:
    """Files and policies may have changed since the search: only what may be seen now is listed."""
    library = load_library(desk)

    def is_visible(key: SectionKey) -> bool:
        position = library.corpus.positions.get(key)
        return position is not None and position in library.visible.get(key[0], {}).get(key[1], ())

    return [each for each in listed if (key := _section_key(each)) is None or is_visible(key)]


def _group_by_file(page: Iterable[ManualHit]) -> list[ManualHit]:
    """In the order of the best section of each file; a hit without a file stays as it is."""
    files: dict[tuple[str, str], ManualHit] = {}
    items: list[ManualHit] = []
    for each in page:
        if "ref" not in each:
            items.append(each)
            continue
        ref = each["ref"]
        line, file = ref.pop("start_line", 1), (ref["manual_id"], ref["path"])
        if file not in files:
            files[file] = {"ref": ref, "sections": []}
            items.append(files[file])
        files[file].setdefault("sections", []).append((line, each.get("title", ""), each.get("score", 0.0)))
    return items


def new_trace_id() -> str:
    """Short, because agents read it in every result and send it in every call. Only its owner can use it."""
    return f"tr_{secrets.token_hex(8)}"


def save_trace(desk: Desk, trace: SearchTrace, **figures: int) -> None:
    """Save what manual_hits lists, and the figures for the thresholds: no query and no text. The trace of a caller that
    may only read stays in this process."""
    at, principal, data = desk.now(), desk.principal.name, _to_json(trace)
    if not desk.may_write:
        _recent.put(principal, trace.id, data, at + _TRACE_MS)
        return

    def save() -> None:
        with desk.write_derived() as tx:
            tx.run(_INSERT_TRACE, id=trace.id, principal=principal, at=at, data=data)
            tx.run(_PRUNE_TRACES, principal=principal, old=at - _TRACE_MS, most=_MAX_TRACES - 1)
            tx.run(_INSERT_RUN, id=trace.id, at=at, **figures)

    note_down(save)


def load_trace(desk: Desk, trace_id: str) -> SearchTrace:
    """Missing for a trace that is unknown, too old, or of another caller."""
    who, at = desk.principal.name, desk.now()
    kept = _recent.get(who, trace_id, at)
    row = (kept,) if kept else desk.row(_SELECT_TRACE, id=trace_id, principal=who, old=at - _TRACE_MS)
    if row is None:
        problem = f"There is no trace {trace_id!r}; traces expire after 30 minutes. Search again without it."
        raise Missing(problem, trace_id=trace_id)
    return _from_json(trace_id, json.loads(row[0]))


def record_use(desk: Desk, trace_id: str, key: SectionKey) -> None:
    """Save that a section was read because of this trace, if the caller may write."""
    trace = load_trace(desk, trace_id)
    if key in trace.used or not desk.may_write:
        return
    trace.used.append(key)
    hit = set(map(_section_key, trace.candidates)).intersection(trace.used)

    def save() -> None:
        with desk.write_derived() as tx:
            tx.run("update manual_trace set data = :data where id = :id", data=_to_json(trace), id=trace_id)
            tx.run(_UPDATE_RUN, used=len(trace.used), hit=len(hit), id=trace_id)

    note_down(save)


def on_record_used(desk: Desk, address: str, trace_id: str) -> None:
    """A section was copied, or read by another module, because of a search here."""
    manual, path, line = parse_section_name(parse_address(address)[1])
    file = open_source_file(desk.server.locations()["manuals"], manual, path)
    record_use(desk, trace_id, (manual, path, file.section_at(line or 1).line))


def _to_json(trace: SearchTrace) -> str:
    # Thousands of unscanned sections share a file and a reason, so they are stored in groups.
    groups: dict[tuple[str, str, CutoffReason], list[int]] = {}
    for (manual, path, line), reason in trace.unscanned:
        groups.setdefault((manual, path, reason), []).append(line)
    data = {each.name: getattr(trace, each.name) for each in fields(trace) if each.name != "id"}
    data["unscanned"] = [[*group, lines] for group, lines in groups.items()]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _from_json(trace_id: str, data: Mapping[str, Any]) -> SearchTrace:
    unscanned = [((manual, path, line), reason) for manual, path, reason, lines in data["unscanned"] for line in lines]
    used = [(manual, path, line) for manual, path, line in data["used"]]
    restored: dict[str, Any] = {**data, "unscanned": unscanned, "used": used}
    return SearchTrace(trace_id, **restored)
