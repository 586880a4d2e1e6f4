"""Stage 3.5: what the candidates say together: contradictions, gaps, bias, whether it is enough, and what is next."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.stages import SIGNALS, SectionCandidates, Signal
from tokonoma.modules.manual.terms import ParsedQuery, QueryTerm

Status = Literal["ready", "needs_followup", "blocked"]

_NEAR = 60  # characters after a term in which its number stands
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
_MAX_CONFLICTS = 50  # that are kept
MAX_HITS = 200
"""Hits of one answer at most."""


@dataclass(frozen=True, slots=True)
class SectionConflict:
    """Two sections that say different things of the same term."""

    first: int
    second: int
    about: str
    reason: str


@dataclass(frozen=True, slots=True)
class ManualJudgement:
    conflicts: Sequence[SectionConflict]
    gaps: Sequence[tuple[str, str]]
    coverage: Mapping[Signal, float]
    bias: float  # share of the fullest file
    sufficiency: float
    status: Status
    integrated: Sequence[int]  # the best, one a heading and file


def judge_candidates(
    stock: ManualCorpus,
    asked: ParsedQuery,
    variants: Mapping[str, Sequence[QueryTerm]],
    pot: SectionCandidates,
    low: int,
    most_bias: float,
) -> ManualJudgement:
    ranked = pot.rank()
    gaps = [*_find_gaps(stock, asked, variants, ranked), *pot.gaps]
    conflicts = _find_conflicts(stock, asked, ranked)
    bias = _file_bias(stock, ranked)
    coverage: dict[Signal, float] = {
        signal: round(sum(signal in pot.found[place] for place in ranked) / len(ranked), 3) if ranked else 0.0
        for signal in SIGNALS
    }
    sufficiency = _sufficiency(ranked, pot, gaps, conflicts, bias, low, most_bias)
    status: Status = "blocked" if not ranked else "ready" if sufficiency >= 0.7 and not conflicts else "needs_followup"
    return ManualJudgement(conflicts, gaps[:100], coverage, bias, sufficiency, status, _merge_repeated(stock, ranked))


def needs_widening(
    pot: SectionCandidates, stock: ManualCorpus, low: int, most_bias: float, exceptions_missing: bool
) -> bool:
    """Too few, too many of them in one file, or exceptions that were asked for and not found."""
    count = len(pot.found)
    return count < low or (count >= 5 and _file_bias(stock, list(pot.found)) >= most_bias) or exceptions_missing


def build_next_actions(
    asked: ParsedQuery,
    judgement: ManualJudgement,
    named: int,
    trace_id: str,
    unscanned: int,
    manual: str | None,
    most_bias: float,
) -> list[dict[str, Any]]:
    """`named` candidates hold the term by name: the list that is proposed ends with them."""
    actions: list[dict[str, Any]] = []

    def add(intent: str, type: str, confidence: float | None, params: dict[str, Any] | None) -> None:
        actions.append({"type": type, "intent": intent, "confidence": confidence, "params": params})

    hits = {"trace_id": trace_id, "kind": "candidates"}
    if unscanned:
        again: dict[str, Any] = {"query": asked.text, "only_unscanned_from_trace_id": trace_id}
        add("fill_gaps", "manual_find", 0.9, again if manual is None else {**again, "manual_id": manual})
    if judgement.status == "blocked":
        add(
            "insufficient_candidates",
            "manual_toc" if manual else "manual_list",
            0.6,
            {"manual_id": manual} if manual else {},
        )
        return actions
    if judgement.conflicts:
        add("resolve_conflicts", "manual_hits", 0.8, {**hits, "kind": "conflicts"})
    if judgement.gaps:
        add("fill_gaps", "manual_hits", 0.6, {**hits, "kind": "gaps"})
    if judgement.bias >= most_bias and len(judgement.integrated) >= 5:
        add("reduce_file_bias", "manual_find", 0.4, {"query": asked.text})
    add(
        "manual_completed" if judgement.status == "ready" and not unscanned else "insufficient_candidates",
        "manual_hits",
        0.9,
        {**hits, "limit": min(named, MAX_HITS)} if named else hits,
    )
    return actions


def _file_bias(stock: ManualCorpus, places: Sequence[int]) -> float:
    counts: dict[tuple[str, str], int] = {}
    for place in places:
        section = stock.sections[place]
        counts[section.manual, section.path] = counts.get((section.manual, section.path), 0) + 1
    return round(max(counts.values()) / len(places), 3) if places else 0.0


def _find_gaps(
    stock: ManualCorpus, asked: ParsedQuery, variants: Mapping[str, Sequence[QueryTerm]], ranked: Sequence[int]
) -> list[tuple[str, str]]:
    """The terms of the query that no candidate holds under any of its names."""
    candidates = frozenset(ranked)
    gaps: list[tuple[str, str]] = []
    for term in (*asked.words, *asked.required):
        names = (term, *variants.get(term.written, ()))
        if not any(candidates & found for name in names for found in (stock.find_exact(name), stock.find_loose(name))):
            gaps.append((term.written, "no candidate holds this term, nor another name for it"))
    return gaps


def _find_conflicts(stock: ManualCorpus, asked: ParsedQuery, ranked: Sequence[int]) -> list[SectionConflict]:
    """The same term, or the same heading, with different numbers of one unit, or once allowed and once not."""
    conflicts: list[SectionConflict] = []
    for term in {word.folded: word for word in (asked.phrase, *asked.words)}.values():
        said: dict[str, tuple[str, int]] = {}
        for place in ranked:
            for unit, value in _find_numbers(stock.folded_text(place), term.folded):
                first = said.setdefault(unit, (value, place))
                if first[0] != value and first[1] != place:
                    reason = f"{first[0]} {unit} there, {value} {unit} here"
                    conflicts.append(SectionConflict(first[1], place, term.written, reason))
    conflicts += _find_opposed(stock, ranked)
    return conflicts[:_MAX_CONFLICTS]


def _find_numbers(folded: str, term: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    place = folded.find(term) if term else -1
    while place >= 0 and len(found) < 20:
        after = folded[place + len(term) : place + len(term) + _NEAR].partition("。")[0]
        number = _NUMBER.search(after)
        if number:
            found.append((number[2].removesuffix("s"), number[1].replace(",", "")))
        place = folded.find(term, place + len(term))
    return found


def _find_opposed(stock: ManualCorpus, ranked: Sequence[int]) -> list[SectionConflict]:
    by_title: dict[str, list[int]] = {}
    for place in ranked:
        by_title.setdefault(stock.titles[place], []).append(place)
    conflicts: list[SectionConflict] = []
    for title, places in by_title.items():
        if len(places) < 2 or not title or stock.sections[places[0]].level == 0:
            continue
        poles = {place: _polarity(stock.folded_text(place)) for place in places}
        positive = next((place for place in places if poles[place] > 0), None)
        negative = next((place for place in places if poles[place] < 0), None)
        if positive is not None and negative is not None:
            title = stock.sections[positive].title
            conflicts.append(
                SectionConflict(positive, negative, title, "allowed there, refused here, under the same heading")
            )
    return conflicts


def _polarity(folded: str) -> int:
    """1: it only allows, -1: it only refuses, 0: both or neither."""
    negative, positive = bool(_NEGATIVE.search(folded)), bool(_POSITIVE.search(_NEGATIVE.sub("", folded)))
    return 1 if positive and not negative else -1 if negative and not positive else 0


def _sufficiency(
    ranked: Sequence[int],
    pot: SectionCandidates,
    gaps: Sequence[Any],
    conflicts: Sequence[Any],
    bias: float,
    low: int,
    most_bias: float,
) -> float:
    if not ranked:
        return 0.0
    sure = sum(bool(pot.found[place].keys() & {"heading", "normalized", "synonym"}) for place in ranked[:20])
    score = 0.4 * min(1.0, len(ranked) / max(1, low)) + 0.6 * sure / min(20, len(ranked))
    score -= 0.1 * min(3, len(gaps)) + (0.15 if conflicts else 0.0)
    score -= 0.1 if bias >= most_bias and len(ranked) >= 5 else 0.0
    return round(min(1.0, max(0.0, score)), 3)


def _merge_repeated(stock: ManualCorpus, ranked: Sequence[int]) -> list[int]:
    """The best of each heading of each file: sections that repeat one another are one node."""
    seen: dict[tuple[str, str, str], int] = {}
    for place in ranked:
        section = stock.sections[place]
        seen.setdefault((section.manual, section.path, stock.titles[place]), place)
    return list(seen.values())
