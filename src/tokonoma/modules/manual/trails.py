"""Traces: what a search found and what it could not look at, kept for half an hour so that any process can go on."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing

MAX_TRACES = 100
TRACE_MINUTES = 30

CutoffReason = Literal["time_budget", "candidate_cap", "stage_cap", "hard_limit"]
Key = tuple[str, str, int]


@dataclass(slots=True)
class SearchTrace:
    """The lists that manual_hits pages through. `used`: sections that were read afterwards under this trace."""

    id: str
    query: str
    manual: str | None
    candidates: list[dict[str, Any]]
    unscanned: list[tuple[Key, CutoffReason]]
    conflicts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    gaps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    integrated: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    used: list[Key] = field(default_factory=list[Key])

    def keys(self) -> set[Key]:
        return {(item["manual"], item["path"], item["line"]) for item in self.candidates}


@dataclass(frozen=True, slots=True)
class SearchRun:
    """The figures of one search, for the thresholds: no query and no text."""

    cutoff: bool
    candidates: int
    widened: bool
    tokens_in: int
    tokens_out: int


def new_trace_id() -> str:
    """Short: agents read it in every answer and give it back in every call. It is asked for by its owner alone."""
    return f"tr_{secrets.token_hex(8)}"


def save_trace(desk: Desk, trace: SearchTrace, run: SearchRun) -> None:
    at, principal = now(), desk.principal.name
    with desk.write_derived() as tx:
        tx.run(
            "insert into manual_trace values (:id, :principal, :at, :data)",
            id=trace.id,
            principal=principal,
            at=at,
            data=_to_json(trace),
        )
        tx.run("delete from manual_trace where at < :old", old=at - TRACE_MINUTES * 60_000)
        last = tx.row(
            "select at from manual_trace where principal = :principal order by at desc limit 1 offset :most",
            principal=principal,
            most=MAX_TRACES - 1,
        )
        if last is not None:
            tx.run(
                "delete from manual_trace where principal = :principal and at < :at", principal=principal, at=last[0]
            )
        tx.run(
            "insert into manual_run values (:id, :at, :cutoff, :candidates, :widened, 0, 0, :tokens_in, :tokens_out)",
            id=trace.id,
            at=at,
            **{name: int(value) for name, value in asdict(run).items()},
        )


def load_trace(desk: Desk, trace_id: str) -> SearchTrace:
    """Missing for one that is unknown, too old, or another caller's."""
    row = desk.row(
        "select data from manual_trace where id = :id and principal = :principal and at >= :old",
        id=trace_id,
        principal=desk.principal.name,
        old=now() - TRACE_MINUTES * 60_000,
    )
    if row is None:
        raise Missing(
            f"There is no trace {trace_id!r}, or it is older than {TRACE_MINUTES} minutes. Search again without it.",
            trace_id=trace_id,
        )
    return _from_json(trace_id, json.loads(row[0]))


def record_use(desk: Desk, trace_id: str, key: Key) -> None:
    """A section was read because of this trace: what was found and needed feeds the thresholds."""
    trace = load_trace(desk, trace_id)
    if key in trace.used:
        return
    trace.used.append(key)
    found = len(trace.keys().intersection(trace.used))
    with desk.write_derived() as tx:
        tx.run("update manual_trace set data = :data where id = :id", data=_to_json(trace), id=trace_id)
        tx.run(
            "update manual_run set used = :used, hit = :hit where id = :id",
            used=len(trace.used),
            hit=found,
            id=trace_id,
        )


def _to_json(trace: SearchTrace) -> str:
    data = {each.name: getattr(trace, each.name) for each in fields(trace) if each.name != "id"}
    data["unscanned"] = _group_unscanned(trace.unscanned)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _group_unscanned(unscanned: Sequence[tuple[Key, CutoffReason]]) -> list[list[Any]]:
    """By file and reason: thousands of sections share them."""
    groups: dict[tuple[str, str, CutoffReason], list[int]] = {}
    for (manual, path, line), reason in unscanned:
        groups.setdefault((manual, path, reason), []).append(line)
    return [[*group, lines] for group, lines in groups.items()]


def _from_json(trace_id: str, data: Mapping[str, Any]) -> SearchTrace:
    unscanned: list[tuple[Key, CutoffReason]] = [
        ((manual, path, line), reason) for manual, path, reason, lines in data["unscanned"] for line in lines
    ]
    used: list[Key] = [(manual, path, line) for manual, path, line in data["used"]]
    kept: dict[str, Any] = {**data, "unscanned": unscanned, "used": used}
    return SearchTrace(trace_id, **kept)
