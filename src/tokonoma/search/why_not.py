"""Why an expected record did not come: not indexed, filtered (by what), not yet embedded, or below the line.

A record outside the caller's walls is told to be not indexed, word for word as one that does not exist.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

from collections.abc import Sequence

from tokonoma.core.query import Mode, Query, Reach, Where
from tokonoma.search.candidates import Pool
from tokonoma.search.filters import compiled
from tokonoma.search.fusion import Fused
from tokonoma.search.text_search import Leg
from tokonoma.search.vector_leg import VectorLeg

_STATES = {"waiting": "not yet embedded: its vector is still to be made", "none": "not embedded: it has no vector"}


def why_not(
    vectors: VectorLeg | None,
    pool: Pool,
    query: Query,
    reach: Reach,
    ranked: Sequence[Fused],
    leg: Leg | None,
    mode: Mode,
) -> str:
    number = _id(pool, query, reach)
    if number is None:
        return f"not indexed: there is no record at {query.expect} that this caller can see"
    filtered = _filtered(pool, number)
    if filtered:
        return f"filtered by {' and '.join(filtered)}"
    state = vectors.state(pool.rows, number) if vectors is not None and mode != "text" else "embedded"
    if mode == "vector" and state != "embedded":
        return _STATES[state]
    told = _below(query, ranked, number, leg)
    return told if state == "embedded" else f"{told}; {_STATES[state]}"


def _id(pool: Pool, query: Query, reach: Reach) -> int | None:
    """Behind the walls alone. One that has run out is still there, and is told to be filtered."""
    walls = [part for part in compiled(Where(), reach).parts if part.word != "expiry"]
    params = compiled(Where(), reach).params
    sql = " and ".join(["d.address = :expected", *(part.sql for part in walls)])
    row = pool.rows.row(f"select d.id from document d where {sql}", expected=query.expect, **params)
    return None if row is None else row[0]


def _filtered(pool: Pool, number: int) -> list[str]:
    parts = pool.filter.parts
    tests = ", ".join(f"case when {part.sql} then 1 else 0 end" for part in parts)
    row = pool.rows.row(f"select {tests} from document d where d.id = :expected", expected=number, **pool.filter.params)
    assert row is not None
    return [part.word for part, passes in zip(parts, row, strict=True) if not passes]


def _below(query: Query, ranked: Sequence[Fused], number: int, leg: Leg | None) -> str:
    last = f"; the last of {min(query.limit, len(ranked))} hits has {ranked[: query.limit][-1].score}" if ranked else ""
    for place, each in enumerate(ranked):
        if each.found.id == number:
            return f"below the line: rank {place + 1} with a score of {each.score}{last}"
    if leg is None:
        return f"below the line: its rank is over {len(ranked)}{last}"
    leg.take([number])
    share = leg.scored[number].level if number in leg.scored else 0.0
    if not share:
        return f"below the line: no word of the query is in it{last}"
    return (
        f"below the line: not among the {len(leg.scored)} records that were compared; its words give {share:.6f}{last}"
    )
