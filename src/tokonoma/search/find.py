"""Finding: the filter first, then words and vectors inside it, one score, and on request how it came about."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import attrgetter
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.query import Hit, Hits, Mode, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.date_boost import DateBoost
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import FusedScore, FusionWeights, MatchEvidence, calibrate, fuse_scores, score_single
from tokonoma.search.statistics import TermFrequencies, read_corpus
from tokonoma.search.term_index import TermIndex
from tokonoma.search.text_search import TextSearch, prepare_text_query, search_text
from tokonoma.search.thread_weights import blend_with_neighbours, weigh_neighbours
from tokonoma.search.vector_leg import Vector, VectorMatch, VectorSearcher
from tokonoma.search.weighting import NEAREST_COMPARED, QueryWeighting, detect_language
from tokonoma.search.why_not import explain_missing
from tokonoma.store.dialect import DatabaseKind

_FUSED = 64
"""Of the best by words, at least, whose vectors are looked at."""

_NEAREST = 64
"""Likely the nearest by vectors, at least: what words have found is compared in any case."""

_LENDING = 60
"""Of the best by words, to whom neighbours lend their vectors."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search is done with; the index has one set a process."""

    kind: DatabaseKind
    term_index: TermIndex
    frequencies: TermFrequencies
    vectors: VectorSearcher | None
    weights: FusionWeights


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything that was compared, best first."""

    items: Sequence[FusedScore]
    mode: Mode
    text_search: TextSearch | None = None
    language: str | None = None  # of the question, where it mattered


def embed_query(tools: SearchContext, query: Query) -> Vector | None:
    """The question as a vector. It may have to be fetched from afar: nobody should hold a transaction meanwhile."""
    if query.mode == "text" or not query.text.strip() or query.pivot is not None or tools.vectors is None:
        return None
    return tools.vectors.embed_query(query.text)


def find(
    tools: SearchContext, rows: Rows, query: Query, where: SearchFilter, reach: SearchScope, vector: Vector | None
) -> Hits:
    at = now()
    pool = CandidatePool(tools.kind, rows, compile_filter(where, reach, at))
    if query.pivot is not None:
        ranked = _rank_by_pivot(tools, pool, query, reach, at)
    elif not query.text.strip():
        ranked = _rank_newest(pool, query, at)
    elif query.mode == "vector":
        ranked = _rank_by_vector(tools, pool, query, vector, at)
    else:
        ranked = _rank_by_both(tools, pool, query, vector, at)
    waiting = tools.vectors.count_waiting(rows) if tools.vectors is not None and query.mode != "text" else 0
    hits = _build_hits(pool, query, ranked)
    told = None
    if query.expect is not None and all(hit.address != query.expect for hit in hits):
        told = explain_missing(tools.vectors, pool, query, reach, ranked.items, ranked.text_search, ranked.mode)
    return Hits(hits, ranked.mode, told, waiting)


def _rank_newest(pool: CandidatePool, query: Query, at: int) -> Ranking:
    found = pool.find_newest(query.limit)
    return Ranking(
        [score_single(MatchEvidence(number, made), at, query.half_life) for number, made in found], query.mode
    )


def _rank_by_pivot(tools: SearchContext, pool: CandidatePool, query: Query, reach: SearchScope, at: int) -> Ranking:
    """The pivot needs not lie inside what is asked for, but inside the caller's walls."""
    walls = compile_filter(SearchFilter(), reach, at)
    sql = f"select d.id from document d where d.address = :pivot and {walls.sql}"  # noqa: S608 - see filters.py
    row = pool.rows.row(sql, pivot=query.pivot, **walls.params)
    if row is None:
        raise Missing(f"There is no record at {query.pivot}.", address=query.pivot)
    if tools.vectors is None or tools.vectors.get_state(pool.rows, row[0]) != "embedded":
        raise Unavailable(f"The record at {query.pivot} has no vector yet.", reason="not_embedded")
    return _rank_by_vector(tools, pool, query, row[0], at)


def _rank_by_vector(
    tools: SearchContext, pool: CandidatePool, query: Query, asked: Vector | int | None, at: int
) -> Ranking:
    if tools.vectors is None or asked is None:
        raise Unavailable(
            "Nothing can be searched by meaning now: there is no embedding model, or it does not answer."
            ' Ask by words (mode "text").',
            reason="embedder",
        )
    near = _find_nearest(tools.vectors, pool, query, asked)
    times = {each.id: each.at for each in pool.fetch(list(near))}
    found = [MatchEvidence(number, times[number], None, *near[number]) for number in near if number in times]
    return Ranking(_sort_best_first(score_single(each, at, query.half_life) for each in found), "vector")


def _rank_by_both(tools: SearchContext, pool: CandidatePool, query: Query, vector: Vector | None, at: int) -> Ranking:
    asked = prepare_text_query(pool, query.text, read_corpus(pool.rows), tools.frequencies)
    vectors = None if vector is None else tools.vectors
    most = max(_NEAREST, 2 * query.limit)
    likely: Sequence[int] = [] if vectors is None else vectors.propose(pool.rows, vector, pool.filter, most)
    timely = DateBoost(pool, query, at)
    likely = [*likely, *timely.propose()]
    leg = search_text(
        tools.term_index,
        pool,
        asked,
        query.limit,
        neighbours=query.neighbours,
        others=likely,
        together=vectors is not None,
    )
    if vectors is None:
        return _rank_by_text(leg, timely, query, at)
    best = sorted(leg.scores.values(), key=lambda each: -each.score)[: max(_FUSED, 2 * query.limit)]
    kept = {each.key for each in best}.union(likely)
    around = weigh_neighbours([each.key for each in best[:_LENDING]], leg.positions) if query.neighbours else {}
    looked = leg.candidates.keys() & kept.union(*around.values())
    near = _drop_below_minimum(vectors.compare(pool.rows, vector, list(looked), query.metric).items(), query)
    shares = {number: calibrate(like.similarity, tools.weights) for number, like in near.items()}
    # How sure words are shows in what each record says itself: a good thread lifts many at once.
    levels = sorted((each.level_without_thread(asked.weighted) for each in best), reverse=True)
    nearest = nlargest(NEAREST_COMPARED, (like.similarity for like in near.values()))
    judge = QueryWeighting(detect_language(query.text), levels, nearest, tools.weights)
    titles = Counter(_title_key(like) for like in near.values() if like.title is not None)
    worth = timely.compute_factors(leg.candidates, kept & leg.candidates.keys())
    both: list[FusedScore] = []
    for number, one in leg.candidates.items():
        if number in kept:
            word, like = leg.scores.get(number), near.get(number)
            share = (
                blend_with_neighbours(shares.get(number, 0.0), around[number], shares)
                if number in around
                else shares.get(number)
            )
            namesakes = 1 if like is None or like.title is None else titles[_title_key(like)]
            found = MatchEvidence(
                number,
                one.at,
                word and word.level,
                *(like or (None, "", None)),
                share,
                namesakes,
                worth.get(number, 1.0),
            )
            turn = query.neighbours and one.thread is not None
            weights = judge.choose_weights(found.language, word.coverage if word else 0.0, turn=turn)
            both.append(fuse_scores(found, weights, at, query.half_life))
    return Ranking(_sort_best_first(each for each in both if each.score > 0), "hybrid", leg, judge.query_language)


def _rank_by_text(leg: TextSearch, timely: DateBoost, query: Query, at: int) -> Ranking:
    found = [MatchEvidence(each.key, leg.candidates[each.key].at, each.level) for each in leg.scores.values()]
    worth = timely.compute_factors(leg.candidates, leg.scores)
    if worth:
        found = [each._replace(date_factor=worth[each.id]) for each in found]
    return Ranking(_sort_best_first(score_single(each, at, query.half_life) for each in found), "text", leg)


def _find_nearest(
    vectors: VectorSearcher, pool: CandidatePool, query: Query, asked: Vector | int
) -> dict[int, VectorMatch]:
    most = max(_FUSED, 2 * query.limit)
    return _drop_below_minimum(vectors.find_nearest(pool.rows, asked, pool.filter, query.metric, most), query)


def _drop_below_minimum(near: Iterable[tuple[int, VectorMatch]], query: Query) -> dict[int, VectorMatch]:
    return {
        number: like for number, like in near if query.min_similarity is None or like.similarity >= query.min_similarity
    }


def _title_key(like: VectorMatch) -> float:
    """Equal titles have equal vectors, and but for the last digits equal similarities."""
    return round(like.title or 0.0, 5)


def _sort_best_first(items: Iterable[FusedScore]) -> list[FusedScore]:
    return sorted(items, key=attrgetter("sort_key"))


def _build_hits(pool: CandidatePool, query: Query, ranked: Ranking) -> list[Hit]:
    chosen = ranked.items[: query.limit]
    rows = pool.fetch_headers([each.evidence.id for each in chosen])
    return [
        Hit(
            *rows[each.evidence.id],
            score=each.score,
            text_score=each.evidence.text,
            similarity=each.evidence.similarity,
            score_parts=explain_hit(each, ranked) if query.explain else {},
        )
        for each in chosen
    ]


def explain_hit(one: FusedScore, ranked: Ranking) -> dict[str, Any]:
    """Every number that the score was made of: see fuse.py for how."""
    parts: dict[str, Any] = {"mode": ranked.mode, "score": one.score, "decay": round(one.decay, 6)}
    leg, found = ranked.text_search, one.evidence
    if found.date_factor < 1.0:
        parts["time"] = round(found.date_factor, 6)
    if leg is not None and found.text is not None:
        parts["text"] = _explain_text(leg, found.id)
    if found.similarity is not None:
        parts["vector"] = {
            "similarity": found.similarity,
            "share": one.vector_level,
            "language": found.language or "unknown",
        }
        if found.title is not None:
            parts["vector"] |= {"title": found.title, "namesakes": found.same_title_count}
    if ranked.language is not None:
        parts["language"] = ranked.language
    if one.weights is not None:
        weights = one.weights
        parts["weights"] = {"words": weights.words, "vectors": weights.vectors, "titles": weights.titles}
    return parts


def _explain_text(leg: TextSearch, number: int) -> dict[str, Any]:
    """score = (words × coverage ^ 0.5 + title) × asking + thread; level = score / (score + total): see score.py."""
    told = leg.scores[number]
    return {
        "level": told.level,
        "score": told.score,
        "total": leg.query.weighted.total,
        "words": told.words,
        "coverage": told.coverage,
        "title": told.title,
        "asks": told.asks,
        "thread": told.thread,
        "terms": leg.explain_terms(number),
        "neighbours": leg.count_neighbours(number),
    }
