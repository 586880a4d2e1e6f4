"""One ranking for both databases: how well candidates answer a question, from their forms alone. Pure.

    score = (words × coverage ^ COVERAGE + title) × ASKING + thread

words     BM25: rare terms and several occurrences count more, long documents less. A document of a thread borrows from
          the two before and the two after it: their counts enter its own, at NEAR each.
coverage  the matched share of what the question's terms are worth together.
title     what the terms found in the title are worth, times the share of the title that the question names. The
          title of a turn of a conversation is who speaks.
ASKING    of a text that asks itself: its answer stands elsewhere.
thread    a share of what the best of its thread is ahead: one talk is about one thing.

The figures were chosen on several collections at once (docs/adr/0013-words.md)."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokonoma.search.term_counts import (
    has_question_flag,
    has_speaker_flag,
    hash_term,
    look_up_terms,
    look_up_terms_many,
    read_title_terms,
)
from tokonoma.search.tokenize import WeightedTerm

K1 = 1.0
B = 0.5
COVERAGE = 0.5
TITLE_GAIN, SPEAKER_GAIN = 2.0, 0.5
NEAR = 0.4
ASKING = 0.9
THREAD = 0.2
MAX_TERMS = 32  # of a long question, the terms that are worth most

NEIGHBOUR_OFFSETS = (-2, -1, 1, 2)
"""Where neighbours sit who lend."""


class ScoringCandidate(NamedTuple):
    """`seat` is the place in the thread; documents of a thread whose seats differ by one or two are neighbours."""

    key: int
    packed: bytes
    thread: Hashable = None
    position: int = 0


class TextScore(NamedTuple):
    key: int
    score: float
    level: float  # the same, between 0 and 1, and comparable from question to question
    words: float
    coverage: float
    title: float
    asks: bool = False
    thread: float = 0.0  # of the score, what its thread gave

    def level_without_thread(self, question: "WeightedQuery") -> float:
        """The level that it has without its thread."""
        own = self.score - self.thread
        return own / (own + question.total)


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A question with what the index knows about its terms. Made once, used for every candidate."""

    gains: Mapping[int, float]  # term number → what an occurrence is worth
    total: float
    ascending: Sequence[int]
    wanted: frozenset[int]
    named: frozenset[int]  # every term, also those that are worth nothing: a title may be made of them
    average: float


class TermMatch(NamedTuple):
    """What a document's form says about a question: all that a score is made from."""

    counts: dict[int, int]  # of the question's terms those that it holds, with their counts
    length: int
    title: float  # what the title is worth
    asks: bool = False


def weigh_query(
    terms: Sequence[WeightedTerm], frequencies: Mapping[str, int], documents: int, average: float
) -> WeightedQuery:
    """`frequencies`: in how many documents each term of a weight above 0 occurs. `average`: the mean length."""
    gains: dict[int, float] = {}
    for term in terms:
        gain = compute_gain(term, frequencies.get(term.text, 0), documents)
        if gain > 0:
            number = hash_term(term.text)
            gains[number] = max(gain, gains.get(number, 0.0))
    best = dict(sorted(gains.items(), key=lambda item: -item[1])[:MAX_TERMS])
    named = frozenset(hash_term(term.text) for term in terms)
    return WeightedQuery(best, sum(best.values()), sorted(best), frozenset(best), named, max(average, 1.0))


def compute_gain(term: WeightedTerm, frequency: int, documents: int) -> float:
    """What one term is worth: the weight of its kind times its rarity, the less so the steeper its kind falls off."""
    frequency = min(frequency, documents)
    rarity = math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
    return term.weight * rarity * (rarity / math.log(2 + 2 * documents)) ** term.steep


def match_terms(question: WeightedQuery, form: bytes) -> TermMatch:
    counts, length, titled = look_up_terms(form, question.wanted, question.ascending)
    return TermMatch(counts, length, _score_title(question, form) if titled else 0.0, has_question_flag(form))


def match_terms_many(question: WeightedQuery, forms: Sequence[bytes]) -> list[TermMatch]:
    """Many at once; where numpy is loaded anyway."""
    return [
        TermMatch(counts, length, _score_title(question, form) if titled else 0.0, has_question_flag(form))
        for form, (counts, length, titled) in zip(forms, look_up_terms_many(forms, question.ascending), strict=True)
    ]


def score_candidates(question: WeightedQuery, candidates: Sequence[ScoringCandidate]) -> list[TextScore]:
    """The candidates that hold any of the question's terms, or border on one that does, best first."""
    seats = {(each.thread, each.position): each.key for each in candidates if each.thread is not None}
    reads = {each.key: match_terms(question, each.packed) for each in candidates}
    scored: list[TextScore | None] = []
    for each in candidates:
        keys = (
            [seats.get((each.thread, each.position + step)) for step in NEIGHBOUR_OFFSETS]
            if each.thread is not None
            else []
        )
        near = [reads[key] for key in keys if key is not None]
        scored.append(score_document(question, each.key, reads[each.key], near))
    found = {each.key: each for each in scored if each is not None}
    found |= lift_threads(question, found, {each.key: each.thread for each in candidates if each.thread is not None})
    return sorted(found.values(), key=lambda each: (-each.score, each.key))


def score_document(
    question: WeightedQuery, key: int, own: TermMatch, near: Sequence[TermMatch] = ()
) -> TextScore | None:
    """One document beside its neighbours; None if neither it nor any of them holds a term."""
    words, matched = _sum_with_neighbours(question, own, near) if near else _sum_own(question, own)
    if not words:
        return None
    coverage = matched / question.total
    total = (words * coverage**COVERAGE + own.title) * (ASKING if own.asks else 1.0)
    return TextScore(key, total, total / (total + question.total), words, coverage, own.title, own.asks)


def lift_threads(
    question: WeightedQuery, scored: Mapping[int, TextScore], threads: Mapping[int, Hashable]
) -> dict[int, TextScore]:
    """Those of a thread, each nearer to the best of it; the best stays where it is, and so does who stands alone."""
    best: dict[Hashable, float] = {}
    for key, thread in threads.items():
        if key in scored:
            best[thread] = max(best.get(thread, 0.0), scored[key].score)
    found: dict[int, TextScore] = {}
    for key, thread in threads.items():
        if key in scored:
            own = scored[key]
            more = THREAD * (best[thread] - own.score)
            total = own.score + more
            found[key] = own._replace(score=total, level=total / (total + question.total), thread=more)
    return found


def _sum_own(question: WeightedQuery, own: TermMatch) -> tuple[float, float]:
    rest = K1 * (1 - B + B * own.length / question.average)
    gains = question.gains
    words = matched = 0.0
    for number, count in own.counts.items():
        gain = gains[number]
        matched += gain
        words += gain * count / (count + rest)
    return words * (K1 + 1), matched


def _sum_with_neighbours(question: WeightedQuery, own: TermMatch, near: Iterable[TermMatch]) -> tuple[float, float]:
    counts = own.counts
    lent: dict[int, float] = {}
    length, weight = float(own.length), 1.0
    for other in near:
        length += NEAR * other.length
        weight += NEAR
        for number, count in other.counts.items():
            lent[number] = lent.get(number, 0.0) + NEAR * count
    rest = K1 * (1 - B + B * length / weight / question.average)
    gains = question.gains
    words = matched = 0.0
    for number, count in counts.items():
        gain = gains[number]
        matched += gain
        held = count + lent.pop(number, 0.0)
        words += gain * held / (held + rest)
    for number, held in lent.items():
        gain = gains[number]
        matched += gain * NEAR
        words += gain * held / (held + rest)
    return words * (K1 + 1), matched


def _score_title(question: WeightedQuery, form: bytes) -> float:
    title = read_title_terms(form)
    shared = question.named.intersection(title)
    if not shared:
        return 0.0
    gains = question.gains
    gain = SPEAKER_GAIN if has_speaker_flag(form) else TITLE_GAIN
    return gain * sum([gains.get(number, 0.0) for number in shared]) * len(shared) / len(title)
