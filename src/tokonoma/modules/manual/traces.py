"""Traces: what a search found and what it could not search.

A trace is stored for half an hour, so that any process can continue from it. What is read under it feeds the
thresholds.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, note_down, parse_address
from tokonoma.core.errors import Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.recent import RecentResults
from tokonoma.files.listing import LeftOutReason
from tokonoma.modules.manual.evidence import FoundLine, SearchedTerms
from tokonoma.modules.manual.model import (
    CutoffReason,
    ManualRef,
    SectionKey,
    build_ref,
    parse_place_name,
)
from tokonoma.modules.manual.source_file import open_source_file

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
FoundSection = tuple[int, str, float, Opaque] | tuple[int, str, float, Opaque, list[FoundLine], int]
"""first line, heading, score, hash; with evidence: matching lines, how many are left out"""


class ManualHit(TypedDict):
    """One section; or, grouped, one file with its sections."""

    ref: NotRequired[ManualRef]
    title: NotRequired[str]
    signals: NotRequired[list[str]]
    score: NotRequired[float]
    reason: NotRequired[str]
    files: NotRequired[Annotated[int, Field(description="of a folder that is left out, if not one")]]
    lines: NotRequired[Annotated[list[FoundLine], Field(description="[line, text]; empty text: the title")]]
    more: NotRequired[Annotated[int, Field(description="matching lines that are left out")]]
    changed: NotRequired[Annotated[bool, Field(description="the section was edited after the search")]]
    sections: NotRequired[
        Annotated[list[FoundSection], Field(description="[first line, title, score, hash, lines, more]")]
    ]


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
    terms: SearchedTerms = field(default_factory=SearchedTerms)
    used: list[SectionKey] = field(default_factory=list[SectionKey])
    left_out: list[tuple[str, LeftOutReason, int]] = field(default_factory=list[tuple[str, LeftOutReason, int]])
    stage: int = 0  # the last one that was applied
    summary: dict[str, Any] = field(default_factory=dict[str, Any])  # as manual_find returned it


def build_hit(key: SectionKey, title: str, hash: str = "", json_path: str = "") -> ManualHit:
    ref = build_ref(*key, hash, json_path)
    ref.pop("target", None)  # all of them are manuals, and a list of hundreds need not say so hundreds of times
    return {"title": title, "ref": ref}


def section_key(item: ManualHit) -> SectionKey | None:
    """None for a gap, which is nowhere."""
    ref = item.get("ref")
    return (ref["manual_id"], ref["path"], ref.get("start_line", 1)) if ref else None


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
    hit = set(map(section_key, trace.candidates)).intersection(trace.used)

    def save() -> None:
        with desk.write_derived() as tx:
            tx.run("update manual_trace set data = :data where id = :id", data=_to_json(trace), id=trace_id)
            tx.run(_UPDATE_RUN, used=len(trace.used), hit=len(hit), id=trace_id)

    note_down(save)


def on_record_used(desk: Desk, address: str, trace_id: str) -> None:
    """A section was copied, or read by another module, because of a search here."""
    place = parse_place_name(parse_address(address)[1])
    file = open_source_file(desk.server.locations()["manuals"], place.manual, place.path)
    section = file.locate(place.line, place.json_path)
    record_use(desk, trace_id, (place.manual, place.path, section.line))


def _to_json(trace: SearchTrace) -> str:
    # Thousands of unscanned sections share a file and a reason, so they are stored in groups.
    groups: dict[tuple[str, str, CutoffReason], list[int]] = {}
    for (manual, path, line), reason in trace.unscanned:
        groups.setdefault((manual, path, reason), []).append(line)
    data = {each.name: getattr(trace, each.name) for each in fields(trace) if each.name != "id"}
    data["terms"] = [trace.terms.names, trace.terms.words]
    data["unscanned"] = [[*group, lines] for group, lines in groups.items()]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _from_json(trace_id: str, data: Mapping[str, Any]) -> SearchTrace:
    unscanned = [((manual, path, line), reason) for manual, path, reason, lines in data["unscanned"] for line in lines]
    used = [(manual, path, line) for manual, path, line in data["used"]]
    names, words = ([(folded, loose) for folded, loose in terms] for terms in data["terms"])
    restored: dict[str, Any] = {**data, "unscanned": unscanned, "used": used, "terms": SearchedTerms(names, words)}
    return SearchTrace(trace_id, **restored)
