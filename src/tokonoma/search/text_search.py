"""The leg that goes by words: the rarest propose, what they propose is scored exactly, and threads lend weight.

A filter that lets few documents through needs no proposals: all of them are scored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import islice

from tokonoma.search import score as scoring
from tokonoma.search.candidates import FEW, CandidatePool, SearchCandidate
from tokonoma.search.score import TermMatch, TextScore, WeightedQuery
from tokonoma.search.statistics import Corpus, TermFrequencies
from tokonoma.search.term_counts import hash_term
from tokonoma.search.term_index import TermIndex, TermProposal, build_filter_tags
from tokonoma.search.term_plan import plan_terms
from tokonoma.search.threads import ThreadPosition, assign_partial_positions, assign_positions
from tokonoma.search.tokenize import WeightedTerm, parse_query_terms

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
class TextQuery:
    """A query's words, with what the index knows about them."""

    terms: Sequence[WeightedTerm]
    frequencies: dict[str, int]
    weighted: WeightedQuery
    corpus: Corpus


@dataclass(slots=True)
class TextSearch:
    """What the words of a query have found."""

    query: TextQuery
    pool: CandidatePool
    batched: bool = False  # numpy is loaded anyway: documents are read many at a time
    candidates: dict[int, SearchCandidate] = field(default_factory=dict[int, SearchCandidate])
    matches: dict[int, TermMatch] = field(default_factory=dict[int, TermMatch])
    positions: dict[int, ThreadPosition] = field(default_factory=dict[int, ThreadPosition])
    scores: dict[int, TextScore] = field(default_factory=dict[int, TextScore])

    def score_documents(self, ids: Collection[int]) -> int:
        """Score these documents, too, as far as they lie inside the filter; so many of them were not known yet."""
        fresh = self._fetch(ids)
        question, reads, scored = self.query.weighted, self.matches, self.scores
        for number in fresh:
            found = scoring.score_document(question, number, reads[number])
            if found is not None:
                scored[number] = found
        return len(fresh)

    def find_threshold(self, limit: int) -> float:
        """The score from which on a document is among so many; 0 while there are fewer."""
        if len(self.scores) < limit:
            return 0.0
        return sorted([each.score for each in self.scores.values()])[-limit]

    def apply_neighbours(self, *, whole: bool) -> None:
        """The best and those around them are scored again, each with its own neighbours on both sides. If the filter's
        documents are all here, the `whole` of each thread, who sits beside whom needs not be asked."""
        best = nlargest(_LENDING, self.scores.values(), key=lambda each: each.score)
        threaded = [each.key for each in best if self.candidates[each.key].thread is not None]
        if not threaded:
            return
        # Twice as far: those around a hit have neighbours of their own.
        if whole:
            self.positions = assign_positions(self.candidates.values())
            beside = {seat: number for number, seat in self.positions.items()}
            near = {
                number for key in threaded for number in _list_positions_within(beside, self.positions[key], 2 * _REACH)
            }
        else:
            rows = self.pool.find_neighbours(threaded, 2 * _REACH)
            near = {number for row in rows for number in row}
            self._fetch(near)
            self.positions = assign_partial_positions(rows, self.candidates)
            beside = {seat: number for number, seat in self.positions.items()}
        self._score_with_neighbours(near & self.positions.keys(), beside)
        threads = {key: each.thread for key, each in self.candidates.items() if each.thread is not None}
        self.scores |= scoring.lift_threads(self.query.weighted, self.scores, threads)

    def explain_terms(self, number: int) -> dict[str, float]:
        """What each term gives, neighbours included; together they are the score's `words`."""
        asked, given = self.query.weighted, dict[str, float]()
        for term in self.query.terms:
            key = hash_term(term.text)
            if key in asked.gains:
                alone = replace(asked, gains={key: asked.gains[key]}, ascending=[key], wanted=frozenset((key,)))
                own, *near = (
                    scoring.match_terms(alone, self.candidates[each].data)
                    for each in self._list_with_neighbours(number)
                )
                told = scoring.score_document(alone, number, own, near)
                given[term.text] = told.words if told is not None else 0.0
        return {text: round(value, 6) for text, value in given.items() if value}

    def count_neighbours(self, number: int) -> int:
        return len(self._list_with_neighbours(number)) - 1

    def _list_with_neighbours(self, number: int) -> list[int]:
        """A document, then its neighbours."""
        if number not in self.positions:
            return [number]
        beside = {seat: each for each, seat in self.positions.items()}
        return [
            number,
            *(each for each in _list_positions_within(beside, self.positions[number], _REACH) if each != number),
        ]

    def _score_with_neighbours(self, ids: Iterable[int], beside: dict[ThreadPosition, int]) -> None:
        question, reads = self.query.weighted, self.matches
        for number in ids:
            thread, seat = self.positions[number]
            keys = [beside.get((thread, seat + step)) for step in scoring.NEIGHBOUR_OFFSETS]
            near = [reads[key] for key in keys if key is not None]
            found = scoring.score_document(question, number, reads[number], near)
            if found is not None:
                self.scores[number] = found

    def _fetch(self, ids: Collection[int]) -> list[int]:
        """Those of them that lie inside the filter and were not here."""
        candidates, question = self.candidates, self.query.weighted
        missing = [number for number in ids if number not in candidates]
        fetched = self.pool.fetch(missing)
        if self.batched and len(fetched) > _SINGLY:
            reads = scoring.match_terms_many(question, [each.data for each in fetched])
        else:
            reads = [scoring.match_terms(question, each.data) for each in fetched]
        for each, read in zip(fetched, reads, strict=True):
            candidates[each.id] = each
            self.matches[each.id] = read
        return [each.id for each in fetched]


def _list_positions_within(beside: dict[ThreadPosition, int], seat: ThreadPosition, reach: int) -> list[int]:
    thread, place = seat
    keys = (beside.get((thread, place + step)) for step in range(-reach, reach + 1))
    return [key for key in keys if key is not None]


def prepare_text_query(pool: CandidatePool, text: str, corpus: Corpus, frequencies: TermFrequencies) -> TextQuery:
    said = parse_query_terms(text)[:_LOOKED_UP]
    wanted = [term.text for term in said if term.weight > 0]
    counted = frequencies.look_up(pool.rows, [*wanted, *build_filter_tags(pool.filter)], corpus)
    return TextQuery(said, counted, scoring.weigh_query(said, counted, corpus.documents, corpus.average), corpus)


def search_text(
    words: TermIndex,
    pool: CandidatePool,
    asked: TextQuery,
    limit: int,
    *,
    neighbours: bool,
    others: Collection[int] = (),
    together: bool = False,
) -> TextSearch:
    """`others` were found by somebody else, and are scored as well. `together`: numpy is loaded already."""
    leg = TextSearch(asked, pool, together)
    known = any(asked.frequencies[term.text] for term in asked.terms if term.weight > 0)
    few = pool.list_few() if known else []
    if few is not None:
        leg.score_documents({*few, *others})
    else:
        _score_proposed(leg, words.propose(pool.rows, _plan_proposal(pool, asked, limit), pool.filter), limit)
        leg.score_documents(others)
    if neighbours:
        leg.apply_neighbours(whole=few is not None)
    return leg


def _score_proposed(leg: TextSearch, proposed: Iterable[int], limit: int) -> None:
    """Some at a time, until there are enough and the last ones have changed nothing among the best."""
    ids, most = iter(proposed), max(_PROPOSED, _PROPOSED_EACH * limit)
    usual = max(_STEP, limit)
    taken, step, line = 0, max(_FIRST, 2 * limit), 0.0
    while some := [*islice(ids, step)]:
        fresh = leg.score_documents(some)
        taken += fresh
        before, line = line, leg.find_threshold(limit)
        if taken >= most or (before == line > 0.0 and taken >= 2 * limit):
            return
        # If the filter lets few of them through, more are looked at together.
        step = usual if 2 * fresh >= len(some) else min(2 * step, _WIDEST)


def _plan_proposal(pool: CandidatePool, asked: TextQuery, limit: int) -> TermProposal:
    documents, counted, gains = asked.corpus.documents, asked.frequencies, asked.weighted.gains
    worth = {term.text: gains[hash_term(term.text)] for term in asked.terms if hash_term(term.text) in gains}
    telling = _TELLING * documents
    marks = [mark for mark in build_filter_tags(pool.filter) if counted[mark] <= telling]
    # Of a term's documents those are read that carry the marks: no more than carry the rarest of them. What is
    # remembered of a mark may be old; that the filter lets more than a few through was asked just now.
    most = max(FEW, min((counted[mark] for mark in marks), default=documents))
    rarest = plan_terms(((text, min(counted[text], most)) for text in worth), documents)
    return TermProposal(
        terms={text: worth[text] for text in rarest},
        tags=marks,
        most=max(_PROPOSED, _PROPOSED_EACH * limit),
    )
