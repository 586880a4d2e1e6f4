"""The leg that goes by words: the rarest propose, what they propose is scored exactly, and threads lend weight.

A filter that lets few documents through needs no proposals: all of them are scored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import islice

from tokonoma.search import score as scoring
from tokonoma.search.candidates import FEW, Candidate, Pool
from tokonoma.search.score import Question, Read, Scored
from tokonoma.search.statistics import Corpus, Frequencies
from tokonoma.search.term_counts import number_of
from tokonoma.search.term_index import Proposal, Words, marks_for
from tokonoma.search.term_plan import plan_words
from tokonoma.search.threads import Seat, seats_of, seats_of_rows
from tokonoma.search.tokenize import Term, terms

_LOOKED_UP = 500  # terms of a query; of a text that is pasted as one, its beginning
_PROPOSED = 300  # at most, unless more are wanted
_PROPOSED_EACH = 8  # for each that is wanted
_FIRST, _STEP = 80, 40  # proposals that are scored at a time; more where more are wanted
_WIDEST = 4096
_TELLING = 0.4  # a mark that more than this share of the documents carry would not spare any work
_SINGLY = 8  # documents; more are sooner read together, where that can be done
_LENDING = 60  # of the best, whose neighbours are looked at
_REACH = 2  # neighbours on each side that lend


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's words, with what the index knows about them."""

    terms: Sequence[Term]
    frequencies: dict[str, int]
    question: Question
    corpus: Corpus


@dataclass(slots=True)
class Leg:
    """What the words of a query have found."""

    asked: Asked
    pool: Pool
    together: bool = False  # numpy is loaded anyway: documents are read many at a time
    candidates: dict[int, Candidate] = field(default_factory=dict[int, Candidate])
    reads: dict[int, Read] = field(default_factory=dict[int, Read])
    seats: dict[int, Seat] = field(default_factory=dict[int, Seat])
    scored: dict[int, Scored] = field(default_factory=dict[int, Scored])

    def take(self, ids: Collection[int]) -> int:
        """Score these documents, too, as far as they lie inside the filter; so many of them were not known yet."""
        fresh = self._fetch(ids)
        question, reads, scored = self.asked.question, self.reads, self.scored
        for number in fresh:
            found = scoring.scored_of(question, number, reads[number])
            if found is not None:
                scored[number] = found
        return len(fresh)

    def line(self, limit: int) -> float:
        """The score from which on a document is among so many; 0 while there are fewer."""
        if len(self.scored) < limit:
            return 0.0
        return sorted([each.score for each in self.scored.values()])[-limit]

    def lend(self, *, whole: bool) -> None:
        """The best and those around them are scored again, each with its own neighbours on both sides. If the filter's
        documents are all here, the `whole` of each thread, who sits beside whom needs not be asked."""
        best = nlargest(_LENDING, self.scored.values(), key=lambda each: each.score)
        threaded = [each.key for each in best if self.candidates[each.key].thread is not None]
        if not threaded:
            return
        # Twice as far: those around a hit have neighbours of their own.
        if whole:
            self.seats = seats_of(self.candidates.values())
            beside = {seat: number for number, seat in self.seats.items()}
            near = {number for key in threaded for number in _within(beside, self.seats[key], 2 * _REACH)}
        else:
            rows = self.pool.rows_around(threaded, 2 * _REACH)
            near = {number for row in rows for number in row}
            self._fetch(near)
            self.seats = seats_of_rows(rows, self.candidates)
            beside = {seat: number for number, seat in self.seats.items()}
        self._score_beside(near & self.seats.keys(), beside)
        threads = {key: each.thread for key, each in self.candidates.items() if each.thread is not None}
        self.scored |= scoring.lifted(self.asked.question, self.scored, threads)

    def terms(self, number: int) -> dict[str, float]:
        """What each term gives, neighbours included; together they are the score's `words`."""
        asked, given = self.asked.question, dict[str, float]()
        for term in self.asked.terms:
            key = number_of(term.text)
            if key in asked.gains:
                alone = replace(asked, gains={key: asked.gains[key]}, ascending=[key], wanted=frozenset((key,)))
                own, *near = (scoring.read(alone, self.candidates[each].data) for each in self._around(number))
                told = scoring.scored_of(alone, number, own, near)
                given[term.text] = told.words if told is not None else 0.0
        return {text: round(value, 6) for text, value in given.items() if value}

    def neighbours(self, number: int) -> int:
        return len(self._around(number)) - 1

    def _around(self, number: int) -> list[int]:
        """A document, then its neighbours."""
        if number not in self.seats:
            return [number]
        beside = {seat: each for each, seat in self.seats.items()}
        return [number, *(each for each in _within(beside, self.seats[number], _REACH) if each != number)]

    def _score_beside(self, ids: Iterable[int], beside: dict[Seat, int]) -> None:
        question, reads = self.asked.question, self.reads
        for number in ids:
            thread, seat = self.seats[number]
            keys = [beside.get((thread, seat + step)) for step in scoring.SEATS]
            near = [reads[key] for key in keys if key is not None]
            found = scoring.scored_of(question, number, reads[number], near)
            if found is not None:
                self.scored[number] = found

    def _fetch(self, ids: Collection[int]) -> list[int]:
        """Those of them that lie inside the filter and were not here."""
        candidates, question = self.candidates, self.asked.question
        missing = [number for number in ids if number not in candidates]
        fetched = self.pool.fetch(missing)
        if self.together and len(fetched) > _SINGLY:
            reads = scoring.read_together(question, [each.data for each in fetched])
        else:
            reads = [scoring.read(question, each.data) for each in fetched]
        for each, read in zip(fetched, reads, strict=True):
            candidates[each.id] = each
            self.reads[each.id] = read
        return [each.id for each in fetched]


def _within(beside: dict[Seat, int], seat: Seat, reach: int) -> list[int]:
    thread, place = seat
    keys = (beside.get((thread, place + step)) for step in range(-reach, reach + 1))
    return [key for key in keys if key is not None]


def asked_of(pool: Pool, text: str, corpus: Corpus, frequencies: Frequencies) -> Asked:
    said = terms(text)[:_LOOKED_UP]
    wanted = [term.text for term in said if term.weight > 0]
    counted = frequencies.of(pool.rows, [*wanted, *marks_for(pool.filter)], corpus)
    return Asked(said, counted, scoring.weigh(said, counted, corpus.documents, corpus.average), corpus)


def by_words(
    words: Words,
    pool: Pool,
    asked: Asked,
    limit: int,
    *,
    neighbours: bool,
    others: Collection[int] = (),
    together: bool = False,
) -> Leg:
    """`others` were found by somebody else, and are scored as well. `together`: numpy is loaded already."""
    leg = Leg(asked, pool, together)
    known = any(asked.frequencies[term.text] for term in asked.terms if term.weight > 0)
    few = pool.few() if known else []
    if few is not None:
        leg.take({*few, *others})
    else:
        _take_proposed(leg, words.propose(pool.rows, _proposal(pool, asked, limit), pool.filter), limit)
        leg.take(others)
    if neighbours:
        leg.lend(whole=few is not None)
    return leg


def _take_proposed(leg: Leg, proposed: Iterable[int], limit: int) -> None:
    """Some at a time, until there are enough and the last ones have changed nothing among the best."""
    ids, most = iter(proposed), max(_PROPOSED, _PROPOSED_EACH * limit)
    usual = max(_STEP, limit)
    taken, step, line = 0, max(_FIRST, 2 * limit), 0.0
    while some := [*islice(ids, step)]:
        fresh = leg.take(some)
        taken += fresh
        before, line = line, leg.line(limit)
        if taken >= most or (before == line > 0.0 and taken >= 2 * limit):
            return
        # If the filter lets few of them through, more are looked at together.
        step = usual if 2 * fresh >= len(some) else min(2 * step, _WIDEST)


def _proposal(pool: Pool, asked: Asked, limit: int) -> Proposal:
    documents, counted, gains = asked.corpus.documents, asked.frequencies, asked.question.gains
    worth = {term.text: gains[number_of(term.text)] for term in asked.terms if number_of(term.text) in gains}
    telling = _TELLING * documents
    marks = [mark for mark in marks_for(pool.filter) if counted[mark] <= telling]
    # Of a term's documents those are read that carry the marks: no more than carry the rarest of them. What is
    # remembered of a mark may be old; that the filter lets more than a few through was asked just now.
    most = max(FEW, min((counted[mark] for mark in marks), default=documents))
    rarest = plan_words(((text, min(counted[text], most)) for text in worth), documents)
    return Proposal(
        terms={text: worth[text] for text in rarest},
        marks=marks,
        most=max(_PROPOSED, _PROPOSED_EACH * limit),
    )
