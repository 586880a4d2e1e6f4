"""Stage 3.5: what the candidates say together: contradictions, gaps, bias, whether they are enough, and what is next.

The thresholds of this judgement move a little every day by the results of past searches, and are reset if that made the
results worse.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tokonoma.core.desk import Desk, note_down
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.model import MAX_HITS, ManualNextAction, Status, Thresholds
from tokonoma.modules.manual.stages import SIGNALS, ManualSearch, Signal

_NEAR = 60  # characters after a term in which its number is searched
_NUMBER = re.compile(
    r"(\d+(?:[.,]\d+)*) ?(日|か月|ヶ月|カ月|月|年|時間|分|秒|円|万円|%|パーセント|人|名|回|件|個|歳|km|m|gb|mb|kb|ms|"
    r"days?|months?|years?|hours?|minutes?|seconds?|dollars?|usd|yen|percent|times|people)"
)
_NEGATIVE = re.compile(
    r"できません|できない|ません|しない|不可|禁止|対象外|無効|ない(?:。|もの|こと)"
    r"|\b(?:not|never|cannot|can't|must not|no longer|disabled)\b"
)
_POSITIVE = re.compile(
    r"できます|できる|可能|する(?:。|もの|こと)|対象(?!外)|有効|\b(?:can|may|must|is|are|enabled|always)\b"
)
_MAX_CONFLICTS, _MAX_GAPS = 50, 100
_BIAS_MIN_CANDIDATES = 5  # from which on bias counts

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
class SectionConflict:
    """Two sections that say different things about the same term."""

    first: int
    second: int
    about: str
    reason: str


@dataclass(frozen=True, slots=True)
class ManualJudgement:
    conflicts: Sequence[SectionConflict]
    gaps: Sequence[tuple[str, str]]
    coverage: Mapping[Signal, float]
    bias: float  # the share of the file with the most candidates
    sufficiency: float
    status: Status
    integrated: Sequence[int]  # the best candidate of each heading of each file


def judge_candidates(search: ManualSearch) -> ManualJudgement:
    corpus, found, ranked = search.corpus, search.found, search.rank()
    gaps = [*_find_gaps(search), *search.gaps]
    conflicts = _find_conflicts(search, ranked)
    bias = _file_bias(search)
    coverage: dict[Signal, float] = {
        signal: round(sum(signal in found[position] for position in ranked) / max(1, len(ranked)), 3)
        for signal in SIGNALS
    }
    sufficiency = 0.0
    if ranked:
        sure = sum(bool(found[position].keys() & {"heading", "normalized", "synonym"}) for position in ranked[:20])
        sufficiency = 0.4 * min(1.0, len(ranked) / max(1, search.thresholds.low)) + 0.6 * sure / min(20, len(ranked))
        sufficiency -= 0.1 * min(3, len(gaps)) + (0.15 if conflicts else 0.0)
        sufficiency -= 0.1 if bias >= search.thresholds.bias and len(ranked) >= _BIAS_MIN_CANDIDATES else 0.0
        sufficiency = round(min(1.0, max(0.0, sufficiency)), 3)
    status: Status = "blocked" if not ranked else "ready" if sufficiency >= 0.7 and not conflicts else "needs_followup"
    # Sections of one file with the same heading repeat one another.
    integrated: dict[tuple[str, str, str], int] = {}
    for position in ranked:
        integrated.setdefault((*corpus.sections[position].file, corpus.titles[position]), position)
    best = list(integrated.values())
    return ManualJudgement(conflicts, gaps[:_MAX_GAPS], coverage, bias, sufficiency, status, best)


def needs_widening(search: ManualSearch) -> bool:
    """Too few, too many of them in one file, or exceptions that were asked for and not found."""
    count = len(search.found)
    is_biased = count >= _BIAS_MIN_CANDIDATES and _file_bias(search) >= search.thresholds.bias
    exceptions_missing = search.query.intent == "exceptions" and not search.exception_count
    return count < search.thresholds.low or is_biased or exceptions_missing


def build_next_actions(search: ManualSearch, judgement: ManualJudgement, trace_id: str) -> list[ManualNextAction]:
    manual, query = search.manual, search.query.text
    actions: list[ManualNextAction] = []

    def add(intent: str, type: str, confidence: float, **params: Any) -> None:
        actions.append({"type": type, "intent": intent, "confidence": confidence, "params": params})

    scope = {} if manual is None else {"manual_id": manual}
    if search.unscanned:
        add("fill_gaps", "manual_find", 0.9, query=query, only_unscanned_from_trace_id=trace_id, **scope)
    if judgement.status == "blocked":
        add("insufficient_candidates", "manual_toc" if scope else "manual_list", 0.6, **scope)
        return actions
    if judgement.conflicts:
        add("resolve_conflicts", "manual_hits", 0.8, trace_id=trace_id, kind="conflicts")
    if judgement.gaps:
        add("fill_gaps", "manual_hits", 0.6, trace_id=trace_id, kind="gaps")
    if judgement.bias >= search.thresholds.bias and len(judgement.integrated) >= _BIAS_MIN_CANDIDATES:
        add("reduce_file_bias", "manual_find", 0.4, query=query)
    is_complete = judgement.status == "ready" and not search.unscanned
    intent = "manual_completed" if is_complete else "insufficient_candidates"
    # The proposed list ends with the candidates that contain the term by name.
    named = min(MAX_HITS, len(search.named.intersection(search.found)))
    limit = {"limit": named} if named else {}
    add(intent, "manual_hits", 0.9, trace_id=trace_id, kind="candidates", **limit)
    return actions


def _file_bias(search: ManualSearch) -> float:
    counts = Counter(search.corpus.sections[position].file for position in search.found)
    return round(max(counts.values()) / len(search.found), 3) if counts else 0.0


def _find_gaps(search: ManualSearch) -> list[tuple[str, str]]:
    """The terms of the query that no candidate contains under any of their names."""
    positions, corpus = frozenset(search.found), search.corpus
    gaps: list[tuple[str, str]] = []
    for term in (*search.query.words, *search.query.required):
        names = (term, *search.variants_of(term))
        if not any(positions & found for name in names for found in (corpus.find_exact(name), corpus.find_loose(name))):
            gaps.append((term.written, "no candidate contains this term or another name of it"))
    return gaps


def _find_conflicts(search: ManualSearch, ranked: Sequence[int]) -> list[SectionConflict]:
    """The same term, or the same heading, with different numbers of one unit, or once allowed and once not."""
    conflicts: list[SectionConflict] = []
    for term in {word.folded: word for word in (search.query.phrase, *search.query.words)}.values():
        stated: dict[str, tuple[str, int]] = {}
        for position in ranked:
            for unit, value in _find_numbers(search.corpus.folded_text(position), term.folded):
                first = stated.setdefault(unit, (value, position))
                if first[0] != value and first[1] != position:
                    reason = f"{first[0]} {unit} there, {value} {unit} here"
                    conflicts.append(SectionConflict(first[1], position, term.written, reason))
    conflicts += _find_opposed(search.corpus, ranked)
    return conflicts[:_MAX_CONFLICTS]


def _find_numbers(folded: str, term: str) -> list[tuple[str, str]]:
    numbers: list[tuple[str, str]] = []
    at = folded.find(term) if term else -1
    while at >= 0 and len(numbers) < 20:
        after = folded[at + len(term) : at + len(term) + _NEAR].partition("。")[0]
        number = _NUMBER.search(after)
        if number:
            numbers.append((number[2].removesuffix("s"), number[1].replace(",", "")))
        at = folded.find(term, at + len(term))
    return numbers


def _find_opposed(corpus: ManualCorpus, ranked: Sequence[int]) -> list[SectionConflict]:
    by_title: dict[str, list[int]] = {}
    for position in ranked:
        by_title.setdefault(corpus.titles[position], []).append(position)
    conflicts: list[SectionConflict] = []
    for title, positions in by_title.items():
        if len(positions) < 2 or not title or corpus.sections[positions[0]].level == 0:
            continue
        polarity = {position: _polarity(corpus.folded_text(position)) for position in positions}
        positive = next((position for position in positions if polarity[position] > 0), None)
        negative = next((position for position in positions if polarity[position] < 0), None)
        if positive is not None and negative is not None:
            about, reason = corpus.sections[positive].title, "allowed there, refused here, under the same heading"
            conflicts.append(SectionConflict(positive, negative, about, reason))
    return conflicts


def _polarity(folded: str) -> int:
    """1: it only allows, -1: it only refuses, 0: both or neither."""
    negative, positive = bool(_NEGATIVE.search(folded)), bool(_POSITIVE.search(_NEGATIVE.sub("", folded)))
    return 1 if positive and not negative else -1 if negative and not positive else 0


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
