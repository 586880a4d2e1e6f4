"""manual_find: everything about a topic, by several strategies at once, with a proof of what was looked at."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.log import log
from tokonoma.core.query import Condition, Query, SearchFilter
from tokonoma.modules.manual import stages
from tokonoma.modules.manual import trails as trace
from tokonoma.modules.manual.addresses import parse_section_name, require_manual_id
from tokonoma.modules.manual.cache import ManualLibrary, load_library
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.index import manuals_root
from tokonoma.modules.manual.judge import ManualJudgement, build_next_actions, judge_candidates, needs_widening
from tokonoma.modules.manual.lookup import SectionReader
from tokonoma.modules.manual.pointers import find_pointer
from tokonoma.modules.manual.stages import SectionCandidates
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import Intent, ParsedQuery, QueryTerm, parse_query
from tokonoma.modules.manual.thresholds import Thresholds, load_thresholds
from tokonoma.modules.manual.trails import CutoffReason, Key, SearchRun, SearchTrace
from tokonoma.modules.manual.types import ManualBudget, ManualFindResult, ManualFindSummary, ManualNextAction
from tokonoma.modules.manual.variants import expand_term

_FEW_WORDS = 5  # of a query, up to which each is looked for under other names by its sound as well
_MAX_SEMANTIC, _MIN_SEMANTIC = (
    100,
    30,
)  # hits of the shared index: the more sections hold the term by name, the fewer are needed


@dataclass(slots=True)
class ManualSearch:
    """One search on its way through the stages."""

    desk: Desk
    library: ManualLibrary
    corpus: ManualCorpus  # what is looked through
    query: ParsedQuery
    manual: str | None
    thresholds: Thresholds
    deadline: float
    max_candidates: int
    candidates: SectionCandidates
    variants: Mapping[str, Sequence[QueryTerm]] = field(default_factory=dict[str, Sequence[QueryTerm]])
    warnings: list[str] = field(default_factory=list[str])
    max_stage_applied: float = 0.0
    widened: bool = False
    scope_expanded: bool = False
    cutoff: CutoffReason | None = None
    unscanned: dict[Key, CutoffReason] = field(default_factory=dict[Key, CutoffReason])


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000, description="a topic, a term or a question")],
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    intent: Annotated[Intent | None, Field(description="left out: guessed from the query")] = None,
    max_stage: Annotated[int, Field(ge=3, le=4, description="4 widens when too little is found")] = 4,
    only_unscanned_from_trace_id: Annotated[str | None, Field(description="go on where that search stopped")] = None,
    budget: Annotated[ManualBudget | None, Field(description="time_ms 60000, max_candidates 200")] = None,
    must_include: Annotated[list[str] | None, Field(max_length=20, description="terms that must be looked for")] = None,
) -> ManualFindResult:
    """Find every section about a topic, in any spelling, in Japanese and English. Answers with figures and a trace_id;
    manual_hits lists the sections, manual_read reads them. What was not looked at is counted and can be resumed."""
    begun = time.monotonic()
    if not query.strip():
        raise Invalid("query is empty: name a topic.", field="query")
    resumed = trace.load_trace(desk, only_unscanned_from_trace_id) if only_unscanned_from_trace_id else None
    manual = require_manual_id(manual_id) if manual_id is not None else resumed.manual if resumed else None
    held = load_library(desk)
    places = held.positions(manual)
    if resumed is not None:
        places = [held.corpus.positions[key] for key, _ in resumed.unscanned if key in held.corpus.positions]
    given = budget or {}
    search = ManualSearch(
        desk,
        held,
        held.corpus.limit_to(manual),
        parse_query(query, intent, must_include or ()),
        manual,
        load_thresholds(desk),
        begun + given.get("time_ms", 60_000) / 1000,
        given.get("max_candidates", 200),
        SectionCandidates(frozenset(places)),
    )
    _run_stages(search, max_stage, resumed is not None)
    return _to_response(search)


def _run_stages(search: ManualSearch, max_stage: int, resumed: bool) -> None:
    stock, asked, pot = search.corpus, search.query, search.candidates
    _report_problems(search)
    stages.add_exact(stock, asked, pot)
    exceptions = list(search.library.glossary(search.manual).exceptions)
    hits = 0

    def first() -> None:
        search.variants = _find_variants(search)
        stages.add_loose(stock, asked, search.variants, pot)
        _search_index(search)

    def second() -> None:
        nonlocal hits
        hits = stages.add_exceptions(stock, exceptions, asked.intent == "exceptions", pot)

    def third() -> None:
        stages.add_references(stock, pot)

    for stage, work in ((1, first), (2, second), (3, third)):
        if not _run_stage(search, stage, work):
            return
    lacking = asked.intent == "exceptions" and not hits
    if needs_widening(pot, stock, search.thresholds.low, search.thresholds.bias, lacking):
        if max_stage < 4:
            _cut_off(search, "stage_cap")
        else:
            _run_stage(search, 4, lambda: _widen(search, resumed))


def _run_stage(search: ManualSearch, stage: int, work: Callable[[], None]) -> bool:
    """False if the time is over. A stage that fails is a warning; what the others found is still told."""
    search.desk.check()
    if time.monotonic() >= search.deadline:
        _cut_off(search, "time_budget")
        return False
    try:
        work()
    except Refusal:
        raise
    except Exception as error:
        log("error", "manual_find", stage=stage, error=type(error).__name__)
        search.warnings.append(f"stage {stage} failed; the other stages' results are complete")
    else:
        search.max_stage_applied = float(stage)
    return True


def _widen(search: ManualSearch, resumed: bool) -> None:
    """Any word counts now, and other manuals too, unless it was told exactly where to look."""
    search.widened = True
    if search.manual is not None and not resumed:
        everywhere = frozenset(search.library.positions(None))
        search.scope_expanded = everywhere != search.candidates.allowed
        search.candidates.allowed, search.corpus = everywhere, search.library.corpus
        if search.scope_expanded:
            stages.add_exact(search.corpus, search.query, search.candidates)
            stages.add_loose(search.corpus, search.query, search.variants, search.candidates)
    stages.widen(search.corpus, search.query, search.variants, search.candidates)


def _cut_off(search: ManualSearch, reason: CutoffReason) -> None:
    """The rest of the sections was not looked at by every stage."""
    search.cutoff = search.cutoff or reason
    for place in search.candidates.allowed:
        if place not in search.candidates.found:
            search.unscanned.setdefault(search.corpus.sections[place].key, reason)


def _report_problems(search: ManualSearch) -> None:
    """Files that are too large to be read are told of, never passed over in silence."""
    for (manual, path), problem in search.library.problems.items():
        if search.manual in (None, manual):
            search.warnings.append(f"{manual}/{path}: {problem}")
            if problem.startswith("larger"):
                search.unscanned[manual, path, 1] = "hard_limit"
                search.cutoff = search.cutoff or "hard_limit"
                place = search.corpus.positions.get((manual, path, 1))
                if place is not None:
                    search.candidates.allowed -= {place}
    for manual, found in search.library.on_disk.glossaries.items():
        if found.problem and search.manual in (None, manual):
            search.warnings.append(f"{manual}/glossary.yml was not read: {found.problem}")


def _find_variants(search: ManualSearch) -> dict[str, Sequence[QueryTerm]]:
    known, asked = search.library.glossary_variants(search.manual), search.query
    found: dict[str, Sequence[QueryTerm]] = {}
    heard = len(asked.words) <= _FEW_WORDS
    for term in (asked.phrase, *asked.words, *asked.required):
        if term.written not in found:
            found[term.written] = expand_term(term, (known, search.library.definitions), search.corpus, by_sound=heard)
    return found


def _search_index(search: ManualSearch) -> None:
    """What the shared index puts first, by words and, where there are vectors, by meaning."""
    conditions = (Condition("manual_id", "is", (search.manual,)),) if search.manual is not None else ()
    most = max(_MIN_SEMANTIC, _MAX_SEMANTIC - 2 * len(search.candidates.named))
    # Every section is looked through by its words anyway: nobody waits for the vectors of new ones.
    query = Query(search.query.text[:2000], limit=most, neighbours=False, wait_for_embedding=False)
    hits = search.desk.find(query, SearchFilter((NAME,), None, conditions)).items
    best = max((hit.score for hit in hits), default=0.0)
    for hit in hits:
        manual, path, line = parse_section_name(parse_address(hit.address)[1])
        place = search.corpus.positions.get((manual, path, line or 1))
        if place is not None and best > 0:
            search.candidates.add(place, "semantic", hit.score / best)


def _to_response(search: ManualSearch) -> ManualFindResult:
    pot, stock = search.candidates, search.corpus
    ranked = pot.rank()
    for place in ranked[search.max_candidates :]:
        search.unscanned[stock.sections[place].key] = "candidate_cap"
        search.cutoff = search.cutoff or "candidate_cap"
        del pot.found[place]
    judgement = judge_candidates(
        stock, search.query, search.variants, pot, search.thresholds.low, search.thresholds.bias
    )
    kept = _build_trace(search, ranked[: search.max_candidates], judgement)
    named = len(pot.named.intersection(pot.found))
    actions = build_next_actions(
        search.query, judgement, named, kept.id, len(search.unscanned), search.manual, search.thresholds.bias
    )
    found: ManualFindResult = {
        "trace_id": kept.id,
        "summary": _to_summary(search, judgement),
        "next_actions": [ManualNextAction(**action) for action in actions],
    }
    size_in, size_out = len(search.query.text), sum(len(str(part)) for part in found.values())
    run = SearchRun(search.cutoff is not None, len(pot.found), search.widened, -(-size_in // 4), -(-size_out // 4))
    trace.save_trace(search.desk, kept, run)
    return found


def _to_summary(search: ManualSearch, judgement: ManualJudgement) -> ManualFindSummary:
    places = search.corpus.positions
    scanned = search.candidates.allowed.difference(places[key] for key in search.unscanned if key in places)
    summary: ManualFindSummary = {
        "scanned_files": len({search.corpus.file_numbers[place] for place in scanned}),
        "scanned_nodes": len(scanned),
        "candidates": len(search.candidates.found),
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
    return summary


def _build_trace(search: ManualSearch, ranked: Sequence[int], judgement: ManualJudgement) -> SearchTrace:
    def item(place: int) -> dict[str, Any]:
        section = search.corpus.sections[place]
        return {
            "manual": section.manual,
            "path": section.path,
            "line": section.line,
            "title": section.title,
            "signals": search.candidates.signals(place),
            "score": round(search.candidates.score(place), 2),
        }

    candidates = [item(place) for place in ranked]
    _add_json_pointers(search, ranked, candidates)
    return SearchTrace(
        trace.new_trace_id(),
        search.query.text,
        search.manual,
        candidates,
        sorted(search.unscanned.items()),
        [
            {
                **item(conflict.second),
                "reason": f"{conflict.about}: {conflict.reason} ({_format_position(search, conflict.first)})",
            }
            for conflict in judgement.conflicts
        ],
        [{"title": missing, "reason": why} for missing, why in judgement.gaps],
        [item(place) for place in judgement.integrated[:50]],
    )


def _add_json_pointers(search: ManualSearch, ranked: Sequence[int], candidates: Sequence[dict[str, Any]]) -> None:
    """A JSON file has no headings: its candidates say where in it the term stands."""
    asked = search.query
    names = [*search.variants.get(asked.phrase.written, ()), *asked.words]
    with SectionReader(manuals_root(search.desk), search.corpus) as reader:
        for place, candidate in zip(ranked, candidates, strict=True):
            if candidate["path"].lower().endswith(".json"):
                found = find_pointer(reader.read_section(place), [asked.phrase, *asked.required, *names])
                if found is not None:
                    candidate["json_path"] = found


def _format_position(search: ManualSearch, place: int) -> str:
    section = search.corpus.sections[place]
    return f"{section.path}:{section.line}"
