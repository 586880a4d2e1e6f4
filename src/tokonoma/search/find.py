"""Search: the filter first, then text and vectors inside it, one score, and on request how it was computed.

With `Query.expect` the answer says why an expected record did not come: not indexed, filtered (by what), not embedded,
or ranked too low. A record that the caller may not see is said to be not indexed, exactly like one that does not exist.
"""
# ruff: noqa: S608 - SQL is built from our own texts and names of parameters; what callers send is a parameter

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.query import Hit, Hits, Mode, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool, blend_with_neighbours, weigh_neighbours
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import (
    FusedScore,
    MatchEvidence,
    QueryWeighting,
    calibrate,
    detect_language,
    fuse_scores,
    score_single,
)
from tokonoma.search.text.search import TextSearch, prepare_text_query, search_text
from tokonoma.search.text.term_index import TermFrequencies, TermIndex, read_corpus
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector, VectorMatch
from tokonoma.store.dialect import DatabaseKind

if TYPE_CHECKING:
    from tokonoma.search.dates import DateBoost

_STATES = {"waiting": "not yet embedded: its vector is still in the queue", "none": "not embedded: it has no vector"}


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search works with; the index has one per process."""

    kind: DatabaseKind
    term_index: TermIndex
    frequencies: TermFrequencies
    vectors: VectorSearch | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything that was compared, best first."""

    items: Sequence[FusedScore]
    mode: Mode
    text_search: TextSearch | None = None
    language: str | None = None  # of the query, where it mattered


def find(
    context: SearchContext,
    rows: Rows,
    query: Query,
    where: SearchFilter,
    scope: SearchScope,
    vector: QueryVector | None,
) -> Hits:
    at = now()
    pool = CandidatePool(context.kind, rows, compile_filter(where, scope, at))
    if query.pivot is not None:
        ranking = _rank_by_vector(context, pool, query, _find_pivot(context, pool, query.pivot, scope, at), at)
    elif not query.text.strip():
        newest = [MatchEvidence(number, saved) for number, saved in pool.find_newest(query.limit)]
        ranking = _rank_single(newest, query.mode, query, at)
    elif query.mode == "vector":
        ranking = _rank_by_vector(context, pool, query, vector, at)
    else:
        ranking = _rank_by_both(context, pool, query, vector, at, private=scope.private)
    waiting = context.vectors.count_waiting(rows) if context.vectors is not None and query.mode != "text" else 0
    hits = _build_hits(pool, query, ranking)
    why_not = None
    if query.expect is not None and all(hit.address != query.expect for hit in hits):
        why_not = explain_missing(context.vectors, pool, query, scope, ranking)
    return Hits(hits, ranking.mode, why_not, waiting)


def _find_pivot(context: SearchContext, pool: CandidatePool, pivot: str, scope: SearchScope, at: int) -> int:
    """The pivot may lie outside the filter, but not outside the caller's scope."""
    visible = compile_filter(SearchFilter(), scope, at)
    sql = f"select d.id from document d where d.address = :pivot and {visible.sql}"
    row = pool.rows.row(sql, pivot=pivot, **visible.params)
    if row is None:
        raise Missing(f"There is no record at {pivot}.", address=pivot)
    if context.vectors is None or context.vectors.get_state(pool.rows, row[0]) != "embedded":
        raise Unavailable(f"The record at {pivot} has no vector yet.", reason="not_embedded")
    return row[0]


def _rank_by_vector(
    context: SearchContext, pool: CandidatePool, query: Query, vector: QueryVector | int | None, at: int
) -> Ranking:
    if context.vectors is None or vector is None:
        raise Unavailable(
            'Vector search is not available: no embedding model is configured, or it does not answer. Use mode "text".',
            reason="embedder",
        )
    most = max(TUNING.fused_hits, 2 * query.limit)
    near = _drop_below_minimum(context.vectors.find_nearest(pool.rows, vector, pool.filter, query.metric, most), query)
    times = {each.id: each.at for each in pool.fetch(list(near))}
    found = [MatchEvidence(number, times[number], None, *near[number]) for number in near if number in times]
    return _rank_single(found, "vector", query, at)


def _rank_by_both(
    context: SearchContext, pool: CandidatePool, query: Query, vector: QueryVector | None, at: int, *, private: bool
) -> Ranking:
    vectors = context.vectors
    proposed: list[int] = []
    if vectors is not None and vector is not None:
        proposed += vectors.propose(pool.rows, vector, pool.filter, max(TUNING.vector_hits, 2 * query.limit))
    boost = _build_date_boost(pool, query, at)
    proposed += boost.propose() if boost is not None else ()
    text_query = prepare_text_query(pool, query.text, read_corpus(pool.rows), context.frequencies, private)
    search = search_text(
        context.term_index,
        pool,
        text_query,
        query.limit,
        neighbours=query.neighbours,
        others=proposed,
        batched=vector is not None,
    )
    if vectors is None or vector is None:
        factors = boost.compute_factors(search.candidates, search.scores) if boost is not None else {}
        found = (
            MatchEvidence(number, search.candidates[number].at, each.level, date_factor=factors.get(number, 1.0))
            for number, each in search.scores.items()
        )
        return _rank_single(found, "text", query, at, search)
    best = sorted(search.scores.values(), key=lambda each: -each.score)[: max(TUNING.fused_hits, 2 * query.limit)]
    kept = {each.key for each in best}.union(proposed)
    hits = [each.key for each in best[: TUNING.blended_hits]]
    around = weigh_neighbours(hits, search.positions) if query.neighbours else {}
    compared = search.candidates.keys() & kept.union(*around.values())
    near = _drop_below_minimum(vectors.compare(pool.rows, vector, list(compared), query.metric).items(), query)
    levels = {number: calibrate(match.similarity) for number, match in near.items()}
    # How sure text is shows in the scores without threads: a good thread lifts many at once.
    text_levels = sorted((each.level_without_thread(text_query.weighted) for each in best), reverse=True)
    nearest = nlargest(TUNING.nearest_compared, (match.similarity for match in near.values()))
    weighting = QueryWeighting(detect_language(query.text), text_levels, nearest)
    titles = Counter(_title_key(match) for match in near.values() if match.title is not None)
    factors = boost.compute_factors(search.candidates, kept & search.candidates.keys()) if boost is not None else {}
    fused: list[FusedScore] = []
    for number, candidate in search.candidates.items():
        if number in kept:
            text, match = search.scores.get(number), near.get(number)
            level = levels.get(number)
            if number in around:
                level = blend_with_neighbours(level or 0.0, around[number], levels)
            evidence = MatchEvidence(
                number,
                candidate.at,
                text and text.level,
                *(match or (None, "", None)),
                vector_level=level,
                same_title_count=1 if match is None or match.title is None else titles[_title_key(match)],
                date_factor=factors.get(number, 1.0),
            )
            turn = query.neighbours and candidate.thread is not None
            weights = weighting.choose_weights(evidence.language, text.coverage if text else 0.0, turn=turn)
            fused.append(fuse_scores(evidence, weights, at, query.half_life))
    ranked = sorted((each for each in fused if each.score > 0), key=attrgetter("sort_key"))
    return Ranking(ranked, "hybrid", search, weighting.query_language)


def _rank_single(
    found: Iterable[MatchEvidence], mode: Mode, query: Query, at: int, search: TextSearch | None = None
) -> Ranking:
    scored = (score_single(each, at, query.half_life) for each in found)
    return Ranking(sorted(scored, key=attrgetter("sort_key")), mode, search)


def _build_date_boost(pool: CandidatePool, query: Query, at: int) -> "DateBoost | None":
    if not query.boost_dates:
        return None
    # Imported late: to compile its patterns takes longer than many a search.
    from tokonoma.search.dates import DateBoost, find_spans

    spans = find_spans(query.text, at)
    return DateBoost(pool, spans) if spans else None


def _drop_below_minimum(near: Iterable[tuple[int, VectorMatch]], query: Query) -> dict[int, VectorMatch]:
    least = query.min_similarity
    return {number: match for number, match in near if least is None or match.similarity >= least}


def _title_key(match: VectorMatch) -> float:
    """Equal titles have equal vectors, and up to the last digits equal similarities."""
    return round(match.title or 0.0, 5)


def _build_hits(pool: CandidatePool, query: Query, ranking: Ranking) -> list[Hit]:
    chosen = ranking.items[: query.limit]
    headers = pool.fetch_headers([each.evidence.id for each in chosen])
    return [
        Hit(
            *headers[each.evidence.id],
            score=each.score,
            text_score=each.evidence.text,
            similarity=each.evidence.similarity,
            score_parts=explain_hit(each, ranking) if query.explain else {},
        )
        for each in chosen
    ]


def explain_hit(hit: FusedScore, ranking: Ranking) -> dict[str, Any]:
    """Every number that the score was made of: see fusion.py for how."""
    parts: dict[str, Any] = {"mode": ranking.mode, "score": hit.score, "decay": round(hit.decay, 6)}
    search, found = ranking.text_search, hit.evidence
    if found.date_factor < 1.0:
        parts["time"] = round(found.date_factor, 6)
    if search is not None and found.text is not None:
        parts["text"] = search.explain(found.id)
    if found.similarity is not None:
        language = found.language or "unknown"
        parts["vector"] = {"similarity": found.similarity, "share": hit.vector_level, "language": language}
        if found.title is not None:
            parts["vector"] |= {"title": found.title, "namesakes": found.same_title_count}
    if ranking.language is not None:
        parts["language"] = ranking.language
    if hit.weights is not None:
        parts["weights"] = hit.weights._asdict()
    return parts


def explain_missing(
    vectors: VectorSearch | None, pool: CandidatePool, query: Query, scope: SearchScope, ranking: Ranking
) -> str:
    """Why the expected record is not among the hits."""
    # Inside the caller's scope alone. An expired record is still there, and is reported as filtered.
    visible = compile_filter(SearchFilter(), scope)
    limits = [part.sql for part in visible.parts if part.description != "expiry"]
    sql = " and ".join(["select d.id from document d where d.address = :expected", *limits])
    row = pool.rows.row(sql, expected=query.expect, **visible.params)
    if row is None:
        return f"not indexed: there is no record at {query.expect} that this caller can see"
    number: int = row[0]
    failed = pool.list_failed_parts(number)
    if failed:
        return f"filtered by {' and '.join(failed)}"
    state = "embedded" if vectors is None or ranking.mode == "text" else vectors.get_state(pool.rows, number)
    if ranking.mode == "vector" and state != "embedded":
        return _STATES[state]
    rank = _explain_rank(query, ranking, number)
    return rank if state == "embedded" else f"{rank}; {_STATES[state]}"


def _explain_rank(query: Query, ranking: Ranking, number: int) -> str:
    items, search = ranking.items, ranking.text_search
    last = f"; the last of {min(query.limit, len(items))} hits has {items[: query.limit][-1].score}" if items else ""
    for place, each in enumerate(items):
        if each.evidence.id == number:
            return f"ranked too low: rank {place + 1} with a score of {each.score}{last}"
    if search is None:
        return f"ranked too low: not among the first {len(items)}{last}"
    search.score_documents([number])
    level = search.scores[number].level if number in search.scores else 0.0
    if not level:
        return f"ranked too low: it contains no word of the query{last}"
    compared = len(search.scores)
    return f"ranked too low: not among the {compared} records that were compared; its text score is {level:.6f}{last}"
