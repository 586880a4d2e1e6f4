"""vault_find and vault_hits: everything about a topic in the vault, with what was searched and what was not."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, note_down
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.normalize import normalize
from tokonoma.core.query import Query, SearchFilter
from tokonoma.core.recent import RecentResults
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import NO_TEXT, IndexedFile, list_hidden, sync_folder
from tokonoma.files.text import MODULE, decode_text, parse_location, split_passages
from tokonoma.files.text_file import cite_file, mask_file_text
from tokonoma.modules.vault import matching, model
from tokonoma.modules.vault.matching import VaultCandidate, VaultJudgement

MAX_CANDIDATES = 200
MAX_TIME_MS = 60_000
_MAX_TRAILS = 100
_recent = RecentResults()
_TRAIL_MS = 30 * 60_000
_SELECT_TRAIL = """select found, unscanned from vault_trail
where id = :id and principal = :principal and at > :since"""
_INSERT_TRAIL = """insert into vault_trail (id, principal, at, found, unscanned)
values (:id, :principal, :at, :found, :unscanned)"""
_PRUNE_TRAILS = """delete from vault_trail where at <= :old
or id <= (select id from vault_trail order by id desc limit 1 offset :most)"""
CutoffReason = Literal["time_budget", "candidate_cap"]


class FindScope(TypedDict):
    relative_dir: NotRequired[model.RelativeDir]
    glob: NotRequired[model.Glob]


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
    integration_status: matching.Status
    cutoff_reason: NotRequired[CutoffReason]
    hidden_by_policy: NotRequired[Annotated[int, Field(description="for the owner: files that no answer shows")]]


class VaultFindResult(TypedDict):
    trace_id: Opaque
    summary: VaultFindSummary
    next_actions: list[model.VaultNextAction]


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
    candidates: list[VaultCandidate] = field(default_factory=list[VaultCandidate])
    files: int = 0
    passages: int = 0
    unscanned: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # path, sections
    warnings: list[str] = field(default_factory=list[str])
    cutoff: CutoffReason | None = None


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000)],
    scope: Annotated[
        FindScope | None, Field(description="for example without daily notes: {glob: '!artifacts/daily/**'}")
    ] = None,
    budget: Annotated[VaultBudget | None, Field(description="default and maximum: 60000 ms, 200 candidates")] = None,
) -> VaultFindResult:
    """Find everything about a topic in the vault by normalized and loose text, and judge gaps and bias. Returns figures
    and next actions; vault_hits(trace_id) lists the places."""
    limits = budget or {}
    deadline = time.monotonic() + limits.get("time_ms", MAX_TIME_MS) / 1000
    terms, matches = matching.extract_terms(query), matching.compile_glob((scope or {}).get("glob"))
    with model.open_vault(desk) as folder:
        files = sync_folder(desk, folder, model.resolve_folder(folder, (scope or {}).get("relative_dir")))
        wanted = [file for file in files if file.lines != NO_TEXT and matches(file.path)]
        ordered = _order_by_relevance(desk, query, wanted)
        limit = limits.get("max_candidates", MAX_CANDIDATES)
        progress = _scan_files(desk, folder, ordered, terms, normalize(query).strip(), deadline, limit)
    judgement = matching.judge_candidates(progress.candidates, terms)
    trail = _save_trail(desk, judgement, progress)
    actions, summary = _next_actions(query, judgement, progress, trail), _to_summary(progress, judgement)
    if desk.principal.kind == "owner":  # others must not learn that there is more
        summary["hidden_by_policy"] = len(list_hidden(desk))
    return {"trace_id": trail, "summary": summary, "next_actions": actions}


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: Literal["candidates", "unscanned"] = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> VaultHits:
    """List the places that a vault_find found, best first, or those left out by its budget; kept for 30 minutes."""
    trail = _load_trail(desk, trace_id)
    if trail is None:
        raise Missing("There is no such trace; traces expire after 30 minutes. Search again.", trace_id=trace_id)
    saved: list[VaultHit] = json.loads(trail[0] if kind == "candidates" else trail[1])
    visible = {path for (path,) in desk.rows("select distinct path from vault_part where {visible} order by path")}
    listed = [each for each in saved if each["ref"]["path"] in visible]  # files and policies may have changed since
    page = listed[offset : offset + limit]
    versions: dict[str, str] = dict(desk.rows("select path, version from vault_file"))
    for path in {each["ref"]["path"] for each in page}:
        cite_file(desk, path, versions.get(path, ""))
    return {"items": page, "total": len(listed)}


def _load_trail(desk: Desk, trace_id: str) -> Sequence[str] | None:
    """What was found, and what was not searched, both as JSON."""
    who, at = desk.principal.name, desk.now()
    kept = _recent.get(who, trace_id, at)
    return json.loads(kept) if kept else desk.row(_SELECT_TRAIL, id=trace_id, principal=who, since=at - _TRAIL_MS)


def _order_by_relevance(desk: Desk, query: str, files: list[IndexedFile]) -> list[IndexedFile]:
    """Put the files that the index proposes first, so that a budget that ends early has covered the best."""
    hits = desk.find(Query(query, limit=100, neighbours=False), SearchFilter((MODULE,)))
    order: dict[str, int] = {}
    for hit in hits.items:
        order.setdefault(parse_location(hit.address.removeprefix(f"tokonoma://{MODULE}/"))[0], len(order))
    return sorted(files, key=lambda file: (order.get(file.path, len(order)), file.path))


def _scan_files(
    desk: Desk,
    folder: RootFolder,
    files: list[IndexedFile],
    terms: tuple[str, ...],
    phrase: str,
    deadline: float,
    limit: int,
) -> _FindProgress:
    progress = _FindProgress()
    sections: dict[str, int] = dict(desk.rows("select path, count(*) from vault_part where {visible} group by path"))
    for file in files:
        desk.check()
        if progress.cutoff is None and time.monotonic() > deadline:
            progress.cutoff = "time_budget"
        if progress.cutoff is not None:
            progress.unscanned.append((file.path, sections.get(file.path, 0)))
            continue
        parts = tuple(file.path.split("/"))
        try:
            text = mask_file_text(desk, parts, decode_text(folder.read(parts).data, parts))
            passages = split_passages(text, parts)
        except Refusal as error:
            progress.warnings.append(f"{file.path}: {error.kind}")
            continue
        progress.files += 1
        for index, passage in enumerate(passages):
            candidate = matching.match_passage(file.path, passage, terms, phrase)
            if candidate is not None and len(progress.candidates) == limit:
                progress.cutoff = "candidate_cap"
                progress.unscanned.append((file.path, len(passages) - index))
                break
            progress.passages += 1
            if candidate is not None:
                progress.candidates.append(candidate)
    return progress


def _to_summary(progress: _FindProgress, judgement: VaultJudgement) -> VaultFindSummary:
    summary: VaultFindSummary = {
        "scanned_files": progress.files,
        "scanned_nodes": progress.passages,
        "candidates": len(progress.candidates),
        "warnings": progress.warnings[:10],
        "max_stage_applied": 1.5,
        "unscanned_sections_count": sum(count for _, count in progress.unscanned),
        "integrated_nodes": len(judgement.ranked),
        "signal_coverage": {name: sum(name in each.signals for each in judgement.ranked) for name in matching.SIGNALS},
        "file_bias_ratio": judgement.bias,
        "gap_count": len(judgement.gaps),
        "sufficiency_score": judgement.sufficiency,
        "integration_status": judgement.status,
    }
    if progress.cutoff is not None:
        summary["cutoff_reason"] = progress.cutoff
    return summary


def _next_actions(
    query: str, judgement: VaultJudgement, progress: _FindProgress, trail: str
) -> list[model.VaultNextAction]:
    """From the judgement: fill gaps, look beyond one file, check what was found, or stop."""
    actions: list[model.VaultNextAction] = []
    confidence, gaps = round(judgement.sufficiency, 2), " ".join(judgement.gaps)[:200]
    if judgement.gaps:
        actions.append(model.next_action("vault_search", "fill_gaps", 0.6, query=gaps, mode="loose"))
    if progress.cutoff is not None:
        actions.append(model.next_action("vault_hits", "fill_gaps", 0.7, trace_id=trail, kind="unscanned"))
    if judgement.is_biased:
        others = {"glob": f"!{judgement.fullest}"}
        actions.append(model.next_action("vault_find", "reduce_file_bias", 0.6, query=query[:200], scope=others))
    if judgement.ranked:
        path = judgement.ranked[0].path
        actions.append(model.next_action("vault_hits", "verify_coverage", confidence, trace_id=trail))
        actions.append(model.next_action("vault_scan", "verify_coverage", confidence, path=path))
    if judgement.status == "ready" and progress.cutoff is None:
        actions.append(model.stop_action("vault_completed", confidence))
    return actions


def _save_trail(desk: Desk, judgement: VaultJudgement, progress: _FindProgress) -> str:
    """Save the result for vault_hits in any process, and delete all but the last hundred. The result of a caller that
    may only read stays in this process."""
    trail, at, principal = uuid7(), desk.now(), desk.principal.name
    found: list[VaultHit] = [
        {
            "ref": {"target": "vault", "path": each.path, "start_line": each.start},
            "title": each.title,
            "signals": list(each.signals),
            "score": each.score,
            "end_line": each.end,
        }
        for each in judgement.ranked
    ]
    empty: dict[str, Any] = {"signals": [], "score": 0.0, "reason": progress.cutoff}
    unscanned = [{"ref": {"target": "vault", "path": path}, "title": path, **empty} for path, _ in progress.unscanned]
    lists = {"found": json.dumps(found, ensure_ascii=False), "unscanned": json.dumps(unscanned, ensure_ascii=False)}
    if not desk.may_write:
        _recent.put(principal, trail, json.dumps([*lists.values()]), at + _TRAIL_MS)
        return trail

    def save() -> None:
        with desk.write() as tx:
            tx.run(_INSERT_TRAIL, id=trail, principal=principal, at=at, **lists)
            tx.run(_PRUNE_TRAILS, old=at - _TRAIL_MS, most=_MAX_TRAILS)

    note_down(save)
    return trail
