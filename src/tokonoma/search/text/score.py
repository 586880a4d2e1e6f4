"""One ranking for both databases: how well documents answer a query, from their packed terms alone. Pure.

    score = (words × coverage ^ coverage_exponent + title) × question_factor + thread

words            BM25: rare terms and several occurrences count more, long documents less. A document of a thread
                 borrows from the two before and the two after it: their counts are added, at neighbour_weight each.
coverage         the matched share of what the query's terms are worth together.
title            what the terms found in the title are worth, times the share of the title that the query names. The
                 title of a turn of a conversation is its speaker.
question_factor  for a text that asks a question itself: the answer is elsewhere.
thread           a share of the distance to the best document of the thread: one conversation has one subject.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokonoma.search.text.tokenize import (
    PRIVATE,
    PackedMatch,
    WeightedTerm,
    hash_term,
    look_up_terms,
    look_up_terms_many,
)
from tokonoma.search.tuning import TUNING

NEIGHBOUR_OFFSETS = (-2, -1, 1, 2)
"""Positions in the thread, relative to a document, of the neighbours that it borrows from."""


class TextScore(NamedTuple):
    key: int
    score: float
    level: float  # the same, between 0 and 1, and comparable from query to query
    words: float
    coverage: float
    title: float
    asks: bool = False
    thread: float = 0.0  # the part of the score that its thread added

    def level_without_thread(self, query: "WeightedQuery") -> float:
        own = self.score - self.thread
        return own / (own + query.total)


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A query with what the index knows about its terms. Built once, used for every document."""

    gains: Mapping[int, float]  # term hash → what an occurrence is worth
    total: float
    ascending: Sequence[int]
    wanted: frozenset[int]
    named: frozenset[int]  # every term, also those that are worth nothing: a title may consist of them
    average: float
    aliases: Mapping[int, int] = field(default_factory=dict[int, int])  # private term → the term that it counts as


class TermMatch(NamedTuple):
    """What a document's terms say about a query: all that a score is made from."""

    counts: dict[int, int]  # of the query's terms that it holds
    length: int
    title: float  # what the title is worth
    asks: bool = False


def weigh_query(
    terms: Sequence[WeightedTerm],
    frequencies: Mapping[str, int],
    documents: int,
    average: float,
    private: Collection[str] = (),
) -> WeightedQuery:
    """`frequencies`: in how many documents each term of a weight above 0 occurs. `average`: the mean length. `private`:
    terms that also count where they are marked as private."""
    gains: dict[int, float] = {}
    for term in terms:
        gain = compute_gain(term, frequencies.get(term.text, 0), documents)
        if gain > 0:
            number = hash_term(term.text)
            gains[number] = max(gain, gains.get(number, 0.0))
    best = dict(sorted(gains.items(), key=lambda item: -item[1])[: TUNING.scored_terms])
    named = frozenset(hash_term(term.text) for term in terms)
    marked = {hash_term(PRIVATE + text): hash_term(text) for text in private if hash_term(text) in best}
    wanted = frozenset((*best, *marked))
    return WeightedQuery(best, sum(best.values()), sorted(wanted), wanted, named, max(average, 1.0), marked)


def compute_gain(term: WeightedTerm, frequency: int, documents: int) -> float:
    """What one term is worth: the weight of its kind times its rarity, the less so the steeper its kind falls off."""
    frequency = min(frequency, documents)
    rarity = math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
    return term.weight * rarity * (rarity / math.log(2 + 2 * documents)) ** term.steepness


def match_terms(query: WeightedQuery, packed: bytes) -> TermMatch:
    return _to_match(query, look_up_terms(packed, query.wanted, query.ascending))


def match_terms_many(query: WeightedQuery, many: Sequence[bytes]) -> list[TermMatch]:
    """Many documents at once, where numpy is loaded anyway."""
    return [_to_match(query, each) for each in look_up_terms_many(many, query.ascending)]


def score_document(query: WeightedQuery, key: int, own: TermMatch, near: Sequence[TermMatch] = ()) -> TextScore | None:
    """One document beside its neighbours; None if neither it nor any of them holds a term."""
    words, matched = _sum_words(query, own, near)
    if not words:
        return None
    coverage = matched / query.total
    factor = TUNING.question_factor if own.asks else 1.0
    total = (words * coverage**TUNING.coverage_exponent + own.title) * factor
    return TextScore(key, total, total / (total + query.total), words, coverage, own.title, own.asks)


def lift_threads(
    query: WeightedQuery, scores: Mapping[int, TextScore], threads: Mapping[int, Hashable]
) -> dict[int, TextScore]:
    """The scored documents of threads, each raised towards the best of its thread, which keeps its score."""
    scored = [(scores[key], thread) for key, thread in threads.items() if key in scores]
    best: dict[Hashable, float] = {}
    for own, thread in scored:
        best[thread] = max(best.get(thread, 0.0), own.score)
    lifted: dict[int, TextScore] = {}
    for own, thread in scored:
        more = TUNING.thread_share * (best[thread] - own.score)
        total = own.score + more
        lifted[own.key] = own._replace(score=total, level=total / (total + query.total), thread=more)
    return lifted


def _to_match(query: WeightedQuery, found: PackedMatch) -> TermMatch:
    shared, title = query.named.intersection(found.title), 0.0
    if shared:
        gain = TUNING.speaker_gain if found.has_speaker else TUNING.title_gain
        title = gain * sum([query.gains.get(number, 0.0) for number in shared]) * len(shared) / len(found.title)
    counts = _join_private(query.aliases, found.counts) if query.aliases else found.counts
    return TermMatch(counts, found.length, title, found.is_question)


def _join_private(aliases: Mapping[int, int], counts: Mapping[int, int]) -> dict[int, int]:
    joined: dict[int, int] = {}
    for number, count in counts.items():
        number = aliases.get(number, number)
        joined[number] = joined.get(number, 0) + count
    return joined


def _sum_words(query: WeightedQuery, own: TermMatch, near: Iterable[TermMatch]) -> tuple[float, float]:
    """BM25, and what the terms that match are worth."""
    k1, b, share, gains = TUNING.k1, TUNING.b, TUNING.neighbour_weight, query.gains
    borrowed: dict[int, float] = {}
    length, weight = float(own.length), 1.0
    for other in near:
        length += share * other.length
        weight += share
        for number, count in other.counts.items():
            borrowed[number] = borrowed.get(number, 0.0) + share * count
    rest = k1 * (1 - b + b * length / weight / query.average)
    words = matched = 0.0
    for number, count in own.counts.items():
        gain = gains[number]
        matched += gain
        held = count + borrowed.pop(number, 0.0) if borrowed else count
        words += gain * held / (held + rest)
    for number, held in borrowed.items():
        gain = gains[number]
        matched += gain * share
        words += gain * held / (held + rest)
    return words * (k1 + 1), matched
