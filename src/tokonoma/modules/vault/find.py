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
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.normalize import normalize
from tokonoma.core.query import Query, SearchFilter
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import NO_TEXT, IndexedFile, sync_folder
from tokonoma.files.text import MODULE, decode_text, parse_location, split_passages
from tokonoma.modules.vault.glob import compile_glob
from tokonoma.modules.vault.paths import (
    Glob,
    RelativeDir,
    VaultNextAction,
    next_action,
    open_vault,
    resolve_folder,
    stop_action,
)
from tokonoma.modules.vault.stages import (
    SIGNALS,
    VaultCandidate,
    VaultJudgement,
    extract_terms,
    judge_candidates,
    match_passage,
)

MAX_CANDIDATES = 200
MAX_TIME_MS = 60_000
_MAX_TRAILS = 100
_TRAIL_MS = 30 * 60_000  # milliseconds
CutoffReason = Literal["time_budget", "candidate_cap"]


class FindScope(TypedDict):
    relative_dir: NotRequired[RelativeDir]
    glob: NotRequired[Glob]


class VaultBudget(TypedDict):
    time_ms: NotRequired[Annotated[int, Field(ge=1, le=MAX_TIME_MS)]]
    max_candidates: NotRequired[Annotated[int, Field(ge=1, le=MAX_CANDIDATES)]]


class VaultFindSummary(TypedDict):
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
    cutoff_reason: NotRequired[CutoffReason]


class VaultFindResult(TypedDict):
    trace_id: Opaque
    summary: VaultFindSummary
    next_actions: list[VaultNextAction]


class VaultRef(TypedDict):
    target: Literal["vault"]
    path: str
    start_line: NotRequired[int]


class VaultHit(TypedDict):
    ref: VaultRef
    title: str
    signals: list[str]
    score: float
    end_line: NotRequired[int]
    reason: NotRequired[str]


class VaultHits(TypedDict):
    items: list[VaultHit]
    total: int


@dataclass(slots=True)
class _FindProgress:
    """How far a search has come."""

    found: list[VaultCandidate] = field(default_factory=list[VaultCandidate])
    files: int = 0
    nodes: int = 0
    unscanned: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # path, sections
    warnings: list[str] = field(default_factory=list[str])
    cutoff: CutoffReason | None = None


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000)],
    scope: Annotated[
        FindScope | None, Field(description="leave out daily notes: {glob: '!artifacts/daily/**'}")
    ] = None,
    budget: Annotated[VaultBudget | None, Field(description="60000 ms and 200 candidates unless less is asked")] = None,
) -> VaultFindResult:
    """Find everything about a topic in the vault: normalised and loose text, then a judgement of gaps and bias. Answers
    figures and what to do next; vault_hits(trace_id) lists the places."""
    asked, limits = scope or {}, budget or {}
    terms = extract_terms(query)
    matches = compile_glob(asked.get("glob"))
    until = time.monotonic() + limits.get("time_ms", MAX_TIME_MS) / 1000
    with open_vault(desk) as folder:
        known = sync_folder(desk, folder, resolve_folder(desk, folder, asked.get("relative_dir")))
        wanted = [each for each in known if each.lines != NO_TEXT and matches(each.path)]
        scan = _scan_files(
            desk, folder, _order_by_relevance(desk, query, wanted), terms, normalize(query).strip(), until, limits
        )
    judgement = judge_candidates(scan.found, terms)
    trail = _save_trail(desk, judgement, scan)
    return {
        "trace_id": trail,
        "summary": _to_summary(scan, judgement),
        "next_actions": _next_actions(query, judgement, scan, trail),
    }


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: Literal["candidates", "unscanned"] = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> VaultHits:
    """The places that a vault_find found, best first, or those that its budget cut off; kept for 30 minutes."""
    row = desk.row(
        "select found, unscanned from vault_trail where id = :id and principal = :principal and at > :since",
        id=trace_id,
        principal=desk.principal.name,
        since=now() - _TRAIL_MS,
    )
    if row is None:
        raise Missing("This trace_id is not known, or older than 30 minutes. Search again.", trace_id=trace_id)
    every: list[Any] = json.loads(row[0] if kind == "candidates" else row[1])
    seen = {path for (path,) in desk.rows("select distinct path from vault_part where {visible} order by path")}
    kept = [each for each in every if each[0] in seen]  # files and policies may have changed since
    told = [
        _to_hit(each) if kind == "candidates" else _to_unscanned_hit(each) for each in kept[offset : offset + limit]
    ]
    return {"items": told, "total": len(kept)}


def _order_by_relevance(desk: Desk, query: str, files: list[IndexedFile]) -> list[IndexedFile]:
    """The files that the index proposes come first: a budget that ends early has then seen the best."""
    hits = desk.find(Query(query, limit=100, neighbours=False), SearchFilter((MODULE,)))
    order: dict[str, int] = {}
    for hit in hits.items:
        order.setdefault(parse_location(hit.address.removeprefix(f"tokonoma://{MODULE}/"))[0], len(order))
    return sorted(files, key=lambda each: (order.get(each.path, len(order)), each.path))


def _scan_files(
    desk: Desk,
    folder: RootFolder,
    files: list[IndexedFile],
    terms: tuple[str, ...],
    phrase: str,
    until: float,
    limits: VaultBudget,
) -> _FindProgress:
    scan, most = _FindProgress(), limits.get("max_candidates", MAX_CANDIDATES)
    sections: dict[str, int] = dict(desk.rows("select path, count(*) from vault_part where {visible} group by path"))
    for each in files:
        desk.check()
        if scan.cutoff is None and time.monotonic() > until:
            scan.cutoff = "time_budget"
        parts = tuple(each.path.split("/"))
        if scan.cutoff is not None:
            scan.unscanned.append((each.path, sections.get(each.path, 0)))
            continue
        try:
            found = split_passages(decode_text(folder.read(parts).data, parts), parts)
        except Refusal as error:
            scan.warnings.append(f"{each.path}: {error.kind}")
            continue
        scan.files += 1
        for place, piece in enumerate(found):
            one = match_passage(each.path, piece, terms, phrase)
            if one is not None and len(scan.found) == most:
                scan.cutoff = "candidate_cap"
                scan.unscanned.append((each.path, len(found) - place))
                break
            scan.nodes += 1
            if one is not None:
                scan.found.append(one)
    return scan


def _to_summary(scan: _FindProgress, judgement: VaultJudgement) -> VaultFindSummary:
    told: VaultFindSummary = {
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
    if scan.cutoff is not None:
        told["cutoff_reason"] = scan.cutoff
    return told


def _next_actions(query: str, judgement: VaultJudgement, scan: _FindProgress, trail: str) -> list[VaultNextAction]:
    """From the judgement: fill gaps, look beyond one file, check what was found, or stop."""
    actions: list[VaultNextAction] = []
    if judgement.gaps:
        gaps = " ".join(judgement.gaps)[:200]
        actions.append(next_action("vault_search", "fill_gaps", 0.6, query=gaps, mode="loose"))
    if scan.cutoff is not None:
        actions.append(next_action("vault_hits", "fill_gaps", 0.7, trace_id=trail, kind="unscanned"))
    if judgement.biased:
        others = {"glob": f"!{judgement.fullest}"}
        actions.append(next_action("vault_find", "reduce_file_bias", 0.6, query=query[:200], scope=others))
    if judgement.integrated:
        best = judgement.integrated[0]
        actions.append(next_action("vault_hits", "verify_coverage", round(judgement.sufficiency, 2), trace_id=trail))
        actions.append(next_action("vault_scan", "verify_coverage", round(judgement.sufficiency, 2), path=best.path))
    if judgement.status == "ready" and scan.cutoff is None:
        actions.append(stop_action("vault_completed", round(judgement.sufficiency, 2)))
    return actions


def _save_trail(desk: Desk, judgement: VaultJudgement, scan: _FindProgress) -> str:
    """The trail, for vault_hits in any process; the last hundred are kept."""
    trail, at = uuid7(), now()
    found = [[c.path, c.start, c.end, c.title, list(c.signals), c.score] for c in judgement.integrated]
    left = [[path, count, scan.cutoff] for path, count in scan.unscanned]
    with desk.write() as tx:
        tx.run(
            "insert into vault_trail (id, principal, at, found, unscanned) values (:id, :who, :at, :found, :left)",
            id=trail,
            who=desk.principal.name,
            at=at,
            found=json.dumps(found, ensure_ascii=False),
            left=json.dumps(left, ensure_ascii=False),
        )
        tx.run("delete from vault_trail where at <= :old", old=at - _TRAIL_MS)
        oldest = tx.row("select id from vault_trail order by id desc limit 1 offset :most", most=_MAX_TRAILS)
        if oldest is not None:
            tx.run("delete from vault_trail where id <= :oldest", oldest=oldest[0])
    return trail


def _to_hit(kept: list[Any]) -> VaultHit:
    path, start, end, title, signals, score = kept
    ref: VaultRef = {"target": "vault", "path": path, "start_line": start}
    return {"ref": ref, "title": title, "signals": signals, "score": score, "end_line": end}


def _to_unscanned_hit(kept: list[Any]) -> VaultHit:
    path, _, reason = kept
    return {"ref": {"target": "vault", "path": path}, "title": path, "signals": [], "score": 0.0, "reason": reason}
