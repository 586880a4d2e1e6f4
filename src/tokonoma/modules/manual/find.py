"""manual_find: everything about a topic, by several strategies at once, with a record of what was searched."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.log import log
from tokonoma.core.query import Condition, Query, SearchFilter
from tokonoma.modules.manual import account, judge, model, stages
from tokonoma.modules.manual.model import ManualBudget
from tokonoma.modules.manual.response import build_response
from tokonoma.modules.manual.stages import ManualSearch
from tokonoma.modules.manual.sync import GLOSSARY_FILE, ManualLibrary, load_library
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import Intent, QueryTerm, parse_query
from tokonoma.modules.manual.traces import SearchTrace, load_trace
from tokonoma.modules.manual.variants import expand_term

_MAX_TERM = 2000  # characters
_FEW_WORDS = 5  # up to this number of words, each is also expanded by its sound
_MAX_SEMANTIC, _MIN_SEMANTIC = 50, 30  # hits of the shared index: fewer, the more sections contain the term by name


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
    manual = None if manual is None else model.require_manual_id(manual)
    limits = budget or {}
    wait = limits.get("time_ms")
    library = load_library(desk, wait=None if wait is None else wait / 2000)  # half of it
    positions = account.list_searched(library, manual)
    if resumed is not None:
        positions = _list_remaining(library, positions, resumed)
    parsed = parse_query(query, intent, must_include or ())
    corpus, thresholds = library.corpus.limit_to(manual), judge.load_thresholds(desk)
    search = ManualSearch(library, corpus, parsed, manual, thresholds, frozenset(positions))
    search.resumed, search.max_candidates = resumed is not None, limits.get("max_candidates", search.max_candidates)
    if resumed is not None and not positions:
        search.warnings.append("nothing is left that can be searched; manual_hits lists the rest with its reasons")
    deadline = started + limits.get("time_ms", 60_000) / 1000
    # Each round gets one stage further, however little time it has: it would never end otherwise.
    _run_stages(desk, search, max_stage, 0 if resumed is None else resumed.stage + 1, deadline)
    result = build_response(desk, search)
    _log_operation(search, result["summary"], started)
    return result


def _list_remaining(library: ManualLibrary, positions: Sequence[int], trace: SearchTrace) -> list[int]:
    """Without what is too long to be searched: that stays as it is. Files that were not indexed are searched whole."""
    keys = [key for key, reason in trace.unscanned if reason not in ("hard_limit", "indexing")]
    whole = [path for path, _, _ in trace.left_out]
    whole += [f"{key[0]}/{key[1]}" for key, reason in trace.unscanned if reason == "indexing"]
    return account.list_remaining(library, positions, keys, whole)


def _log_operation(search: ManualSearch, summary: model.ManualFindSummary, started: float) -> None:
    """Figures only: neither the query nor anything of the texts."""
    log(
        "info",
        "manual_find",
        manual=search.manual,
        scanned=summary["scanned_nodes"],
        candidates=summary["candidates"],
        named=len(search.named.intersection(search.found)),
        unscanned=summary["unscanned_sections_count"],
        stage=summary["max_stage_applied"],
        cutoff=search.cutoff,
        status=summary["integration_status"],
        ms=round((time.monotonic() - started) * 1000),
    )


def _run_stages(desk: Desk, search: ManualSearch, max_stage: int, least: int, deadline: float) -> None:
    def run(stage: int, act: Callable[[ManualSearch], None]) -> bool:
        """False if the time is over. A stage that fails gives a warning; the results of the others stay."""
        desk.check()
        if time.monotonic() >= deadline and stage > least:
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
            run(4, _widen)


def _widen(search: ManualSearch) -> None:
    """Search for any word, and for the topic in other manuals, unless the caller said exactly where to search."""
    stages.widen(search)
    if search.manual is not None and not search.resumed:
        stages.widen_scope(search)


def _cut_off(search: ManualSearch, reason: model.CutoffReason) -> None:
    """Mark the other sections as not searched by every stage."""
    search.cutoff = search.cutoff or reason
    for position in search.allowed.difference(search.found):
        search.unscanned.setdefault(search.corpus.sections[position].key, reason)


def _report_problems(search: ManualSearch) -> None:
    """Files that are not indexed yet or too large to be read, and sections that are too long to be searched to the end,
    are always reported."""
    for manual, path in search.library.list_pending(search.manual):
        search.unscanned[manual, path, 1] = "indexing"
        search.cutoff = "indexing"
    for (manual, path), note in search.library.notes.items():
        if search.manual in (None, manual) and note.problem:
            search.warnings.append(f"{manual}/{path}: {note.problem}")
            if note.reason == "too_large":
                search.cutoff = search.cutoff or "hard_limit"
    for position in search.corpus.cut.intersection(search.library.positions(search.manual)):
        search.unscanned[search.corpus.sections[position].key] = "hard_limit"
        search.cutoff = search.cutoff or "hard_limit"
    for manual, glossary in search.library.on_disk.glossaries.items():
        if glossary.problem and search.manual in (None, manual):
            search.warnings.append(f"{manual}/{GLOSSARY_FILE} was not read: {glossary.problem}")


def _find_variants(search: ManualSearch) -> dict[str, Sequence[QueryTerm]]:
    query, library = search.query, search.library
    glossary, defined = library.glossary(search.manual)[1], library.list_definitions(search.manual)
    by_sound = len(query.words) <= _FEW_WORDS
    variants: dict[str, Sequence[QueryTerm]] = {}
    for term in (query.phrase, *query.words, *query.required):
        if term.written not in variants:
            variants[term.written] = expand_term(term, glossary, search.corpus, defined, by_sound=by_sound)
    return variants


def _search_index(desk: Desk, search: ManualSearch) -> None:
    """Add the first hits of the shared index: by words and, if there are vectors, by meaning."""
    conditions = (Condition("manual_id", "is", (search.manual,)),) if search.manual is not None else ()
    limit = max(_MIN_SEMANTIC, _MAX_SEMANTIC - len(search.named))
    # Every section is searched by its words anyway, so this does not wait for the vectors of new sections.
    query = Query(search.query.text[:2000], limit=limit, neighbours=False, wait_for_embedding=False)
    hits = desk.find(query, SearchFilter((NAME,), None, conditions))
    search.pending_vectors = hits.pending_vectors
    best = max((hit.score for hit in hits.items), default=0.0)
    for hit in hits.items:
        manual, path, line = model.parse_section_name(parse_address(hit.address)[1])
        position = search.corpus.positions.get((manual, path, line or 1))
        if position is not None and best > 0:
            search.add([position], "semantic", hit.score / best)
