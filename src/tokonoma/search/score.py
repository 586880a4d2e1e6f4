"""One ranking for both databases: how well candidates answer a question, from their forms alone. Pure.

    score = words × coverage ^ COVERAGE + title

words     BM25: rare terms and several occurrences count more, long documents less. A document of a thread borrows from
          the two before and the two after it: their counts enter its own, at NEAR each.
coverage  the matched share of what the question's terms are worth together.
title     what the terms found in the title are worth, times the share of the title that the question names.

The figures were chosen on several collections at once (docs/adr/0012-words.md)."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokonoma.search.cut import Term
from tokonoma.search.form import counts_in, length_of, number_of, title_of

K1 = 1.0
B = 0.5
COVERAGE = 0.5
TITLE_GAIN = 2.0
NEAR = 0.4
MAX_TERMS = 32  # of a long question, the terms that are worth most

_SEATS = (-2, -1, 1, 2)


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


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what the index knows about its terms. Made once, used for every candidate."""

    gains: Mapping[int, float]  # term number → what an occurrence is worth
    total: float
    ascending: Sequence[int]
    wanted: frozenset[int]
    named: frozenset[int]  # every term, also those that are worth nothing: a title may be made of them
    average: float


_Found = tuple[
    dict[int, int], int
]  # of the question's terms those that a document holds, with their counts; its length


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


def score(question: Question, candidates: Sequence[Candidate]) -> list[Scored]:
    """The candidates that hold any of the question's terms, or border on one that does, best first."""
    seats = {(each.thread, each.seat): each.key for each in candidates if each.thread is not None}
    beside: dict[int, list[int]] = {}
    for each in candidates:
        if each.thread is not None:
            keys = (seats.get((each.thread, each.seat + step)) for step in _SEATS)
            beside[each.key] = [key for key in keys if key is not None]
    return score_beside(question, {each.key: each.form for each in candidates}, beside)


def score_beside(
    question: Question,
    forms: Mapping[int, bytes],
    beside: Mapping[int, Sequence[int]],
    only: Iterable[int] | None = None,
) -> list[Scored]:
    """The same for whoever knows the neighbours: `beside` names those of each document, and `forms` holds them all.

    `only`: the documents to be scored, if the others are there as neighbours alone. Each form is read once."""
    wanted, ascending = question.wanted, question.ascending
    found = {key: (counts_in(form, wanted, ascending), length_of(form)) for key, form in forms.items()}
    scored: list[Scored] = []
    for key in forms if only is None else only:
        near = [found[other] for other in beside.get(key, ()) if other in found]
        words, matched = _among(question, found[key], near) if near else _alone(question, found[key])
        if words:
            scored.append(_scored(question, key, forms[key], words, matched))
    scored.sort(key=lambda each: (-each.score, each.key))
    return scored


def _alone(question: Question, own: _Found) -> tuple[float, float]:
    counts, length = own
    rest = K1 * (1 - B + B * length / question.average)
    gains = question.gains
    words = matched = 0.0
    for number, count in counts.items():
        gain = gains[number]
        matched += gain
        words += gain * count / (count + rest)
    return words * (K1 + 1), matched


def _among(question: Question, own: _Found, near: Iterable[_Found]) -> tuple[float, float]:
    counts, own_length = own
    lent: dict[int, float] = {}
    length, weight = float(own_length), 1.0
    for others, other_length in near:
        length += NEAR * other_length
        weight += NEAR
        for number, count in others.items():
            lent[number] = lent.get(number, 0.0) + NEAR * count
    rest = K1 * (1 - B + B * length / weight / question.average)
    words = matched = 0.0
    for number in counts.keys() | lent.keys():
        gain = question.gains[number]
        count = counts.get(number, 0)
        matched += gain if count else gain * NEAR
        count += lent.get(number, 0.0)
        words += gain * count / (count + rest)
    return words * (K1 + 1), matched


def _scored(question: Question, key: int, form: bytes, words: float, matched: float) -> Scored:
    coverage = matched / question.total
    title = _title(question, form)
    total = words * coverage**COVERAGE + title
    return Scored(key, total, total / (total + question.total), words, coverage, title)


def _title(question: Question, form: bytes) -> float:
    title = title_of(form)
    shared = question.named.intersection(title)
    if not shared:
        return 0.0
    gains = question.gains
    return TITLE_GAIN * sum([gains.get(number, 0.0) for number in shared]) * len(shared) / len(title)
