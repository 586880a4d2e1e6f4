"""manual_find: everything about a topic, by several strategies at once, with a proof of what was looked at."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.log import log
from tokonoma.core.query import Condition, Query, Where
from tokonoma.modules.manual import stages
from tokonoma.modules.manual import trails as trace
from tokonoma.modules.manual.addresses import checked_id, parsed
from tokonoma.modules.manual.cache import Library, library
from tokonoma.modules.manual.corpus import Stock
from tokonoma.modules.manual.index import root_of
from tokonoma.modules.manual.judge import Judgement, judged, needs_widening, next_actions
from tokonoma.modules.manual.lookup import Reader
from tokonoma.modules.manual.pointers import pointer
from tokonoma.modules.manual.stages import Pot
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import Asked, Intent, Term, read_query
from tokonoma.modules.manual.thresholds import Thresholds, thresholds
from tokonoma.modules.manual.trails import Key, Reason, Run, Trace
from tokonoma.modules.manual.types import Budget, Found, NextAction, Summary
from tokonoma.modules.manual.variants import expanded

_FEW_WORDS = 5  # of a query, up to which each is looked for under other names by its sound as well
_SEMANTIC, _LEAST = 100, 30  # hits of the shared index: the more sections hold the term by name, the fewer are needed


@dataclass(slots=True)
class Search:
    """One search on its way through the stages."""

    desk: Desk
    library: Library
    stock: Stock  # what is looked through
    asked: Asked
    manual: str | None
    limits: Thresholds
    until: float
    most: int
    pot: Pot
    variants: Mapping[str, Sequence[Term]] = field(default_factory=dict[str, Sequence[Term]])
    warnings: list[str] = field(default_factory=list[str])
    applied: float = 0.0
    widened: bool = False
    expanded: bool = False
    cutoff: Reason | None = None
    unscanned: dict[Key, Reason] = field(default_factory=dict[Key, Reason])


def find(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=2000, description="a topic, a term or a question")],
    manual_id: Annotated[str | None, Field(description="one manual; left out: all")] = None,
    intent: Annotated[Intent | None, Field(description="left out: guessed from the query")] = None,
    max_stage: Annotated[int, Field(ge=3, le=4, description="4 widens when too little is found")] = 4,
    only_unscanned_from_trace_id: Annotated[str | None, Field(description="go on where that search stopped")] = None,
    budget: Annotated[Budget | None, Field(description="time_ms 60000, max_candidates 200")] = None,
    must_include: Annotated[list[str] | None, Field(max_length=20, description="terms that must be looked for")] = None,
) -> Found:
    """Find every section about a topic, in any spelling, in Japanese and English. Answers with figures and a trace_id;
    manual_hits lists the sections, manual_read reads them. What was not looked at is counted and can be resumed."""
    begun = time.monotonic()
    if not query.strip():
        raise Invalid("query is empty: name a topic.", field="query")
    resumed = trace.fetched(desk, only_unscanned_from_trace_id) if only_unscanned_from_trace_id else None
    manual = checked_id(manual_id) if manual_id is not None else resumed.manual if resumed else None
    held = library(desk)
    places = held.places(manual)
    if resumed is not None:
        places = [held.stock.places[key] for key, _ in resumed.unscanned if key in held.stock.places]
    given = budget or {}
    search = Search(
        desk,
        held,
        held.stock.within(manual),
        read_query(query, intent, must_include or ()),
        manual,
        thresholds(desk),
        begun + given.get("time_ms", 60_000) / 1000,
        given.get("max_candidates", 200),
        Pot(frozenset(places)),
    )
    _searched(search, max_stage, resumed is not None)
    return _told(search)


def _searched(search: Search, max_stage: int, resumed: bool) -> None:
    stock, asked, pot = search.stock, search.asked, search.pot
    _unreadable(search)
    stages.stage_0(stock, asked, pot)
    exceptions = list(search.library.glossary(search.manual).exceptions)
    hits = 0

    def first() -> None:
        search.variants = _variants(search)
        stages.stage_1(stock, asked, search.variants, pot)
        _by_meaning(search)

    def second() -> None:
        nonlocal hits
        hits = stages.stage_2(stock, exceptions, asked.intent == "exceptions", pot)

    def third() -> None:
        stages.stage_3(stock, pot)

    for stage, work in ((1, first), (2, second), (3, third)):
        if not _tried(search, stage, work):
            return
    lacking = asked.intent == "exceptions" and not hits
    if needs_widening(pot, stock, search.limits.low, search.limits.bias, lacking):
        if max_stage < 4:
            _cut(search, "stage_cap")
        else:
            _tried(search, 4, lambda: _widen(search, resumed))


def _tried(search: Search, stage: int, work: Callable[[], None]) -> bool:
    """False if the time is over. A stage that fails is a warning; what the others found is still told."""
    search.desk.check()
    if time.monotonic() >= search.until:
        _cut(search, "time_budget")
        return False
    try:
        work()
    except Refusal:
        raise
    except Exception as error:
        log("error", "manual_find", stage=stage, error=type(error).__name__)
        search.warnings.append(f"stage {stage} failed; the other stages' results are complete")
    else:
        search.applied = float(stage)
    return True


def _widen(search: Search, resumed: bool) -> None:
    """Any word counts now, and other manuals too, unless it was told exactly where to look."""
    search.widened = True
    if search.manual is not None and not resumed:
        everywhere = frozenset(search.library.places(None))
        search.expanded = everywhere != search.pot.allowed
        search.pot.allowed, search.stock = everywhere, search.library.stock
        if search.expanded:
            stages.stage_0(search.stock, search.asked, search.pot)
            stages.stage_1(search.stock, search.asked, search.variants, search.pot)
    stages.stage_4(search.stock, search.asked, search.variants, search.pot)


def _cut(search: Search, reason: Reason) -> None:
    """The rest of the sections was not looked at by every stage."""
    search.cutoff = search.cutoff or reason
    for place in search.pot.allowed:
        if place not in search.pot.found:
            search.unscanned.setdefault(search.stock.sections[place].key, reason)


def _unreadable(search: Search) -> None:
    """Files that are too large to be read are told of, never passed over in silence."""
    for (manual, path), problem in search.library.problems.items():
        if search.manual in (None, manual):
            search.warnings.append(f"{manual}/{path}: {problem}")
            if problem.startswith("larger"):
                search.unscanned[manual, path, 1] = "hard_limit"
                search.cutoff = search.cutoff or "hard_limit"
                place = search.stock.places.get((manual, path, 1))
                if place is not None:
                    search.pot.allowed -= {place}
    for manual, found in search.library.shelved.glossaries.items():
        if found.problem and search.manual in (None, manual):
            search.warnings.append(f"{manual}/glossary.yml was not read: {found.problem}")


def _variants(search: Search) -> dict[str, Sequence[Term]]:
    known, asked = search.library.known(search.manual), search.asked
    found: dict[str, Sequence[Term]] = {}
    heard = len(asked.words) <= _FEW_WORDS
    for term in (asked.phrase, *asked.words, *asked.required):
        if term.written not in found:
            found[term.written] = expanded(term, (known, search.library.defined), search.stock, by_sound=heard)
    return found


def _by_meaning(search: Search) -> None:
    """What the shared index puts first, by words and, where there are vectors, by meaning."""
    conditions = (Condition("manual_id", "is", (search.manual,)),) if search.manual is not None else ()
    most = max(_LEAST, _SEMANTIC - 2 * len(search.pot.named))
    # Every section is looked through by its words anyway: nobody waits for the vectors of new ones.
    query = Query(search.asked.query[:2000], limit=most, neighbours=False, patient=False)
    hits = search.desk.find(query, Where((NAME,), None, conditions)).items
    best = max((hit.score for hit in hits), default=0.0)
    for hit in hits:
        manual, path, line = parsed(parts_of(hit.address)[1])
        place = search.stock.places.get((manual, path, line or 1))
        if place is not None and best > 0:
            search.pot.add(place, "semantic", hit.score / best)


def _told(search: Search) -> Found:
    pot, stock = search.pot, search.stock
    ranked = pot.ranked()
    for place in ranked[search.most :]:
        search.unscanned[stock.sections[place].key] = "candidate_cap"
        search.cutoff = search.cutoff or "candidate_cap"
        del pot.found[place]
    judgement = judged(stock, search.asked, search.variants, pot, search.limits.low, search.limits.bias)
    kept = _trace(search, ranked[: search.most], judgement)
    named = len(pot.named.intersection(pot.found))
    actions = next_actions(
        search.asked, judgement, named, kept.id, len(search.unscanned), search.manual, search.limits.bias
    )
    found: Found = {
        "trace_id": kept.id,
        "summary": _summary(search, judgement),
        "next_actions": [NextAction(**action) for action in actions],
    }
    size_in, size_out = len(search.asked.query), sum(len(str(part)) for part in found.values())
    run = Run(search.cutoff is not None, len(pot.found), search.widened, -(-size_in // 4), -(-size_out // 4))
    trace.keep(search.desk, kept, run)
    return found


def _summary(search: Search, judgement: Judgement) -> Summary:
    places = search.stock.places
    scanned = search.pot.allowed.difference(places[key] for key in search.unscanned if key in places)
    summary: Summary = {
        "scanned_files": len({search.stock.file_of[place] for place in scanned}),
        "scanned_nodes": len(scanned),
        "candidates": len(search.pot.found),
        "warnings": search.warnings[:5],
        "max_stage_applied": search.applied,
        "scope_expanded": search.expanded,
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


def _trace(search: Search, ranked: Sequence[int], judgement: Judgement) -> Trace:
    def item(place: int) -> dict[str, Any]:
        section = search.stock.sections[place]
        return {
            "manual": section.manual,
            "path": section.path,
            "line": section.line,
            "title": section.title,
            "signals": search.pot.signals(place),
            "score": round(search.pot.score(place), 2),
        }

    candidates = [item(place) for place in ranked]
    _point(search, ranked, candidates)
    return Trace(
        trace.new_id(),
        search.asked.query,
        search.manual,
        candidates,
        sorted(search.unscanned.items()),
        [
            {
                **item(conflict.second),
                "reason": f"{conflict.about}: {conflict.reason} ({_place(search, conflict.first)})",
            }
            for conflict in judgement.conflicts
        ],
        [{"title": missing, "reason": why} for missing, why in judgement.gaps],
        [item(place) for place in judgement.integrated[:50]],
    )


def _point(search: Search, ranked: Sequence[int], candidates: Sequence[dict[str, Any]]) -> None:
    """A JSON file has no headings: its candidates say where in it the term stands."""
    asked = search.asked
    names = [*search.variants.get(asked.phrase.written, ()), *asked.words]
    with Reader(root_of(search.desk), search.stock) as reader:
        for place, candidate in zip(ranked, candidates, strict=True):
            if candidate["path"].lower().endswith(".json"):
                found = pointer(reader.own(place), [asked.phrase, *asked.required, *names])
                if found is not None:
                    candidate["json_path"] = found


def _place(search: Search, place: int) -> str:
    section = search.stock.sections[place]
    return f"{section.path}:{section.line}"
