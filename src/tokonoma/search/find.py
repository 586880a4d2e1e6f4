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
from tokonoma.core.query import Hit, Hits, Mode, Query, Reach, Where
from tokonoma.search.candidates import Pool
from tokonoma.search.date_boost import Timely
from tokonoma.search.filters import compiled
from tokonoma.search.fusion import Found, Fused, Weights, alone, calibrated, fused
from tokonoma.search.statistics import Frequencies, corpus
from tokonoma.search.term_index import Words
from tokonoma.search.text_search import Leg, asked_of, by_words
from tokonoma.search.thread_weights import lent, neighbours
from tokonoma.search.vector_leg import Likeness, Vector, VectorLeg
from tokonoma.search.weighting import LOOKED_AT, Judge, language_of
from tokonoma.search.why_not import why_not
from tokonoma.store.dialect import Kind

_FUSED = 64
"""Of the best by words, at least, whose vectors are looked at."""

_NEAREST = 64
"""Likely the nearest by vectors, at least: what words have found is compared in any case."""

_LENDING = 60
"""Of the best by words, to whom neighbours lend their vectors."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a search is done with; the index has one set a process."""

    kind: Kind
    words: Words
    frequencies: Frequencies
    vectors: VectorLeg | None
    weights: Weights


@dataclass(frozen=True, slots=True)
class Ranked:
    """Everything that was compared, best first."""

    items: Sequence[Fused]
    mode: Mode
    leg: Leg | None = None
    language: str | None = None  # of the question, where it mattered


def asked_vector(tools: Tools, query: Query) -> Vector | None:
    """The question as a vector. It may have to be fetched from afar: nobody should hold a transaction meanwhile."""
    if query.mode == "text" or not query.text.strip() or query.pivot is not None or tools.vectors is None:
        return None
    return tools.vectors.embed_query(query.text)


def find(tools: Tools, rows: Rows, query: Query, where: Where, reach: Reach, vector: Vector | None) -> Hits:
    at = now()
    pool = Pool(tools.kind, rows, compiled(where, reach, at))
    if query.pivot is not None:
        ranked = _by_pivot(tools, pool, query, reach, at)
    elif not query.text.strip():
        ranked = _newest(pool, query, at)
    elif query.mode == "vector":
        ranked = _by_vector(tools, pool, query, vector, at)
    else:
        ranked = _by_both(tools, pool, query, vector, at)
    waiting = tools.vectors.waiting(rows) if tools.vectors is not None and query.mode != "text" else 0
    hits = _hits(pool, query, ranked)
    told = None
    if query.expect is not None and all(hit.address != query.expect for hit in hits):
        told = why_not(tools.vectors, pool, query, reach, ranked.items, ranked.leg, ranked.mode)
    return Hits(hits, ranked.mode, told, waiting)


def _newest(pool: Pool, query: Query, at: int) -> Ranked:
    found = pool.newest(query.limit)
    return Ranked([alone(Found(number, made), at, query.half_life) for number, made in found], query.mode)


def _by_pivot(tools: Tools, pool: Pool, query: Query, reach: Reach, at: int) -> Ranked:
    """The pivot needs not lie inside what is asked for, but inside the caller's walls."""
    walls = compiled(Where(), reach, at)
    sql = f"select d.id from document d where d.address = :pivot and {walls.sql}"  # noqa: S608 - see filters.py
    row = pool.rows.row(sql, pivot=query.pivot, **walls.params)
    if row is None:
        raise Missing(f"There is no record at {query.pivot}.", address=query.pivot)
    if tools.vectors is None or tools.vectors.state(pool.rows, row[0]) != "embedded":
        raise Unavailable(f"The record at {query.pivot} has no vector yet.", reason="not_embedded")
    return _by_vector(tools, pool, query, row[0], at)


def _by_vector(tools: Tools, pool: Pool, query: Query, asked: Vector | int | None, at: int) -> Ranked:
    if tools.vectors is None or asked is None:
        raise Unavailable(
            "Nothing can be searched by meaning now: there is no embedding model, or it does not answer."
            ' Ask by words (mode "text").',
            reason="embedder",
        )
    near = _near(tools.vectors, pool, query, asked)
    times = {each.id: each.at for each in pool.fetch(list(near))}
    found = [Found(number, times[number], None, *near[number]) for number in near if number in times]
    return Ranked(_sorted(alone(each, at, query.half_life) for each in found), "vector")


def _by_both(tools: Tools, pool: Pool, query: Query, vector: Vector | None, at: int) -> Ranked:
    asked = asked_of(pool, query.text, corpus(pool.rows), tools.frequencies)
    vectors = None if vector is None else tools.vectors
    most = max(_NEAREST, 2 * query.limit)
    likely: Sequence[int] = [] if vectors is None else vectors.likely(pool.rows, vector, pool.filter, most)
    timely = Timely(pool, query, at)
    likely = [*likely, *timely.proposed()]
    leg = by_words(
        tools.words,
        pool,
        asked,
        query.limit,
        neighbours=query.neighbours,
        others=likely,
        together=vectors is not None,
    )
    if vectors is None:
        return _by_words_alone(leg, timely, query, at)
    best = sorted(leg.scored.values(), key=lambda each: -each.score)[: max(_FUSED, 2 * query.limit)]
    kept = {each.key for each in best}.union(likely)
    around = neighbours([each.key for each in best[:_LENDING]], leg.seats) if query.neighbours else {}
    looked = leg.candidates.keys() & kept.union(*around.values())
    near = _counting(vectors.similarities(pool.rows, vector, list(looked), query.metric).items(), query)
    shares = {number: calibrated(like.similarity, tools.weights) for number, like in near.items()}
    # How sure words are shows in what each record says itself: a good thread lifts many at once.
    levels = sorted((each.alone(asked.question) for each in best), reverse=True)
    nearest = nlargest(LOOKED_AT, (like.similarity for like in near.values()))
    judge = Judge(language_of(query.text), levels, nearest, tools.weights)
    titles = Counter(_title(like) for like in near.values() if like.title is not None)
    worth = timely.worth(leg.candidates, kept & leg.candidates.keys())
    both: list[Fused] = []
    for number, one in leg.candidates.items():
        if number in kept:
            word, like = leg.scored.get(number), near.get(number)
            share = lent(shares.get(number, 0.0), around[number], shares) if number in around else shares.get(number)
            namesakes = 1 if like is None or like.title is None else titles[_title(like)]
            found = Found(
                number,
                one.at,
                word and word.level,
                *(like or (None, "", None)),
                share,
                namesakes,
                worth.get(number, 1.0),
            )
            turn = query.neighbours and one.thread is not None
            weights = judge.weights(found.language, word.coverage if word else 0.0, turn=turn)
            both.append(fused(found, weights, at, query.half_life))
    return Ranked(_sorted(each for each in both if each.score > 0), "hybrid", leg, judge.asked)


def _by_words_alone(leg: Leg, timely: Timely, query: Query, at: int) -> Ranked:
    found = [Found(each.key, leg.candidates[each.key].at, each.level) for each in leg.scored.values()]
    worth = timely.worth(leg.candidates, leg.scored)
    if worth:
        found = [each._replace(timely=worth[each.id]) for each in found]
    return Ranked(_sorted(alone(each, at, query.half_life) for each in found), "text", leg)


def _near(vectors: VectorLeg, pool: Pool, query: Query, asked: Vector | int) -> dict[int, Likeness]:
    most = max(_FUSED, 2 * query.limit)
    return _counting(vectors.near(pool.rows, asked, pool.filter, query.metric, most), query)


def _counting(near: Iterable[tuple[int, Likeness]], query: Query) -> dict[int, Likeness]:
    return {number: like for number, like in near if query.minimum is None or like.similarity >= query.minimum}


def _title(like: Likeness) -> float:
    """Equal titles have equal vectors, and but for the last digits equal similarities."""
    return round(like.title or 0.0, 5)


def _sorted(items: Iterable[Fused]) -> list[Fused]:
    return sorted(items, key=attrgetter("order"))


def _hits(pool: Pool, query: Query, ranked: Ranked) -> list[Hit]:
    chosen = ranked.items[: query.limit]
    rows = pool.shown([each.found.id for each in chosen])
    return [
        Hit(
            *rows[each.found.id],
            score=each.score,
            text_score=each.found.text,
            similarity=each.found.similarity,
            parts=explained(each, ranked) if query.explain else {},
        )
        for each in chosen
    ]


def explained(one: Fused, ranked: Ranked) -> dict[str, Any]:
    """Every number that the score was made of: see fuse.py for how."""
    parts: dict[str, Any] = {"mode": ranked.mode, "score": one.score, "decay": round(one.decay, 6)}
    leg, found = ranked.leg, one.found
    if found.timely < 1.0:
        parts["time"] = round(found.timely, 6)
    if leg is not None and found.text is not None:
        parts["text"] = _told(leg, found.id)
    if found.similarity is not None:
        parts["vector"] = {"similarity": found.similarity, "share": one.vector, "language": found.language or "unknown"}
        if found.title is not None:
            parts["vector"] |= {"title": found.title, "namesakes": found.namesakes}
    if ranked.language is not None:
        parts["language"] = ranked.language
    if one.weights is not None:
        weights = one.weights
        parts["weights"] = {"words": weights.words, "vectors": weights.vectors, "titles": weights.titles}
    return parts


def _told(leg: Leg, number: int) -> dict[str, Any]:
    """score = (words × coverage ^ 0.5 + title) × asking + thread; level = score / (score + total): see score.py."""
    told = leg.scored[number]
    return {
        "level": told.level,
        "score": told.score,
        "total": leg.asked.question.total,
        "words": told.words,
        "coverage": told.coverage,
        "title": told.title,
        "asks": told.asks,
        "thread": told.thread,
        "terms": leg.terms(number),
        "neighbours": leg.neighbours(number),
    }
