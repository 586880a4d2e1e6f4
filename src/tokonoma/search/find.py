"""Search: the filter first, then text and vectors inside it, one score, and on request how it was computed.

With `Query.expect` the answer says why an expected record did not come: not indexed, filtered (by what), not embedded,
or ranked too low. A record that the caller may not see is said to be not indexed, exactly like one that does not exist.
"""
# ruff: noqa: S608 - SQL is built from our own texts and names of parameters; what callers send is a parameter

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.query import Hit, Hits, Mode, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import (
    FusedScore,
    MatchEvidence,
    detect_language,
    score_single,
)
from tokonoma.search.hybrid import rank_fused
from tokonoma.search.judge import HitJudge, HitMarks, JudgedHits
from tokonoma.search.text.search import TextSearch, prepare_text_query, search_text
from tokonoma.search.text.term_index import TermFrequencies, TermIndex, read_corpus
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector, VectorMatch
from tokonoma.store.dialect import DatabaseKind

if TYPE_CHECKING:
    from tokonoma.search.dates import DateBoost

_ALWAYS = (None, None)
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
    last = None
    if query.pivot is not None:
        ranking = _rank_by_vector(context, pool, query, _find_pivot(context, pool, query.pivot, scope, at), at)
    elif not query.text.strip():
        newest = [MatchEvidence(number, saved) for number, saved in pool.find_newest(query.limit + 1, query.after)]
        ranking = _rank_single(newest[: query.limit], query.mode, query, at)
        last = (newest[-2].at, newest[-2].id) if len(newest) > query.limit else None
    elif query.mode == "vector":
        ranking = _rank_by_vector(context, pool, query, vector, at)
    else:
        ranking = _rank_by_both(context, pool, query, vector, at, private=scope.private)
    waiting = 0
    if context.vectors is not None and query.mode != "text":
        # A search that does not wait says exactly how many of the records that it looks at have no vector yet.
        waiting = context.vectors.count_waiting(rows, None if query.wait_for_embedding else pool.filter)
    words = ranking.text_search
    coverages, candidates = (words.list_coverages(), words.candidates) if words is not None else ({}, {})
    judge = HitJudge(pool, context.vectors, vector, coverages, candidates, scope, at)
    names_time = partial(_names_time, query, at)
    judged = judge.judge(query, ranking.items, hybrid=ranking.mode == "hybrid", names_time=names_time)
    ranking = replace(ranking, items=judged.items)
    hits = _build_hits(pool, query, ranking, judged)
    why_not = None
    if query.expect is not None and all(hit.address != query.expect for hit in hits):
        why_not = explain_missing(context.vectors, pool, query, scope, ranking)
    return Hits(hits, ranking.mode, why_not, waiting, last)


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
    if query.half_life is not None:
        times |= _read_dates(pool, times)
    found = [MatchEvidence(number, times[number], None, *near[number][:4]) for number in near if number in times]
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
    rest = boost.rest if boost is not None else None
    text_query = prepare_text_query(pool, query.text, read_corpus(pool.rows), context.frequencies, private, rest)
    search = search_text(
        context.term_index,
        pool,
        text_query,
        query.limit,
        neighbours=query.neighbours,
        others=proposed,
        batched=vector is not None,
    )
    if query.half_life is not None:  # age counts from when something happened
        search.candidates |= {
            number: search.candidates[number]._replace(at=moment)
            for number, moment in _read_dates(pool, search.candidates).items()
        }
    if vectors is None or vector is None:
        effects = boost.compute_effects(search.candidates, search.scores) if boost is not None else {}
        found = (
            MatchEvidence(
                number, search.candidates[number].at, each.level, date_factor=effects[number].factor if effects else 1.0
            )
            for number, each in search.scores.items()
        )
        return _rank_single(found, "text", query, at, search)
    language = detect_language(query.text)
    return Ranking(rank_fused(vectors, query, search, vector, proposed, boost, at), "hybrid", search, language)


def _rank_single(
    found: Iterable[MatchEvidence], mode: Mode, query: Query, at: int, search: TextSearch | None = None
) -> Ranking:
    scored = (score_single(each, at, query.half_life) for each in found)
    return Ranking(sorted(scored, key=attrgetter("sort_key")), mode, search)


def _build_date_boost(pool: CandidatePool, query: Query, at: int) -> "DateBoost | None":
    if not query.boost_dates:
        return None
    # Imported late: most queries name no time.
    from tokonoma.search.dates import DateBoost
    from tokonoma.search.times import read_times

    named = read_times(query.text, at)
    return DateBoost(pool, named, at) if named.spans else None


def _read_dates(pool: CandidatePool, ids: Collection[int]) -> dict[int, int]:
    """When that which these documents say happened, where they tell."""
    dates = pool.fetch_dates(ids)
    if not dates:
        return {}
    from tokonoma.search.dates import parse_moment

    moments = ((number, parse_moment(text, value)) for number, text, value in dates)
    return {number: moment for number, moment in moments if moment is not None}


def _names_time(query: Query, at: int) -> bool:
    if not query.boost_dates or not query.text.strip():
        return False
    from tokonoma.search.times import find_spans

    return bool(find_spans(query.text, at))


def _drop_below_minimum(near: Iterable[tuple[int, VectorMatch]], query: Query) -> dict[int, VectorMatch]:
    least = query.min_similarity
    return {number: match for number, match in near if least is None or match.similarity >= least}


def _build_hits(pool: CandidatePool, query: Query, ranking: Ranking, judged: JudgedHits) -> list[Hit]:
    least = query.min_score
    chosen = [each for each in ranking.items[: query.limit] if least is None or each.score >= least]
    newer = {each.evidence.id: judged.successors.get(each.evidence.id) for each in chosen}
    headers = pool.fetch_headers({*newer, *(number for number in newer.values() if number is not None)})
    marks = judged.marks or HitMarks()
    return [
        Hit(
            *headers[each.evidence.id],
            score=each.score,
            text_score=each.evidence.text,
            similarity=each.evidence.similarity,
            score_parts=explain_hit(each, ranking) | judged.explain(each.evidence.id) if query.explain else {},
            at=each.evidence.at,
            superseded_by=marks.last.get(each.evidence.id)
            or (None if (number := newer[each.evidence.id]) is None else headers[number][0]),
            valid_from=marks.outdated.get(each.evidence.id, _ALWAYS)[0],
            valid_until=marks.outdated.get(each.evidence.id, _ALWAYS)[1],
        )
        for each in chosen
    ]


def explain_hit(hit: FusedScore, ranking: Ranking) -> dict[str, Any]:
    """Every number that the score was made of: see fusion.py for how."""
    parts: dict[str, Any] = {"mode": ranking.mode, "score": hit.score, "decay": round(hit.decay, 6)}
    search, found = ranking.text_search, hit.evidence
    if found.date_factor < 1.0:
        parts["time"] = round(found.date_factor, 6)
    if share := round(found.date_share, 6):
        parts["time_share"] = share
    if search is not None and found.text is not None:
        parts["text"] = search.explain(found.id)
    if found.similarity is not None:
        language = found.language or "unknown"
        parts["vector"] = {"similarity": found.similarity, "share": found.vector_level, "language": language}
        if found.title is not None:
            parts["vector"] |= {"title": found.title, "namesakes": found.same_title_count}
    if ranking.language is not None:
        parts["language"] = ranking.language
    if hit.signs is not None and hit.weights is not None:
        parts["signs"] = {
            name: {"value": round(value, 4), "weight": round(weight, 4)}
            for name, value, weight in zip(hit.signs._fields, hit.signs, hit.weights, strict=True)
            if value and weight
        }
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
            if query.min_score is not None and place < query.limit:
                return f"below the minimum score: it has {each.score}"
            return f"ranked too low: rank {place + 1} with a score of {each.score}{last}"
    if search is None:
        return f"ranked too low: not among the first {len(items)}{last}"
    search.score_documents([number])
    level = search.scores[number].level if number in search.scores else 0.0
    if not level:
        return f"ranked too low: it contains no word of the query{last}"
    compared = len(search.scores)
    return f"ranked too low: not among the {compared} records that were compared; its text score is {level:.6f}{last}"
