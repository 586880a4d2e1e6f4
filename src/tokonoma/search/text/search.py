"""Search by text: the rarest terms propose documents, these are scored exactly, and threads add weight.

A filter that lets few documents through needs no proposals: all of them are scored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import islice
from typing import Any

from tokonoma.search.candidates import (
    CandidatePool,
    SearchCandidate,
    ThreadPosition,
    assign_partial_positions,
    assign_positions,
)
from tokonoma.search.text.readings import find_names
from tokonoma.search.text.score import (
    NEIGHBOUR_OFFSETS,
    TermMatch,
    TextScore,
    WeightedQuery,
    lift_threads,
    match_terms,
    match_terms_many,
    put_exact_first,
    score_document,
    weigh_query,
)
from tokonoma.search.text.term_index import Corpus, TermFrequencies, TermIndex, TermProposal, build_filter_tags
from tokonoma.search.text.tokenize import PRIVATE, WeightedTerm, hash_term, parse_query_terms, split_query
from tokonoma.search.tuning import TUNING

_SINGLY = 8  # documents; more are matched sooner together, where numpy is loaded
_REACH = NEIGHBOUR_OFFSETS[-1]


@dataclass(frozen=True, slots=True)
class TextQuery:
    """The terms of a query, with what the index knows about them."""

    terms: Sequence[WeightedTerm]
    frequencies: dict[str, int]
    weighted: WeightedQuery
    corpus: Corpus
    words: int = 0  # of the query, as they are written: what stands between spaces or other scripts


@dataclass(slots=True)
class TextSearch:
    """What the terms of a query have found so far."""

    query: TextQuery
    pool: CandidatePool
    batched: bool = False  # numpy is loaded anyway: documents are matched many at a time
    candidates: dict[int, SearchCandidate] = field(default_factory=dict[int, SearchCandidate])
    matches: dict[int, TermMatch] = field(default_factory=dict[int, TermMatch])
    positions: dict[int, ThreadPosition] = field(default_factory=dict[int, ThreadPosition])
    scores: dict[int, TextScore] = field(default_factory=dict[int, TextScore])

    def score_documents(self, ids: Collection[int]) -> int:
        """Score these documents, too, as far as they lie inside the filter. Returns how many of them were new."""
        fetched = self._fetch(ids)
        for number in fetched:
            self._score(number, ())
        return len(fetched)

    def apply_neighbours(self, *, whole: bool) -> None:
        """Score the best documents and those around them again, each with its neighbours in the thread. `whole`: all
        documents of the filter are here, so the order of each thread is known without asking the database."""
        best = nlargest(TUNING.thread_hits, self.scores.values(), key=lambda each: each.score)
        threaded = [each.key for each in best if self.candidates[each.key].thread is not None]
        if not threaded:
            return
        # Twice as far: those around a hit have neighbours of their own.
        if whole:
            self.positions = assign_positions(self.candidates.values())
            beside = self._index_positions()
            near = {number for key in threaded for number in _list_around(beside, self.positions[key], 2 * _REACH)}
        else:
            rows = self.pool.find_neighbours(threaded, 2 * _REACH)
            near = {number for row in rows for number in row}
            self._fetch(near)
            self.positions = assign_partial_positions(rows, self.candidates)
            beside = self._index_positions()
        for number in near & self.positions.keys():
            thread, position = self.positions[number]
            keys = [beside.get((thread, position + offset)) for offset in NEIGHBOUR_OFFSETS]
            self._score(number, [self.matches[key] for key in keys if key is not None])
        threads = {key: each.thread for key, each in self.candidates.items() if each.thread is not None}
        self.scores |= lift_threads(self.query.weighted, self.scores, threads)

    def list_coverages(self) -> dict[int, float]:
        """Of each document that was scored, the share of the query's words that it holds."""
        return {number: each.coverage for number, each in self.scores.items()}

    def explain(self, number: int) -> dict[str, Any]:
        """Every number of a document's text score: see score.py for how they are combined. `terms` is what each term
        adds, neighbours included; their sum is `words`."""
        score, around = self.scores[number], [number]
        if number in self.positions:
            beside = _list_around(self._index_positions(), self.positions[number], _REACH)
            around += [each for each in beside if each != number]
        return {
            "level": score.level,
            "score": score.score,
            "total": self.query.weighted.total,
            "words": score.words,
            "coverage": score.coverage,
            "title": score.title,
            "asks": score.asks,
            "thread": score.thread,
            "terms": self._explain_terms(number, around),
            "neighbours": len(around) - 1,
        }

    def _explain_terms(self, number: int, around: Sequence[int]) -> dict[str, float]:
        query, added = self.query.weighted, dict[str, float]()
        for term in self.query.terms:
            key = hash_term(term.text)
            if key in query.gains:
                forms = [form for form in query.forms if key in form.members]
                kept = {key, *(number for form in forms for number in form.terms)}
                wanted = kept | {each for each, own in query.aliases.items() if own in kept}
                alone = replace(
                    query,
                    gains={key: query.gains[key]},
                    forms=forms,
                    ascending=sorted(wanted),
                    wanted=frozenset(wanted),
                )
                own, *near = (match_terms(alone, self.candidates[each].data) for each in around)
                score = score_document(alone, number, own, near)
                added[term.text] = score.words if score is not None else 0.0
        return {text: round(value, 6) for text, value in added.items() if value}

    def _index_positions(self) -> dict[ThreadPosition, int]:
        return {position: number for number, position in self.positions.items()}

    def _score(self, number: int, near: Sequence[TermMatch]) -> None:
        score = score_document(self.query.weighted, number, self.matches[number], near)
        if score is not None:
            self.scores[number] = score

    def _fetch(self, ids: Collection[int]) -> list[int]:
        """Those of them that lie inside the filter and are new."""
        fetched = self.pool.fetch([number for number in ids if number not in self.candidates])
        query = self.query.weighted
        if self.batched and len(fetched) > _SINGLY:
            matches = match_terms_many(query, [each.data for each in fetched])
        else:
            matches = [match_terms(query, each.data) for each in fetched]
        for each, match in zip(fetched, matches, strict=True):
            self.candidates[each.id] = each
            self.matches[each.id] = match
        return [each.id for each in fetched]


def prepare_text_query(
    pool: CandidatePool,
    text: str,
    corpus: Corpus,
    frequencies: TermFrequencies,
    private: bool = False,
    rest: str | None = None,
) -> TextQuery:
    """`private`: the caller may also search by what is hidden from others. `rest`: the text without the times that it
    names, if it names some: their words count less."""
    terms = parse_query_terms(text)[: TUNING.looked_up_terms]
    if rest is not None:
        kept = {term.text for term in parse_query_terms(rest)}
        terms = [term if term.text in kept else term._replace(weight=TUNING.time_words * term.weight) for term in terms]
    words, runs = split_query(text)
    names = find_names(words, runs)
    forms = {term for name in names for form in name.forms for term in form.terms}
    wanted = [*dict.fromkeys((*(term.text for term in terms if term.weight > 0), *sorted(forms)))]
    marked = [PRIVATE + term for term in wanted] if private else []
    counted = frequencies.look_up(pool.rows, [*wanted, *marked, *build_filter_tags(pool.filter)], corpus)
    joined = [term for term in wanted if private and counted[PRIVATE + term]]
    counted |= {term: counted[term] + counted[PRIVATE + term] for term in joined}
    weighted = weigh_query(terms, counted, corpus.documents, corpus.average, joined, names)
    return TextQuery(terms, counted, weighted, corpus, len(words) + len(runs))


def search_text(
    term_index: TermIndex,
    pool: CandidatePool,
    query: TextQuery,
    limit: int,
    *,
    neighbours: bool,
    others: Collection[int] = (),
    batched: bool = False,
) -> TextSearch:
    """`others` were found in another way, and are scored as well. `batched`: numpy is loaded already."""
    search = TextSearch(query, pool, batched)
    is_known = any(query.frequencies[term.text] for term in query.terms if term.weight > 0) or query.weighted.forms
    few = pool.list_few() if is_known else []
    if few is not None:
        search.score_documents({*few, *others})
    else:
        proposal = _plan_proposal(pool, query, limit)
        _score_proposed(search, term_index.propose(pool.rows, proposal, pool.filter), proposal.most, limit)
        search.score_documents(others)
    if neighbours:
        search.apply_neighbours(whole=few is not None)
    search.scores |= put_exact_first(query.weighted, search.scores)
    return search


def plan_terms(frequencies: Iterable[tuple[str, int]], documents: int) -> list[str]:
    """The terms that propose: the rarest, until their postings reach a tenth of the index; at least one that occurs.

    `frequencies`: each term with the number of documents that hold it."""
    room = max(TUNING.min_postings, TUNING.posting_share * documents)
    planned: list[str] = []
    postings = 0
    for frequency, term in sorted((frequency, term) for term, frequency in frequencies if frequency > 0):
        if planned and postings + frequency > room:
            break
        planned.append(term)
        postings += frequency
    return planned


def _plan_proposal(pool: CandidatePool, query: TextQuery, limit: int) -> TermProposal:
    documents, counted, gains = query.corpus.documents, query.frequencies, query.weighted.gains
    worth = {term.text: gains[hash_term(term.text)] for term in query.terms if hash_term(term.text) in gains}
    for name in query.weighted.forms:
        worth[name.rarest] = max(worth.get(name.rarest, 0.0), name.share * sum(gains[each] for each in name.members))
    tags = [tag for tag in build_filter_tags(pool.filter) if counted[tag] <= TUNING.tag_share * documents]
    # Only those of a term's documents are read that carry the tags: no more than carry the rarest tag. The cached
    # count of a tag may be old; that the filter lets more than a few through was asked just now.
    most = max(TUNING.few_documents, min((counted[tag] for tag in tags), default=documents))
    rarest = plan_terms(((text, min(counted[text], most)) for text in worth), documents)
    proposed = max(TUNING.max_proposed, TUNING.proposed_per_hit * limit)
    marked = {PRIVATE + text: worth[text] for text in rarest if hash_term(PRIVATE + text) in query.weighted.aliases}
    return TermProposal({text: worth[text] for text in rarest} | marked, tags, proposed)


def _score_proposed(search: TextSearch, proposed: Iterable[int], most: int, limit: int) -> None:
    """Score some at a time, until there are enough and the last ones have changed nothing among the best."""
    ids, usual = iter(proposed), max(TUNING.next_batch, limit)
    scored, step, threshold = 0, max(TUNING.first_batch, 2 * limit), 0.0
    while some := [*islice(ids, step)]:
        new = search.score_documents(some)
        scored += new
        scores = sorted([each.score for each in search.scores.values()])
        # The last of the best so far.
        before, threshold = threshold, 0.0 if len(scores) < limit else scores[-limit]
        if scored >= most or (before == threshold > 0.0 and scored >= 2 * limit):
            return
        # If the filter lets few of them through, more are looked at together.
        step = usual if 2 * new >= len(some) else min(2 * step, TUNING.widest_batch)


def _list_around(beside: dict[ThreadPosition, int], position: ThreadPosition, reach: int) -> list[int]:
    thread, place = position
    keys = (beside.get((thread, place + offset)) for offset in range(-reach, reach + 1))
    return [key for key in keys if key is not None]
