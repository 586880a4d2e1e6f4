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
    asking,
    looked_up,
    looked_up_together,
    number_of,
    speaking,
    title_of,
)
from tokonoma.search.tokenize import Term

K1 = 1.0
B = 0.5
COVERAGE = 0.5
TITLE_GAIN, SPEAKER_GAIN = 2.0, 0.5
NEAR = 0.4
ASKING = 0.9
THREAD = 0.2
MAX_TERMS = 32  # of a long question, the terms that are worth most

SEATS = (-2, -1, 1, 2)
"""Where neighbours sit who lend."""


class Candidate(NamedTuple):
    """`seat` is the place in the thread; documents of a thread whose seats differ by one or two are neighbours."""

    key: int
    form: bytes
    thread: Hashable = None
    seat: int = 0


class Scored(NamedTuple):
    key: int
    score: float
    level: float  # the same, between 0 and 1, and comparable from question to question
    words: float
    coverage: float
    title: float
    asks: bool = False
    thread: float = 0.0  # of the score, what its thread gave

    def alone(self, question: "Question") -> float:
        """The level that it has without its thread."""
        own = self.score - self.thread
        return own / (own + question.total)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what the index knows about its terms. Made once, used for every candidate."""

    gains: Mapping[int, float]  # term number → what an occurrence is worth
    total: float
    ascending: Sequence[int]
    wanted: frozenset[int]
    named: frozenset[int]  # every term, also those that are worth nothing: a title may be made of them
    average: float


class Read(NamedTuple):
    """What a document's form says about a question: all that a score is made from."""

    counts: dict[int, int]  # of the question's terms those that it holds, with their counts
    length: int
    title: float  # what the title is worth
    asks: bool = False


def weigh(terms: Sequence[Term], frequencies: Mapping[str, int], documents: int, average: float) -> Question:
    """`frequencies`: in how many documents each term of a weight above 0 occurs. `average`: the mean length."""
    gains: dict[int, float] = {}
    for term in terms:
        gain = gain_of(term, frequencies.get(term.text, 0), documents)
        if gain > 0:
            number = number_of(term.text)
            gains[number] = max(gain, gains.get(number, 0.0))
    best = dict(sorted(gains.items(), key=lambda item: -item[1])[:MAX_TERMS])
    named = frozenset(number_of(term.text) for term in terms)
    return Question(best, sum(best.values()), sorted(best), frozenset(best), named, max(average, 1.0))


def gain_of(term: Term, frequency: int, documents: int) -> float:
    """What one term is worth: the weight of its kind times its rarity, the less so the steeper its kind falls off."""
    frequency = min(frequency, documents)
    rarity = math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
    return term.weight * rarity * (rarity / math.log(2 + 2 * documents)) ** term.steep


def read(question: Question, form: bytes) -> Read:
    counts, length, titled = looked_up(form, question.wanted, question.ascending)
    return Read(counts, length, _title(question, form) if titled else 0.0, asking(form))


def read_together(question: Question, forms: Sequence[bytes]) -> list[Read]:
    """Many at once; where numpy is loaded anyway."""
    return [
        Read(counts, length, _title(question, form) if titled else 0.0, asking(form))
        for form, (counts, length, titled) in zip(forms, looked_up_together(forms, question.ascending), strict=True)
    ]


def score(question: Question, candidates: Sequence[Candidate]) -> list[Scored]:
    """The candidates that hold any of the question's terms, or border on one that does, best first."""
    seats = {(each.thread, each.seat): each.key for each in candidates if each.thread is not None}
    reads = {each.key: read(question, each.form) for each in candidates}
    scored: list[Scored | None] = []
    for each in candidates:
        keys = [seats.get((each.thread, each.seat + step)) for step in SEATS] if each.thread is not None else []
        near = [reads[key] for key in keys if key is not None]
        scored.append(scored_of(question, each.key, reads[each.key], near))
    found = {each.key: each for each in scored if each is not None}
    found |= lifted(question, found, {each.key: each.thread for each in candidates if each.thread is not None})
    return sorted(found.values(), key=lambda each: (-each.score, each.key))


def scored_of(question: Question, key: int, own: Read, near: Sequence[Read] = ()) -> Scored | None:
    """One document beside its neighbours; None if neither it nor any of them holds a term."""
    words, matched = _among(question, own, near) if near else _alone(question, own)
    if not words:
        return None
    coverage = matched / question.total
    total = (words * coverage**COVERAGE + own.title) * (ASKING if own.asks else 1.0)
    return Scored(key, total, total / (total + question.total), words, coverage, own.title, own.asks)


def lifted(question: Question, scored: Mapping[int, Scored], threads: Mapping[int, Hashable]) -> dict[int, Scored]:
    """Those of a thread, each nearer to the best of it; the best stays where it is, and so does who stands alone."""
    best: dict[Hashable, float] = {}
    for key, thread in threads.items():
        if key in scored:
            best[thread] = max(best.get(thread, 0.0), scored[key].score)
    found: dict[int, Scored] = {}
    for key, thread in threads.items():
        if key in scored:
            own = scored[key]
            more = THREAD * (best[thread] - own.score)
            total = own.score + more
            found[key] = own._replace(score=total, level=total / (total + question.total), thread=more)
    return found


def _alone(question: Question, own: Read) -> tuple[float, float]:
    rest = K1 * (1 - B + B * own.length / question.average)
    gains = question.gains
    words = matched = 0.0
    for number, count in own.counts.items():
        gain = gains[number]
        matched += gain
        words += gain * count / (count + rest)
    return words * (K1 + 1), matched


def _among(question: Question, own: Read, near: Iterable[Read]) -> tuple[float, float]:
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


def _title(question: Question, form: bytes) -> float:
    title = title_of(form)
    shared = question.named.intersection(title)
    if not shared:
        return 0.0
    gains = question.gains
    gain = SPEAKER_GAIN if speaking(form) else TITLE_GAIN
    return gain * sum([gains.get(number, 0.0) for number in shared]) * len(shared) / len(title)
