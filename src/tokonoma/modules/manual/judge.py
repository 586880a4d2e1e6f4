"""Stage 3.5: what the candidates say together: contradictions, gaps, bias, whether they are enough, and what is next.

What counts is what was found by name: there are always sections of a similar meaning. The thresholds of this judgement
move a little every day by the results of past searches, and are reset if that made the results worse.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tokonoma.core.desk import Desk, note_down
from tokonoma.modules.manual.account import has_relevant
from tokonoma.modules.manual.conflicts import SectionConflict, find_conflicts
from tokonoma.modules.manual.model import MAX_HITS, ManualNextAction, Status, Thresholds
from tokonoma.modules.manual.stages import SIGNALS, ManualSearch, Signal

_MAX_CONFLICTS, _MAX_GAPS = 50, 100
_BIAS_MIN_CANDIDATES = 5  # from which on bias counts
_READY = 0.7  # the sufficiency of a result that is ready
_WAIT_MS = 60_000  # that a search is given which waits for files to be indexed
_MAX_CAP = 1000  # of budget.max_candidates
_MAX_NARROWED = 3  # manuals that are proposed one by one

DAY_MS = 24 * 3600 * 1000
WINDOW = 100  # searches
_HIGH_CUTOFF_RATE, _LOW_CUTOFF_RATE = 0.20, 0.05  # the thresholds move outside of these
_RECALL_FALL, _CUTOFF_RISE = 0.03, 0.05


@dataclass(frozen=True, slots=True)
class PastRun:
    cutoff: bool
    used: int
    hit: int


@dataclass(frozen=True, slots=True)
class ManualJudgement:
    conflicts: Sequence[SectionConflict]
    gaps: Sequence[tuple[str, str]]
    coverage: Mapping[Signal, float]
    bias: float  # the share of the file with the most candidates that are named
    sufficiency: float
    status: Status
    integrated: Sequence[int]  # the best candidate of each heading of each file


def judge_candidates(search: ManualSearch) -> ManualJudgement:
    corpus, found, ranked = search.corpus, search.found, search.rank()
    named = [position for position in ranked if position in search.named]
    gaps = [*_find_gaps(search), *search.gaps]
    coverage: dict[Signal, float] = {
        signal: round(sum(signal in found[position] for position in ranked) / max(1, len(ranked)), 3)
        for signal in SIGNALS
    }
    sufficiency = _rate(search, named, gaps)
    is_ready = bool(named) and sufficiency >= _READY and not has_unsearched(search)
    status: Status = "blocked" if not ranked else "ready" if is_ready else "needs_followup"
    # Sections of one file with the same heading repeat one another.
    integrated: dict[tuple[str, str, str], int] = {}
    for position in ranked:
        integrated.setdefault((*corpus.sections[position].file, corpus.titles[position]), position)
    conflicts = find_conflicts(corpus, named, _topic_names(search), search.query.phrase.written)[:_MAX_CONFLICTS]
    bias, best = _file_bias(search), list(integrated.values())
    return ManualJudgement(conflicts, gaps[:_MAX_GAPS], coverage, bias, sufficiency, status, best)


def has_unsearched(search: ManualSearch) -> bool:
    """Whether something that may be about the topic was not searched. Such a result is never ready."""
    return search.cutoff is not None or bool(search.unscanned) or has_relevant(search.left_out)


def needs_widening(search: ManualSearch) -> bool:
    """Too few by name, too many of them in one file, or exceptions that were asked for and not found."""
    exceptions_missing = search.query.intent == "exceptions" and not search.exception_count
    return len(search.named) < search.thresholds.low or _is_biased(search) or exceptions_missing


def _rate(search: ManualSearch, named: Sequence[int], gaps: Sequence[tuple[str, str]]) -> float:
    """0..1: enough sections by name, in a spelling that is sure, from several files, with nothing missing.
    Contradictions do not count: they are hints (ADR 0044)."""
    if not named:
        return 0.0
    sure = [search.found[position].keys() & {"heading", "normalized", "synonym"} for position in named[:20]]
    rate = 0.5 * min(1.0, len(named) / search.thresholds.low) + 0.5 * sum(map(bool, sure)) / len(sure)
    rate -= 0.1 * min(3, len(gaps)) + (0.1 if _is_biased(search) else 0.0)
    return round(min(1.0, max(0.0, rate)), 3)


def build_next_actions(search: ManualSearch, judgement: ManualJudgement, trace_id: str) -> list[ManualNextAction]:
    manual, query = search.manual, search.query.text
    actions: list[ManualNextAction] = []

    def add(intent: str, type: str, confidence: float, **params: Any) -> None:
        actions.append({"type": type, "intent": intent, "confidence": confidence, "params": params})

    scope = {} if manual is None else {"manual_id": manual}
    searches = [*_propose_searches(search, trace_id)]
    for params in searches:
        add("fill_gaps", "manual_find", 0.9, query=query, **params)
    if not searches and has_unsearched(search):  # nothing more can be searched
        add("fill_gaps", "manual_hits", 0.7, trace_id=trace_id, kind="unscanned")
    if judgement.status == "blocked":
        add("insufficient_candidates", "manual_toc" if scope else "manual_list", 0.6, **scope)
        return actions
    if judgement.conflicts:
        add("resolve_conflicts", "manual_hits", 0.4, trace_id=trace_id, kind="conflicts")
    if judgement.gaps:
        add("fill_gaps", "manual_hits", 0.6, trace_id=trace_id, kind="gaps")
    if _is_biased(search):
        add("reduce_file_bias", "manual_find", 0.4, query=query)
    intent = "manual_completed" if judgement.status == "ready" else "insufficient_candidates"
    # The proposed list ends with the candidates that contain the term by name.
    named = min(MAX_HITS, len(search.named.intersection(search.found)))
    limit = {"limit": named} if named else {}
    add(intent, "manual_hits", 0.9, trace_id=trace_id, kind="candidates", **limit)
    return actions


def _propose_searches(search: ManualSearch, trace_id: str) -> Iterator[Mapping[str, Any]]:
    """How to search what was not searched: all at once if a larger budget is enough, else the rest alone; and, if there
    is too much for any budget, manual by manual."""
    if all(reason == "hard_limit" for reason in search.unscanned.values()):
        return
    scope = {} if search.manual is None else {"manual_id": search.manual}
    left = list(search.unscanned.values()).count("candidate_cap")
    cut = search.named.difference(search.found)
    needed = min(_MAX_CAP, len(search.found) + left)
    if cut and not search.resumed and needed > search.max_candidates:
        yield {**scope, "budget": {"max_candidates": needed}}
        return
    budget = {"max_candidates": _MAX_CAP} if cut else {}
    if "indexing" in search.unscanned.values():
        budget["time_ms"] = _WAIT_MS
    yield {**scope, "only_unscanned_from_trace_id": trace_id, **({"budget": budget} if budget else {})}
    manuals = Counter(search.corpus.sections[position].manual for position in search.named)
    if cut and len(manuals) > 1:
        for manual, count in manuals.most_common(_MAX_NARROWED):
            yield {"manual_id": manual, "budget": {"max_candidates": min(_MAX_CAP, count)}}


def _is_biased(search: ManualSearch) -> bool:
    return len(search.named) >= _BIAS_MIN_CANDIDATES and _file_bias(search) >= search.thresholds.bias


def _file_bias(search: ManualSearch) -> float:
    counts = Counter(search.corpus.sections[position].file for position in search.named)
    return round(max(counts.values()) / len(search.named), 3) if counts else 0.0


def _find_gaps(search: ManualSearch) -> list[tuple[str, str]]:
    """The terms of the query that are nowhere in what the caller asked to search, under any of their names."""
    corpus = search.library.corpus.limit_to(search.manual)
    visible = frozenset(search.library.positions(search.manual))
    gaps: list[tuple[str, str]] = []
    for term in (*search.query.words, *search.query.required):
        names = (term, *search.variants_of(term))
        found = (each for name in names for each in (corpus.find_exact(name), corpus.find_loose(name)))
        if all(visible.isdisjoint(each) for each in found):
            gaps.append((term.written, "no section contains this term or another name of it"))
    return gaps


def _topic_names(search: ManualSearch) -> list[tuple[str, ...]]:
    """The names of the topic, each as the words that a sentence about it contains."""
    phrase, words = search.query.phrase, search.query.words
    names = [(term.folded,) for term in (phrase, *search.variants_of(phrase)) if term.folded]
    return [*names, tuple(word.folded for word in words)] if len(words) > 1 else names


def adjust_thresholds(before: Thresholds, day: Sequence[PastRun], at: int) -> Thresholds:
    """One day's step: after many cut-offs a search widens less readily, after few more so."""
    if not day:
        return before
    rate = _cutoff_rate(day)
    step = -1 if rate > _HIGH_CUTOFF_RATE else 1 if rate < _LOW_CUTOFF_RATE else 0
    return Thresholds(min(6, max(2, before.low + step)), min(0.90, max(0.70, round(before.bias + 0.03 * step, 2))), at)


def is_worse(recent: Sequence[PastRun], earlier: Sequence[PastRun]) -> bool:
    """Whether the newer window finds less of what is used, or is cut off more often."""
    if len(recent) < WINDOW or len(earlier) < WINDOW:
        return False
    new, old = _recall(recent), _recall(earlier)
    fell = new is not None and old is not None and old - new >= _RECALL_FALL
    return fell or _cutoff_rate(recent) - _cutoff_rate(earlier) >= _CUTOFF_RISE


def _cutoff_rate(runs: Sequence[PastRun]) -> float:
    return sum(run.cutoff for run in runs) / len(runs)


def _recall(runs: Sequence[PastRun]) -> float | None:
    used = [run for run in runs if run.used]
    return sum(run.hit / run.used for run in used) / len(used) if used else None


def load_thresholds(desk: Desk) -> Thresholds:
    """The thresholds in force; once a day they move or are reset."""
    row = desk.row("select value from manual_state where name = 'thresholds'")
    thresholds = Thresholds(at=desk.now())
    if row is not None:
        thresholds = Thresholds(**json.loads(row[0]))
        if desk.now() - thresholds.at < DAY_MS:
            return thresholds
        newest = _load_runs(desk, "select cutoff, used, hit from manual_run order by at desc limit 200")
        day = "select cutoff, used, hit from manual_run where at >= :since order by at desc"
        if is_worse(newest[:WINDOW], newest[WINDOW:]):
            thresholds = Thresholds(at=desk.now())
        else:
            thresholds = adjust_thresholds(thresholds, _load_runs(desk, day, since=desk.now() - DAY_MS), desk.now())
    if not desk.may_write:
        return thresholds

    def save() -> None:
        with desk.write_derived() as tx:
            tx.run("delete from manual_state where name = 'thresholds'")
            tx.run("insert into manual_state values ('thresholds', :value)", value=json.dumps(asdict(thresholds)))
            tx.run("delete from manual_run where at < :old", old=desk.now() - 90 * DAY_MS)

    note_down(save)
    return thresholds


def _load_runs(desk: Desk, sql: str, **params: int) -> list[PastRun]:
    return [PastRun(bool(row[0]), row[1], row[2]) for row in desk.rows(sql, **params)]
