"""vault_find and vault_hits: everything about a topic in the vault, with what was looked at and what was not."""

import json
import time
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.normalize import fold
from tokonoma.core.opaque import Plain
from tokonoma.core.query import Query, Where
from tokonoma.files.folder import Folder
from tokonoma.files.index_sync import NO_TEXT, Known, all_files
from tokonoma.files.text import MODULE, decoded, pieces, placed
from tokonoma.modules.vault.glob import matcher
from tokonoma.modules.vault.paths import (
    Glob,
    NextAction,
    RelativeDir,
    folder_at,
    stop,
    then,
    vault,
)
from tokonoma.modules.vault.stages import SIGNALS, Candidate, Judgement, candidate, judged, terms_of

MOST_CANDIDATES = 200
MOST_TIME = 60_000
_TRAILS = 100
_ALIVE = 30 * 60_000  # milliseconds
Reason = Literal["time_budget", "candidate_cap"]


class Scope(TypedDict):
    relative_dir: NotRequired[RelativeDir]
    glob: NotRequired[Glob]


class Budget(TypedDict):
    time_ms: NotRequired[Annotated[int, Field(ge=1, le=MOST_TIME)]]
    max_candidates: NotRequired[Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]]


class FindSummary(TypedDict):
    scanned_files: int
    scanned_nodes: int
    candidates: int
    warnings: list[str]
    max_stage_applied: float
    unscanned_sections_count: int
    integrated_nodes: int
    signal_coverage: dict[str, int]
    file_bias_ratio: float
    gap_count: int
    sufficiency_score: float
    integration_status: Literal["ready", "needs_followup", "blocked"]
    cutoff_reason: NotRequired[Reason]


class FindResult(TypedDict):
    trace_id: Plain
    summary: FindSummary
    next_actions: list[NextAction]


class Ref(TypedDict):
    target: Literal["vault"]
    path: str
    start_line: NotRequired[int]


class TrailHit(TypedDict):
    ref: Ref
    title: str
    signals: list[str]
    score: float
    end_line: NotRequired[int]
    reason: NotRequired[str]


class TrailHits(TypedDict):
    items: list[TrailHit]
    total: int


@dataclass(slots=True)
class _Scan:
    """How far a search has come."""

    found: list[Candidate] = field(default_factory=list[Candidate])
    files: int = 0
    nodes: int = 0
    unscanned: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # path, sections
    warnings: list[str] = field(default_factory=list[str])
    cut: Reason | None = None


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000)],
    scope: Annotated[Scope | None, Field(description="leave out daily notes: {glob: '!artifacts/daily/**'}")] = None,
    budget: Annotated[Budget | None, Field(description="60000 ms and 200 candidates unless less is asked")] = None,
) -> FindResult:
    """Find everything about a topic in the vault: normalised and loose text, then a judgement of gaps and bias. Answers
    figures and what to do next; vault_hits(trace_id) lists the places."""
    asked, limits = scope or {}, budget or {}
    terms = terms_of(query)
    matches = matcher(asked.get("glob"))
    until = time.monotonic() + limits.get("time_ms", MOST_TIME) / 1000
    with vault(desk) as folder:
        known = all_files(desk, folder, folder_at(desk, folder, asked.get("relative_dir")))
        wanted = [each for each in known if each.lines != NO_TEXT and matches(each.path)]
        scan = _scanned(desk, folder, _likely_first(desk, query, wanted), terms, fold(query).strip(), until, limits)
    judgement = judged(scan.found, terms)
    trail = _keep(desk, judgement, scan)
    return {
        "trace_id": trail,
        "summary": _summary(scan, judgement),
        "next_actions": _next(query, judgement, scan, trail),
    }


def hits(
    desk: Desk,
    trace_id: str,
    kind: Literal["candidates", "unscanned"] = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> TrailHits:
    """The places that a vault_find found, best first, or those that its budget cut off; kept for 30 minutes."""
    row = desk.row(
        "select found, unscanned from vault_trail where id = :id and principal = :principal and at > :since",
        id=trace_id,
        principal=desk.principal.name,
        since=now() - _ALIVE,
    )
    if row is None:
        raise Missing("This trace_id is not known, or older than 30 minutes. Search again.", trace_id=trace_id)
    every: list[Any] = json.loads(row[0] if kind == "candidates" else row[1])
    seen = {path for (path,) in desk.rows("select distinct path from vault_part where {visible} order by path")}
    kept = [each for each in every if each[0] in seen]  # files and policies may have changed since
    told = [_hit(each) if kind == "candidates" else _left(each) for each in kept[offset : offset + limit]]
    return {"items": told, "total": len(kept)}


def _likely_first(desk: Desk, query: str, files: list[Known]) -> list[Known]:
    """The files that the index proposes come first: a budget that ends early has then seen the best."""
    hits = desk.find(Query(query, limit=100, neighbours=False), Where((MODULE,)))
    order: dict[str, int] = {}
    for hit in hits.items:
        order.setdefault(placed(hit.address.removeprefix(f"tokonoma://{MODULE}/"))[0], len(order))
    return sorted(files, key=lambda each: (order.get(each.path, len(order)), each.path))


def _scanned(
    desk: Desk, folder: Folder, files: list[Known], terms: tuple[str, ...], phrase: str, until: float, limits: Budget
) -> _Scan:
    scan, most = _Scan(), limits.get("max_candidates", MOST_CANDIDATES)
    sections: dict[str, int] = dict(desk.rows("select path, count(*) from vault_part where {visible} group by path"))
    for each in files:
        desk.check()
        if scan.cut is None and time.monotonic() > until:
            scan.cut = "time_budget"
        parts = tuple(each.path.split("/"))
        if scan.cut is not None:
            scan.unscanned.append((each.path, sections.get(each.path, 0)))
            continue
        try:
            found = pieces(decoded(folder.read(parts).data, parts), parts)
        except Refusal as error:
            scan.warnings.append(f"{each.path}: {error.word}")
            continue
        scan.files += 1
        for place, piece in enumerate(found):
            one = candidate(each.path, piece, terms, phrase)
            if one is not None and len(scan.found) == most:
                scan.cut = "candidate_cap"
                scan.unscanned.append((each.path, len(found) - place))
                break
            scan.nodes += 1
            if one is not None:
                scan.found.append(one)
    return scan


def _summary(scan: _Scan, judgement: Judgement) -> FindSummary:
    told: FindSummary = {
        "scanned_files": scan.files,
        "scanned_nodes": scan.nodes,
        "candidates": len(scan.found),
        "warnings": scan.warnings[:10],
        "max_stage_applied": 1.5,
        "unscanned_sections_count": sum(count for _, count in scan.unscanned),
        "integrated_nodes": len(judgement.integrated),
        "signal_coverage": {name: sum(name in each.signals for each in scan.found) for name in SIGNALS},
        "file_bias_ratio": judgement.bias,
        "gap_count": len(judgement.gaps),
        "sufficiency_score": judgement.sufficiency,
        "integration_status": judgement.status,
    }
    if scan.cut is not None:
        told["cutoff_reason"] = scan.cut
    return told


def _next(query: str, judgement: Judgement, scan: _Scan, trail: str) -> list[NextAction]:
    """From the judgement: fill gaps, look beyond one file, check what was found, or stop."""
    actions: list[NextAction] = []
    if judgement.gaps:
        gaps = " ".join(judgement.gaps)[:200]
        actions.append(then("vault_search", "fill_gaps", 0.6, query=gaps, mode="loose"))
    if scan.cut is not None:
        actions.append(then("vault_hits", "fill_gaps", 0.7, trace_id=trail, kind="unscanned"))
    if judgement.biased:
        others = {"glob": f"!{judgement.fullest}"}
        actions.append(then("vault_find", "reduce_file_bias", 0.6, query=query[:200], scope=others))
    if judgement.integrated:
        best = judgement.integrated[0]
        actions.append(then("vault_hits", "verify_coverage", round(judgement.sufficiency, 2), trace_id=trail))
        actions.append(then("vault_scan", "verify_coverage", round(judgement.sufficiency, 2), path=best.path))
    if judgement.status == "ready" and scan.cut is None:
        actions.append(stop("vault_completed", round(judgement.sufficiency, 2)))
    return actions


def _keep(desk: Desk, judgement: Judgement, scan: _Scan) -> str:
    """The trail, for vault_hits in any process; the last hundred are kept."""
    trail, at = uuid7(), now()
    found = [[c.path, c.start, c.end, c.title, list(c.signals), c.score] for c in judgement.integrated]
    left = [[path, count, scan.cut] for path, count in scan.unscanned]
    with desk.write() as tx:
        tx.run(
            "insert into vault_trail (id, principal, at, found, unscanned) values (:id, :who, :at, :found, :left)",
            id=trail,
            who=desk.principal.name,
            at=at,
            found=json.dumps(found, ensure_ascii=False),
            left=json.dumps(left, ensure_ascii=False),
        )
        tx.run("delete from vault_trail where at <= :old", old=at - _ALIVE)
        oldest = tx.row("select id from vault_trail order by id desc limit 1 offset :most", most=_TRAILS)
        if oldest is not None:
            tx.run("delete from vault_trail where id <= :oldest", oldest=oldest[0])
    return trail


def _hit(kept: list[Any]) -> TrailHit:
    path, start, end, title, signals, score = kept
    ref: Ref = {"target": "vault", "path": path, "start_line": start}
    return {"ref": ref, "title": title, "signals": signals, "score": score, "end_line": end}


def _left(kept: list[Any]) -> TrailHit:
    path, _, reason = kept
    return {"ref": {"target": "vault", "path": path}, "title": path, "signals": [], "score": 0.0, "reason": reason}
