"""What manual_find returns of a search, and the trace that it leaves for manual_hits."""

from collections.abc import Sequence

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.files.listing import count_left_out
from tokonoma.modules.manual import account, judge, model
from tokonoma.modules.manual.corpus import IndexedSection
from tokonoma.modules.manual.evidence import SearchedTerms
from tokonoma.modules.manual.json_nodes import find_named_value
from tokonoma.modules.manual.judge import ManualJudgement
from tokonoma.modules.manual.refs import mask_file
from tokonoma.modules.manual.source_file import open_source_file
from tokonoma.modules.manual.stages import ManualSearch
from tokonoma.modules.manual.terms import QueryTerm
from tokonoma.modules.manual.traces import ManualHit, SearchTrace, build_hit, new_trace_id, save_trace

_SMALL_JSON = 20_000  # characters


def build_response(desk: Desk, search: ManualSearch) -> model.ManualFindResult:
    ranked, max_candidates = search.rank(), search.max_candidates
    for position in ranked[max_candidates:]:
        search.unscanned[search.corpus.sections[position].key] = "candidate_cap"
        search.cutoff = search.cutoff or "candidate_cap"
        del search.found[position]
    search.left_out = account.list_left_out(desk, search.library, None if search.scope_expanded else search.manual)
    judgement = judge.judge_candidates(search)
    trace = _build_trace(desk, search, ranked[:max_candidates], judgement)
    summary = _to_summary(desk, search, judgement)
    trace.summary = {**summary}
    result: model.ManualFindResult = {
        "trace_id": trace.id,
        "summary": summary,
        "next_actions": judge.build_next_actions(search, judgement, trace.id),
    }
    for best in trace.candidates[:1]:  # with the trace, so that what is read counts for the thresholds
        result["next_actions"].append(
            {
                "type": "manual_read",
                "intent": "verify_coverage",
                "confidence": 0.5,
                "params": {"ref": best.get("ref"), "trace_id": trace.id},
            }
        )
    size_in, size_out = len(search.query.text), sum(len(str(part)) for part in result.values())
    save_trace(
        desk,
        trace,
        cutoff=int(search.cutoff is not None),
        candidates=len(search.found),
        widened=int(search.widened),
        tokens_in=-(-size_in // 4),
        tokens_out=-(-size_out // 4),
    )
    return result


def _to_summary(desk: Desk, search: ManualSearch, judgement: ManualJudgement) -> model.ManualFindSummary:
    corpus = search.corpus
    unscanned = {corpus.positions[key] for key in search.unscanned if key in corpus.positions}
    scanned = search.allowed.difference(unscanned)
    searched = {corpus.file_keys[position] for position in scanned}
    unsearched = {(manual, path) for manual, path, _ in search.unscanned}
    summary: model.ManualFindSummary = {
        "scanned_files": len(searched),
        "scanned_nodes": len(scanned),
        "candidates": len(search.found),
        "warnings": search.warnings[:5],
        "max_stage_applied": search.max_stage_applied,
        "scope_expanded": search.scope_expanded,
        "unscanned_sections_count": len(search.unscanned),
        "integrated_nodes": len(judgement.integrated),
        "signal_coverage": {str(signal): share for signal, share in judgement.coverage.items()},
        "file_bias_ratio": judgement.bias,
        "conflict_count": len(judgement.conflicts),
        "gap_count": len(judgement.gaps),
        "sufficiency_score": judgement.sufficiency,
        "integration_status": judgement.status,
    }
    if unsearched - searched:
        summary["unscanned_files"] = len(unsearched - searched)
    if search.left_out:
        summary["left_out_files"] = count_left_out(search.left_out)
    if search.pending_vectors:
        summary["pending_vectors"] = search.pending_vectors
    if search.cutoff is not None:
        summary["cutoff_reason"] = search.cutoff
    if (indexing := search.library.count_indexed(search.manual)) is not None:
        summary["indexing"] = indexing
    if desk.principal.kind == "owner":  # others must not learn that there is more
        whole, visible = search.library.corpus.limit_to(search.manual), search.library.positions(search.manual)
        summary["hidden_by_policy"] = whole.count_searched() - len(visible)
    return summary


def _build_trace(desk: Desk, search: ManualSearch, ranked: Sequence[int], judgement: ManualJudgement) -> SearchTrace:
    sections = search.corpus.sections

    def to_hit(position: int) -> ManualHit:
        section = sections[position]
        hit = build_hit(section.key, section.title, section.hash, section.json_path)
        signals, score = [*search.signals(position)], round(search.score(position), 2)
        return {**hit, "signals": signals, "score": score}

    candidates = [to_hit(position) for position in ranked]
    for position, hit in zip(ranked, candidates, strict=True):
        _add_json_pointer(desk, search, sections[position], hit)
    conflicts: list[ManualHit] = []
    for conflict in judgement.conflicts:
        first = sections[conflict.first]
        reason = f"{conflict.about}: {conflict.reason} ({first.path}:{first.line})"
        conflicts.append({**to_hit(conflict.second), "reason": reason})
    return SearchTrace(
        new_trace_id(),
        search.query.text,
        search.manual,
        candidates,
        sorted(search.unscanned.items()),
        conflicts,
        [{"title": missing, "reason": why} for missing, why in judgement.gaps],
        [to_hit(position) for position in judgement.integrated[:50]],
        _list_terms(search),
        left_out=[(each.path, each.reason, each.files) for each in search.left_out],
        stage=int(search.max_stage_applied),
    )


def _list_terms(search: ManualSearch) -> SearchedTerms:
    """What manual_hits looks for in the lines of a hit."""

    def list_forms(terms: Sequence[QueryTerm]) -> list[tuple[str, str]]:
        named = [name for term in terms for name in (term, *search.variants_of(term))]
        return [*dict.fromkeys((name.folded, name.loose) for name in named)]

    query = search.query
    return SearchedTerms(list_forms((query.phrase, *query.required)), list_forms(query.words))


def _add_json_pointer(desk: Desk, search: ManualSearch, section: IndexedSection, hit: ManualHit) -> None:
    """A small JSON file is one section: its hit says where in it the term is."""
    ref = hit.get("ref")
    if ref is None or not model.is_json(section.path) or section.level or section.size > _SMALL_JSON:
        return
    query = search.query
    try:
        file = open_source_file(desk.server.locations()["manuals"], section.manual, section.path)
    except Refusal:  # deleted since it was indexed
        return
    if file.tree is None or mask_file(desk, search.library, section.manual, section.path, file) is not file:
        return  # a pointer could tell what is hidden
    names = [query.phrase, *query.required, *search.variants_of(query.phrase), *query.words]
    pointer = find_named_value(file.tree, section.own_end, [term.folded for term in names if term.folded])
    if pointer:
        ref["json_path"] = pointer
