"""manual_find: everything about a topic, by several strategies at once, with a record of what was searched."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.log import log
from tokonoma.core.query import Condition, Query, SearchFilter
from tokonoma.modules.manual import judge, model, stages
from tokonoma.modules.manual.hits import ManualHit, SearchTrace, build_hit, load_trace, new_trace_id, save_trace
from tokonoma.modules.manual.hooks import open_source_file
from tokonoma.modules.manual.judge import ManualJudgement
from tokonoma.modules.manual.model import ManualBudget
from tokonoma.modules.manual.stages import ManualSearch
from tokonoma.modules.manual.sync import GLOSSARY_FILE, load_library
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import Intent, QueryTerm, find_pointer, parse_query
from tokonoma.modules.manual.variants import expand_term

_MAX_TERM = 2000  # characters
_FEW_WORDS = 5  # up to this number of words, each is also expanded by its sound
_MAX_SEMANTIC, _MIN_SEMANTIC = 100, 30  # hits of the shared index: fewer, the more sections contain the term by name


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000, description="a topic, a term or a question")],
    manual_id: model.ManualId = None,
    intent: Annotated[Intent | None, Field(description="default: guessed from the query")] = None,
    max_stage: Annotated[int, Field(ge=3, le=4, description="4 widens the search when too little is found")] = 4,
    only_unscanned_from_trace_id: Annotated[str | None, Field(description="continue where that search stopped")] = None,
    budget: Annotated[ManualBudget | None, Field(description="default: time_ms 60000, max_candidates 200")] = None,
    must_include: Annotated[list[str] | None, Field(max_length=20, description="terms that must be searched")] = None,
) -> model.ManualFindResult:
    """Find every section about a topic, in any spelling, in Japanese and English. Returns figures and a trace_id;
    manual_hits lists the sections, manual_read reads them. What was not searched is counted and can be resumed."""
    started = time.monotonic()
    if not query.strip():
        raise Invalid("query is empty. Give a topic.", field="query")
    if any(len(each) > _MAX_TERM for each in must_include or ()):
        raise Invalid(f"A term of must_include has at most {_MAX_TERM} characters.", field="must_include")
    resumed = load_trace(desk, only_unscanned_from_trace_id) if only_unscanned_from_trace_id else None
    manual = manual_id if manual_id is not None else resumed.manual if resumed else None
    library = load_library(desk)
    positions = library.positions(manual)
    if resumed is not None:
        known = library.corpus.positions
        positions = [known[key] for key, _ in resumed.unscanned if key in known]
    limits = budget or {}
    parsed = parse_query(query, intent, must_include or ())
    corpus, thresholds = library.corpus.limit_to(manual), judge.load_thresholds(desk)
    search = ManualSearch(library, corpus, parsed, manual, thresholds, frozenset(positions))
    deadline = started + limits.get("time_ms", 60_000) / 1000
    _run_stages(desk, search, max_stage, resumed is not None, deadline)
    return _to_response(desk, search, limits.get("max_candidates", 200))


def _run_stages(desk: Desk, search: ManualSearch, max_stage: int, resumed: bool, deadline: float) -> None:
    def run(stage: int, act: Callable[[ManualSearch], None]) -> bool:
        """False if the time is over. A stage that fails gives a warning; the results of the others stay."""
        desk.check()
        if time.monotonic() >= deadline:
            _cut_off(search, "time_budget")
            return False
        try:
            act(search)
        except Refusal:
            raise
        except Exception as error:
            log("error", "manual_find", stage=stage, error=type(error).__name__)
            search.warnings.append(f"stage {stage} failed; the results of the other stages are complete")
        else:
            search.max_stage_applied = float(stage)
        return True

    def add_variants(search: ManualSearch) -> None:
        search.variants = _find_variants(search)
        stages.add_loose(search)
        _search_index(desk, search)

    _report_problems(search)
    stages.add_exact(search)
    in_order = add_variants, stages.add_exceptions, stages.add_references
    if not all(run(stage, act) for stage, act in enumerate(in_order, 1)):
        return
    if judge.needs_widening(search):
        if max_stage < 4:
            _cut_off(search, "stage_cap")
        else:
            run(4, lambda search: _widen(search, resumed))


def _widen(search: ManualSearch, resumed: bool) -> None:
    """Search for any word, and in other manuals too, unless the caller said exactly where to search."""
    search.widened = True
    if search.manual is not None and not resumed:
        everywhere = frozenset(search.library.positions(None))
        search.scope_expanded = everywhere != search.allowed
        search.allowed, search.corpus = everywhere, search.library.corpus
        if search.scope_expanded:
            stages.add_exact(search)
            stages.add_loose(search)
    stages.widen(search)


def _cut_off(search: ManualSearch, reason: model.CutoffReason) -> None:
    """Mark the other sections as not searched by every stage."""
    search.cutoff = search.cutoff or reason
    for position in search.allowed.difference(search.found):
        search.unscanned.setdefault(search.corpus.sections[position].key, reason)


def _report_problems(search: ManualSearch) -> None:
    """Files that are too large to be read, or to be searched to the end, are always reported."""
    for (manual, path), problem in search.library.problems.items():
        if search.manual in (None, manual):
            search.warnings.append(f"{manual}/{path}: {problem}")
            if problem.startswith(("larger", "too long")):
                search.unscanned[manual, path, 1] = "hard_limit"
                search.cutoff = search.cutoff or "hard_limit"
            if problem.startswith("larger"):
                position = search.corpus.positions.get((manual, path, 1))
                if position is not None:
                    search.allowed -= {position}
    for manual, glossary in search.library.on_disk.glossaries.items():
        if glossary.problem and search.manual in (None, manual):
            search.warnings.append(f"{manual}/{GLOSSARY_FILE} was not read: {glossary.problem}")


def _find_variants(search: ManualSearch) -> dict[str, Sequence[QueryTerm]]:
    query, known = search.query, (search.library.glossary(search.manual)[1], search.library.definitions)
    by_sound = len(query.words) <= _FEW_WORDS
    variants: dict[str, Sequence[QueryTerm]] = {}
    for term in (query.phrase, *query.words, *query.required):
        if term.written not in variants:
            variants[term.written] = expand_term(term, known, search.corpus, by_sound=by_sound)
    return variants


def _search_index(desk: Desk, search: ManualSearch) -> None:
    """Add the first hits of the shared index: by words and, if there are vectors, by meaning."""
    conditions = (Condition("manual_id", "is", (search.manual,)),) if search.manual is not None else ()
    limit = max(_MIN_SEMANTIC, _MAX_SEMANTIC - 2 * len(search.named))
    # Every section is searched by its words anyway, so this does not wait for the vectors of new sections.
    query = Query(search.query.text[:2000], limit=limit, neighbours=False, wait_for_embedding=False)
    hits = desk.find(query, SearchFilter((NAME,), None, conditions)).items
    best = max((hit.score for hit in hits), default=0.0)
    for hit in hits:
        manual, path, line = model.parse_section_name(parse_address(hit.address)[1])
        position = search.corpus.positions.get((manual, path, line or 1))
        if position is not None and best > 0:
            search.add([position], "semantic", hit.score / best)


def _to_response(desk: Desk, search: ManualSearch, max_candidates: int) -> model.ManualFindResult:
    ranked = search.rank()
    for position in ranked[max_candidates:]:
        search.unscanned[search.corpus.sections[position].key] = "candidate_cap"
        search.cutoff = search.cutoff or "candidate_cap"
        del search.found[position]
    judgement = judge.judge_candidates(search)
    trace = _build_trace(desk, search, ranked[:max_candidates], judgement)
    result: model.ManualFindResult = {
        "trace_id": trace.id,
        "summary": _to_summary(desk, search, judgement),
        "next_actions": judge.build_next_actions(search, judgement, trace.id),
    }
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
    unscanned = (corpus.positions[key] for key in search.unscanned if key in corpus.positions)
    scanned = search.allowed.difference(unscanned)
    summary: model.ManualFindSummary = {
        "scanned_files": len({corpus.sections[position].file for position in scanned}),
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
    if search.cutoff is not None:
        summary["cutoff_reason"] = search.cutoff
    if desk.principal.kind == "owner":  # others must not learn that there is more
        whole, visible = search.library.corpus.limit_to(search.manual), search.library.positions(search.manual)
        summary["hidden_by_policy"] = whole.count_searched() - len(visible)
    return summary


def _build_trace(desk: Desk, search: ManualSearch, ranked: Sequence[int], judgement: ManualJudgement) -> SearchTrace:
    sections = search.corpus.sections

    def to_hit(position: int) -> ManualHit:
        hit = build_hit(sections[position].key, sections[position].title)
        signals, score = [*search.signals(position)], round(search.score(position), 2)
        return {**hit, "signals": signals, "score": score}

    candidates = [to_hit(position) for position in ranked]
    for hit in candidates:
        _add_json_pointer(desk, search, hit.get("ref"))
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
    )


def _add_json_pointer(desk: Desk, search: ManualSearch, ref: model.ManualRef | None) -> None:
    """A JSON file has no headings, so its hit says where in the file the term is."""
    if ref is None or not ref["path"].lower().endswith(".json"):
        return
    query = search.query
    try:
        file = open_source_file(desk.server.locations()["manuals"], ref["manual_id"], ref["path"])
    except Refusal:  # deleted since it was indexed
        return
    names = [query.phrase, *query.required, *search.variants_of(query.phrase), *query.words]
    pointer = find_pointer("".join(file.lines), names)
    if pointer is not None:
        ref["json_path"] = pointer
