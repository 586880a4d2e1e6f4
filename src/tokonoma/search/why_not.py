"""Why an expected record did not come: not indexed, filtered (by what), not yet embedded, or below the line.

A record outside the caller's walls is told to be not indexed, word for word as one that does not exist.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

from collections.abc import Sequence

from tokonoma.core.query import Mode, Query, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import FusedScore
from tokonoma.search.text_search import TextSearch
from tokonoma.search.vector_leg import VectorSearcher

_STATES = {"waiting": "not yet embedded: its vector is still to be made", "none": "not embedded: it has no vector"}


def explain_missing(
    vectors: VectorSearcher | None,
    pool: CandidatePool,
    query: Query,
    reach: SearchScope,
    ranked: Sequence[FusedScore],
    leg: TextSearch | None,
    mode: Mode,
) -> str:
    number = _find_expected(pool, query, reach)
    if number is None:
        return f"not indexed: there is no record at {query.expect} that this caller can see"
    filtered = _list_failed_parts(pool, number)
    if filtered:
        return f"filtered by {' and '.join(filtered)}"
    state = vectors.get_state(pool.rows, number) if vectors is not None and mode != "text" else "embedded"
    if mode == "vector" and state != "embedded":
        return _STATES[state]
    told = _explain_rank(query, ranked, number, leg)
    return told if state == "embedded" else f"{told}; {_STATES[state]}"


def _find_expected(pool: CandidatePool, query: Query, reach: SearchScope) -> int | None:
    """Behind the walls alone. One that has run out is still there, and is told to be filtered."""
    walls = [part for part in compile_filter(SearchFilter(), reach).parts if part.description != "expiry"]
    params = compile_filter(SearchFilter(), reach).params
    sql = " and ".join(["d.address = :expected", *(part.sql for part in walls)])
    row = pool.rows.row(f"select d.id from document d where {sql}", expected=query.expect, **params)
    return None if row is None else row[0]


def _list_failed_parts(pool: CandidatePool, number: int) -> list[str]:
    parts = pool.filter.parts
    tests = ", ".join(f"case when {part.sql} then 1 else 0 end" for part in parts)
    row = pool.rows.row(f"select {tests} from document d where d.id = :expected", expected=number, **pool.filter.params)
    assert row is not None
    return [part.description for part, passes in zip(parts, row, strict=True) if not passes]


def _explain_rank(query: Query, ranked: Sequence[FusedScore], number: int, leg: TextSearch | None) -> str:
    last = f"; the last of {min(query.limit, len(ranked))} hits has {ranked[: query.limit][-1].score}" if ranked else ""
    for place, each in enumerate(ranked):
        if each.evidence.id == number:
            return f"below the line: rank {place + 1} with a score of {each.score}{last}"
    if leg is None:
        return f"below the line: its rank is over {len(ranked)}{last}"
    leg.score_documents([number])
    share = leg.scores[number].level if number in leg.scores else 0.0
    if not share:
        return f"below the line: no word of the query is in it{last}"
    return (
        f"below the line: not among the {len(leg.scores)} records that were compared; its words give {share:.6f}{last}"
    )
