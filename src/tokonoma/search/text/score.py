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
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokonoma.search.text.readings import NameForm, QueryName, is_other_script
from tokonoma.search.text.tokenize import (
    PRIVATE,
    PackedMatch,
    WeightedTerm,
    hash_term,
    look_up_terms,
    look_up_terms_many,
)
from tokonoma.search.tuning import TUNING

_JUST_BELOW = 0.999
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
    holds_content: bool = False  # it has every term of the query that is no grammar
    across: bool = False  # it has a name of the query in another script alone
    exact: bool = False  # it has a name that others have in another script as the query does

    def level_without_thread(self, query: "WeightedQuery") -> float:
        own = self.score - self.thread
        return own / (own + query.get_total(across=self.across))


class WeightedForm(NamedTuple):
    """A name of the query in another script (readings.py)."""

    terms: tuple[int, ...]  # all of which a document must hold
    members: tuple[int, ...]  # terms of the query that it then counts for,
    share: float  # each so much of an occurrence
    rarest: str  # the one of its terms that the fewest documents hold
    is_across: bool  # in a script that says that the rest of the text is written in other words, too


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A query with what the index knows about its terms. Built once, used for every document."""

    gains: Mapping[int, float]  # term hash → what an occurrence is worth
    total: float
    ascending: Sequence[int]
    wanted: frozenset[int]
    named: frozenset[int]  # every term, also those that are worth nothing: a title may consist of them
    content: frozenset[int]  # without pairs of hiragana, which are mostly grammar: はいつ in 歯医者はいつ
    average: float
    aliases: Mapping[int, int] = field(default_factory=dict[int, int])  # private term → the term that it counts as
    forms: Sequence[WeightedForm] = ()
    names_total: float = 0.0  # of the names that are known in several scripts

    def get_total(self, *, across: bool) -> float:
        """What a text is measured by. Where a name is known in several scripts, the name is what was asked for: the
        other words of a text that has it may be in another language."""
        return self.names_total + TUNING.name_rest * (self.total - self.names_total) if across else self.total

    def cover(self, terms: Iterable[int]) -> float:
        """The share of the query that these terms are worth."""
        return sum([self.gains[number] for number in terms]) / self.total if self.total else 0.0


class TermMatch(NamedTuple):
    """What a document's terms say about a query: all that a score is made from."""

    counts: Mapping[int, float]  # of the query's terms that it holds
    length: int
    title: float  # what the title is worth
    asks: bool = False
    across: bool = False  # it has a name of the query in another script alone
    exact: bool = False  # it has a name that others have in another script as the query does


def weigh_query(
    terms: Sequence[WeightedTerm],
    frequencies: Mapping[str, int],
    documents: int,
    average: float,
    private: Collection[str] = (),
    names: Sequence[QueryName] = (),
) -> WeightedQuery:
    """`frequencies`: in how many documents each term of a weight above 0 occurs. `average`: the mean length. `private`:
    terms that also count where they are marked as private."""
    known = [_keep_known(name, frequencies) for name in names]
    unseen = _count_unseen(known, frequencies)
    gains: dict[int, float] = {}
    for term in terms:
        gain = compute_gain(term, frequencies.get(term.text, 0) or unseen.get(term.text, 0), documents)
        if gain > 0:
            number = hash_term(term.text)
            gains[number] = max(gain, gains.get(number, 0.0))
    for name in known:
        _raise_gains(name, gains, frequencies, documents)
    best = dict(sorted(gains.items(), key=lambda item: -item[1])[: TUNING.scored_terms])
    named = frozenset(hash_term(term.text) for term in terms)
    content = frozenset(hash_term(term.text) for term in terms if term.is_content).intersection(best)
    forms = [form for name in known for form in _weigh_forms(name, frequencies, documents, best)]
    searched = {*best, *(number for form in forms for number in form.terms)}
    marked = {hash_term(PRIVATE + text): hash_term(text) for text in private if hash_term(text) in searched}
    wanted = frozenset((*searched, *marked))
    total, mean = sum(best.values()), max(average, 1.0)
    names_total = sum(best[number] for number in {each for form in forms for each in form.members})
    return WeightedQuery(best, total, sorted(wanted), wanted, named, content, mean, marked, forms, names_total)


def _keep_known(name: QueryName, frequencies: Mapping[str, int]) -> QueryName:
    """The forms that may occur: those of which some document holds each term."""
    return name._replace(forms=tuple(form for form in name.forms if all(map(frequencies.get, form.terms))))


def _count_form(form: NameForm, frequencies: Mapping[str, int]) -> int:
    return min(frequencies[term] for term in form.terms)


def _count_unseen(names: Sequence[QueryName], frequencies: Mapping[str, int]) -> dict[str, int]:
    """Terms of names that are known in another script only: they are as rare as they are there."""
    return {
        term: max(_count_form(form, frequencies) for form in name.forms)
        for name in names
        if name.forms
        for term in name.terms
    }


def _raise_gains(name: QueryName, gains: dict[int, float], frequencies: Mapping[str, int], documents: int) -> None:
    """A name is worth as much as it is in its other script: pairs of hiragana by themselves are worth little."""
    members = [number for number in map(hash_term, name.terms) if number in gains]
    if not members or not name.forms:
        return
    frequency = max(_count_form(form, frequencies) for form in name.forms)
    factor = compute_gain(WeightedTerm("", 1.0), frequency, documents) / sum(gains[number] for number in members)
    for number in members:
        gains[number] *= max(factor, 1.0)


def _weigh_forms(
    name: QueryName, frequencies: Mapping[str, int], documents: int, gains: Mapping[int, float]
) -> Iterator[WeightedForm]:
    members = tuple(number for number in map(hash_term, name.terms) if number in gains)
    if not members:
        return
    rarities = [compute_gain(WeightedTerm("", 1.0), _count_form(form, frequencies), documents) for form in name.forms]
    for form, rarity in zip(name.forms, rarities, strict=True):
        # Of several forms, those that many documents hold are rather other words.
        part = TUNING.name_share * form.share * rarity / max(rarities)
        rarest = min(form.terms, key=frequencies.__getitem__)
        is_across = name.kind != "sound" and is_other_script(name.terms, form.terms)
        yield WeightedForm(tuple(map(hash_term, form.terms)), members, part, rarest, is_across)


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
    basis = query.get_total(across=own.across)
    coverage = min(matched / basis, 1.0)
    factor = TUNING.question_factor if own.asks else 1.0
    total = (words * coverage**TUNING.coverage_exponent + own.title) * factor
    holds_content = bool(query.content) and query.content.issubset(own.counts)
    level = total / (total + basis)
    return TextScore(
        key,
        total,
        level,
        words,
        coverage,
        own.title,
        own.asks,
        holds_content=holds_content,
        across=own.across,
        exact=own.exact,
    )


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
        level = total / (total + query.get_total(across=own.across))
        lifted[own.key] = own._replace(score=total, level=level, thread=more)
    return lifted


def put_exact_first(query: WeightedQuery, scores: Mapping[int, TextScore]) -> dict[int, TextScore]:
    """The documents that have a name in another script alone, none above the best that has it as the query does."""
    best = max((each.level for each in scores.values() if each.exact), default=1.0) * _JUST_BELOW
    total = query.get_total(across=True) * best / (1.0 - best)
    above = (each for each in scores.values() if each.across and each.level > best)
    return {each.key: each._replace(score=total, level=best) for each in above}


def _to_match(query: WeightedQuery, found: PackedMatch) -> TermMatch:
    shared, title = query.named.intersection(found.title), 0.0
    if shared:
        gain = TUNING.speaker_gain if found.has_speaker else TUNING.title_gain
        title = gain * sum([query.gains.get(number, 0.0) for number in shared]) * len(shared) / len(found.title)
    counts = _join_private(query.aliases, found.counts) if query.aliases else found.counts
    if not query.forms:
        return TermMatch(counts, found.length, title, found.is_question)
    held = [form for form in query.forms if all(map(counts.__contains__, form.terms))]
    exact = any(form.is_across and all(map(counts.__contains__, form.members)) for form in query.forms)
    across = not exact and any(form.is_across for form in held)
    return TermMatch(_join_forms(query, counts, held), found.length, title, found.is_question, across, exact)


def _join_forms(query: WeightedQuery, counts: Mapping[int, int], held: Iterable[WeightedForm]) -> Mapping[int, float]:
    """Counts of the query's terms alone: where a name is written in another script, its terms count as a part."""
    joined: dict[int, float] = {number: count for number, count in counts.items() if number in query.gains}
    for form in held:
        for number in query.gains.keys() & form.members:
            joined[number] = max(joined.get(number, 0.0), form.share)
    return joined


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
        matched += gain * min(count, 1.0)
        held = count + borrowed.pop(number, 0.0) if borrowed else count
        words += gain * held / (held + rest)
    for number, held in borrowed.items():
        gain = gains[number]
        matched += gain * share
        words += gain * held / (held + rest)
    return words * (k1 + 1), matched
