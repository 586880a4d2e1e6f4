"""vault_find and vault_hits: everything about a topic in the vault, with what was searched and what was not."""

import time
from dataclasses import replace
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.log import log
from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.core.query import Query, SearchFilter
from tokonoma.files.backlog import IndexingProgress
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import list_hidden, sync_folder
from tokonoma.files.indexed_file import IndexedFile
from tokonoma.files.listing import NO_LINES, LeftOut, count_left_out
from tokonoma.files.text import MODULE, parse_location
from tokonoma.files.text_file import read_shown_text
from tokonoma.modules.vault import account, matching, model
from tokonoma.modules.vault.hits import CutoffReason, FindProgress, save_trail
from tokonoma.modules.vault.matching import VaultJudgement
from tokonoma.modules.vault.passages import PassageCache

MAX_CANDIDATES = 200
MAX_TIME_MS = 60_000
_passages = PassageCache()


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
    unscanned_files: NotRequired[Annotated[int, Field(description="files with no section that was searched")]]
    left_out_files: NotRequired[
        Annotated[dict[str, int], Field(description="files that cannot be searched, by reason; listed by vault_hits")]
    ]
    integrated_nodes: int
    signal_coverage: dict[str, int]
    file_bias_ratio: float
    gap_count: int
    sufficiency_score: float
    integration_status: matching.Status
    cutoff_reason: NotRequired[CutoffReason]
    indexing: NotRequired[IndexingProgress]
    hidden_by_policy: NotRequired[Annotated[int, Field(description="for the owner: files that no answer shows")]]


class VaultFindResult(TypedDict):
    trace_id: Opaque
    summary: VaultFindSummary
    next_actions: list[model.VaultNextAction]


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
    limits, started = budget or {}, time.monotonic()
    deadline = started + limits.get("time_ms", MAX_TIME_MS) / 1000
    terms, matches = matching.extract_terms(query), matching.compile_glob((scope or {}).get("glob"))
    with model.open_vault(desk) as folder:
        below, wait = model.resolve_folder(folder, (scope or {}).get("relative_dir")), limits.get("time_ms")
        synced = sync_folder(desk, folder, below, None if wait is None else wait / 2000)  # half of it
        wanted = [file for file in synced.files if file.lines not in NO_LINES and matches(file.path)]
        ordered = _order_by_relevance(desk, query, wanted)
        limit = limits.get("max_candidates", MAX_CANDIDATES)
        progress = _scan_files(desk, folder, ordered, terms, normalize(query).strip(), deadline, limit)
        progress.left_out += account.list_left_out(desk, folder, below, synced.files, matches)
    judgement = matching.judge_candidates(progress.candidates, terms)
    if pending := [path for path in synced.pending if matches(path)]:
        # vault_hits lists each of them when it is indexed, to those who may see it.
        progress.cutoff = progress.cutoff or "indexing"
        progress.unscanned.extend((path, 1, "indexing") for path in pending)
    if judgement.status == "ready" and (progress.unscanned or account.has_relevant(progress.left_out)):
        judgement = replace(judgement, status="needs_followup")
    summary = _to_summary(progress, judgement)
    if pending and synced.indexing is not None:
        summary["indexing"] = synced.indexing
    if desk.principal.kind == "owner":  # others must not learn that there is more
        summary["hidden_by_policy"] = len(list_hidden(desk))
    trail = save_trail(desk, judgement, progress, {file.path: file.version for file in wanted}, summary)
    actions = _next_actions(query, judgement, progress, trail)
    _log_operation(summary, started)
    return {"trace_id": trail, "summary": summary, "next_actions": actions}


def _log_operation(summary: VaultFindSummary, started: float) -> None:
    """Figures only: neither the query nor anything of the texts."""
    log(
        "info",
        "vault_find",
        scanned=summary["scanned_nodes"],
        candidates=summary["candidates"],
        unscanned=summary["unscanned_sections_count"],
        stage=summary["max_stage_applied"],
        cutoff=summary.get("cutoff_reason"),
        status=summary["integration_status"],
        ms=round((time.monotonic() - started) * 1000),
    )


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
) -> FindProgress:
    progress, forms = FindProgress(), {term: normalize_loose(term) for term in terms}
    root = desk.server.locations()["vault"]
    sections: dict[str, int] = dict(desk.rows("select path, count(*) from vault_part where {visible} group by path"))
    for file in files:
        desk.check()
        if progress.cutoff is None and time.monotonic() > deadline:
            progress.cutoff = "time_budget"
        if progress.cutoff is not None:
            progress.unscanned.append((file.path, sections.get(file.path, 0), progress.cutoff))
            continue
        parts = tuple(file.path.split("/"))
        try:
            passages = _passages.split(root, parts, *read_shown_text(desk, folder, file))
        except Refusal as error:
            progress.warnings.append(f"{file.path}: {error.kind}")
            progress.left_out.append(LeftOut(parts, "changed"))
            continue
        progress.searched.add(file.path)
        for index, passage in enumerate(passages):
            candidate = matching.match_passage(file.path, passage, forms, phrase)
            if candidate is not None and len(progress.candidates) == limit:
                progress.cutoff = "candidate_cap"
                progress.unscanned.append((file.path, len(passages) - index, progress.cutoff))
                break
            progress.passages += 1
            if candidate is not None:
                progress.candidates.append(candidate)
    return progress


def _to_summary(progress: FindProgress, judgement: VaultJudgement) -> VaultFindSummary:
    summary: VaultFindSummary = {
        "scanned_files": len(progress.searched),
        "scanned_nodes": progress.passages,
        "candidates": len(progress.candidates),
        "warnings": progress.warnings[:10],
        "max_stage_applied": 1.5,
        "unscanned_sections_count": sum(count for _, count, _ in progress.unscanned),
        "integrated_nodes": len(judgement.ranked),
        "signal_coverage": {name: sum(name in each.signals for each in judgement.ranked) for name in matching.SIGNALS},
        "file_bias_ratio": judgement.bias,
        "gap_count": len(judgement.gaps),
        "sufficiency_score": judgement.sufficiency,
        "integration_status": judgement.status,
    }
    if unsearched := {path for path, _, _ in progress.unscanned} - progress.searched:
        summary["unscanned_files"] = len(unsearched)
    if progress.left_out:
        summary["left_out_files"] = count_left_out(progress.left_out)
    if progress.cutoff is not None:
        summary["cutoff_reason"] = progress.cutoff
    return summary


def _next_actions(
    query: str, judgement: VaultJudgement, progress: FindProgress, trail: str
) -> list[model.VaultNextAction]:
    """From the judgement: fill gaps, look beyond one file, check what was found, or stop."""
    actions: list[model.VaultNextAction] = []
    confidence, gaps = round(judgement.sufficiency, 2), " ".join(judgement.gaps)[:200]
    if judgement.gaps:
        actions.append(model.next_action("vault_search", "fill_gaps", 0.6, query=gaps, mode="loose"))
    if progress.cutoff is not None or account.has_relevant(progress.left_out):
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
