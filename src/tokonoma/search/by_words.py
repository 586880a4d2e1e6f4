"""The leg that goes by words: the rarest propose, what they propose is scored exactly, and threads lend weight.

A filter that lets few documents through needs no proposals: all of them are scored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tokonoma.search import score as scoring
from tokonoma.search.cut import Term, terms
from tokonoma.search.form import number_of
from tokonoma.search.plan_words import plan_words
from tokonoma.search.pool import Candidate, Pool
from tokonoma.search.proposal import Proposal, Words, marks_for
from tokonoma.search.score import Question, Scored
from tokonoma.search.seats import Seat, seats_of, seats_of_rows
from tokonoma.search.statistics import Corpus, Frequencies

_LOOKED_UP = 500  # terms of a query; of a text that is pasted as one, its beginning
_PROPOSED = 300
_TELLING = 0.4  # a mark that more than this share of the documents carry would not spare any work
_ORDERING = 0.6  # of the index: postings of further terms that are read to put the proposed ones in order
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
    candidates: dict[int, Candidate] = field(default_factory=dict[int, Candidate])
    seats: dict[int, Seat] = field(default_factory=dict[int, Seat])
    scored: dict[int, Scored] = field(default_factory=dict[int, Scored])

    def take(self, ids: Collection[int]) -> None:
        """Score these documents, too, as far as they lie inside the filter."""
        self._fetch(ids)
        self._score(number for number in ids if number in self.candidates and number not in self.scored)

    def sit(self) -> None:
        """Every document of the filter is here: who is whose neighbour needs not be asked."""
        self.seats = seats_of(self.candidates.values())
        self._score(self.seats)

    def lend(self) -> None:
        """The best and those around them are scored again, each with its own neighbours on both sides."""
        best = sorted(self.scored.values(), key=lambda each: -each.score)[:_LENDING]
        threaded = [each.key for each in best if self.candidates[each.key].thread is not None]
        if not threaded:
            return
        # Twice as far: those around a hit have neighbours of their own.
        rows = self.pool.rows_around(threaded, 2 * _REACH)
        self._fetch({number for row in rows for number in row})
        self.seats = seats_of_rows(rows, self.candidates)
        self._score(self.seats)

    def terms(self, number: int) -> dict[str, float]:
        """What each term gives, neighbours included; together they are the score's `words`."""
        asked, given = self.asked.question, dict[str, float]()
        for term in self.asked.terms:
            key = number_of(term.text)
            if key in asked.gains:
                alone = replace(asked, gains={key: asked.gains[key]}, ascending=[key], wanted=frozenset((key,)))
                given[term.text] = sum(each.words for each in self._compared(alone, self._around(number), number))
        return {text: round(value, 6) for text, value in given.items() if value}

    def neighbours(self, number: int) -> int:
        return len(self._around(number)) - 1

    def _around(self, number: int) -> list[int]:
        if number not in self.seats:
            return [number]
        thread, seat = self.seats[number]
        return [other for other, (its, place) in self.seats.items() if its == thread and abs(place - seat) <= _REACH]

    def _fetch(self, ids: Collection[int]) -> None:
        missing = [number for number in ids if number not in self.candidates]
        self.candidates |= {each.id: each for each in self.pool.fetch(missing)}

    def _score(self, ids: Iterable[int]) -> None:
        self.scored |= {each.key: each for each in self._compared(self.asked.question, ids)}

    def _compared(self, asked: Question, ids: Iterable[int], only: int | None = None) -> list[Scored]:
        alone: Seat = (None, 0)
        made = [
            scoring.Candidate(number, self.candidates[number].data, *self.seats.get(number, alone)) for number in ids
        ]
        return [each for each in scoring.score(asked, made) if only is None or each.key == only]


def asked_of(pool: Pool, text: str, corpus: Corpus, frequencies: Frequencies) -> Asked:
    said = terms(text)[:_LOOKED_UP]
    wanted = [term.text for term in said if term.weight > 0]
    counted = frequencies.of(pool.rows, [*wanted, *marks_for(pool.filter)], corpus)
    return Asked(said, counted, scoring.weigh(said, counted, corpus.documents, corpus.average), corpus)


def by_words(
    words: Words, pool: Pool, asked: Asked, limit: int, *, neighbours: bool, others: Collection[int] = ()
) -> Leg:
    """`others` were found by somebody else, and are scored as well."""
    leg = Leg(asked, pool)
    known = any(asked.frequencies[term.text] for term in asked.terms if term.weight > 0)
    few = pool.few() if known else []
    if few is not None:
        leg.take({*few, *others})
        if neighbours:
            leg.sit()
        return leg
    proposal = _proposal(pool, asked, max(_PROPOSED, 3 * limit))
    leg.take({*words.propose(pool.rows, proposal, pool.filter), *others})
    if neighbours:
        leg.lend()
    return leg


def _proposal(pool: Pool, asked: Asked, most: int) -> Proposal:
    documents, counted, gains = asked.corpus.documents, asked.frequencies, asked.question.gains
    worth = {term.text: gains[number_of(term.text)] for term in asked.terms if number_of(term.text) in gains}
    rarest = plan_words(((text, counted[text]) for text in worth), documents)
    ordering: list[str] = []
    room = _ORDERING * documents
    for text in sorted(worth.keys() - set(rarest), key=lambda text: (-worth[text], text)):
        if 0 < counted[text] <= room:
            ordering.append(text)
            room -= counted[text]
    telling = _TELLING * documents
    return Proposal(
        terms={text: worth[text] for text in rarest},
        also={text: worth[text] for text in ordering},
        marks=[mark for mark in marks_for(pool.filter) if counted[mark] <= telling],
        most=most,
        average=asked.corpus.average,
    )
