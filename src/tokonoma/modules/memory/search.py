"""memory.search: by meaning, by words, by metadata, by another memo, and by all of these together."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, format_address, parse_address
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.query import Hit, Hits, Query, SearchFilter, extract_snippet
from tokonoma.modules.memory.memo import MODULE_NAME, Memo, MemoSummary, to_memo, to_summary
from tokonoma.modules.memory.metadata import build_conditions
from tokonoma.modules.memory.save import Namespace
from tokonoma.modules.memory.tables import ALIVE, COLUMNS

_WHOLE = 2000  # characters up to which the content comes whole


class MemoHit(MemoSummary):
    content: str
    content_truncated: NotRequired[bool]
    score: float
    similarity: NotRequired[float]
    score_details: NotRequired[dict[str, Any]]


class MemoSearchResult(TypedDict):
    items: list[MemoHit]
    mode: Literal["hybrid", "text", "vector", "metadata"]
    not_yet_embedded: NotRequired[int]
    why_not: NotRequired[str]


def search_memos(
    desk: Desk,
    query: Annotated[str | None, Field(max_length=20_000, description="words or a question, in any language")] = None,
    namespace: Namespace = None,
    metadata_filter: Annotated[
        dict[str, Any] | None,
        Field(description='{"a.b": value} exact, or {"contains"|"prefix"|"in"|"gte"|"lte"|"exists": …}'),
    ] = None,
    k: Annotated[int, Field(ge=1, le=100, description="how many")] = 10,
    mode: Annotated[Literal["hybrid", "text", "vector"], Field(description="words, meaning, or both")] = "hybrid",
    minimum_similarity: Annotated[float | None, Field(ge=-1, le=1, description="cosine only; means vector")] = None,
    pivot_memo_id: Annotated[str | None, Field(description="search by this memo's meaning instead of a query")] = None,
    distance_metric: Literal["cosine", "l2"] = "cosine",
    exclude_pivot: bool = True,
    half_life_days: Annotated[float | None, Field(gt=0, le=36_500, description="older memos count less")] = None,
    explain: Annotated[bool, Field(description="say how each score came about")] = False,
    expect_memo_id: Annotated[str | None, Field(description="say why this memo did not come")] = None,
) -> MemoSearchResult:
    """Find memos in a namespace and those below it; a time that the query names (in May, 先週) counts, too. Without
    query and pivot: by metadata_filter alone, newest first. Long contents come as a snippet with content_truncated;
    memory.get reads the rest."""
    _check_arguments(query, pivot_memo_id, minimum_similarity, distance_metric, mode)
    space = spaces.resolve_namespace(namespace, desk.principal)
    where = SearchFilter((MODULE_NAME,), space, build_conditions(metadata_filter or {}))
    if pivot_memo_id is not None:
        _check_pivot(desk, pivot_memo_id, space)
    vector = minimum_similarity is not None or distance_metric == "l2" or pivot_memo_id is not None
    asked = Query(
        text=(query or "").strip(),
        pivot=format_address(MODULE_NAME, pivot_memo_id) if pivot_memo_id else None,
        mode="vector" if vector else mode,
        metric=distance_metric,
        limit=k + (1 if pivot_memo_id and exclude_pivot else 0),
        min_similarity=minimum_similarity,
        boost_dates=True,
        half_life=half_life_days,
        explain=explain,
        expect=format_address(MODULE_NAME, expect_memo_id) if expect_memo_id else None,
    )
    hits = desk.find(asked, where)
    left_out = asked.pivot if exclude_pivot else None
    return _to_response(desk, hits, asked, [hit for hit in hits.items if hit.address != left_out][:k])


def _check_arguments(query: str | None, pivot: str | None, minimum: float | None, metric: str, mode: str) -> None:
    if query is not None and pivot is not None:
        raise Invalid("Give query or pivot_memo_id, not both.", fields=["query", "pivot_memo_id"])
    if minimum is not None and metric == "l2":
        raise Invalid("minimum_similarity is for cosine; leave it out with l2.", field="minimum_similarity")
    if minimum is not None and query is None and pivot is None:
        raise Invalid("minimum_similarity needs a query or a pivot_memo_id.", field="minimum_similarity")
    if mode == "text" and (pivot is not None or minimum is not None or metric == "l2"):
        raise Invalid(
            'mode "text" compares no vectors: leave out pivot_memo_id, minimum_similarity and l2.', field="mode"
        )


def _check_pivot(desk: Desk, memo_id: str, space: str) -> None:
    row = desk.row(f"select space from memo where id = :id and {ALIVE} and {{visible}}", id=memo_id, now=now())  # noqa: S608
    if row is None or not spaces.is_inside(row[0], space):
        raise Missing(f"There is no memo {memo_id!r} here.", memo_id=memo_id)


def _to_response(desk: Desk, hits: Hits, asked: Query, chosen: list[Hit]) -> MemoSearchResult:
    memos = _fetch_memos(desk, [parse_address(hit.address)[1] for hit in chosen])
    searched = bool(asked.text or asked.pivot)
    told: MemoSearchResult = {
        "items": [_to_hit(desk, memos[hit.address], hit, asked) for hit in chosen if hit.address in memos],
        "mode": hits.mode if searched else "metadata",
    }
    if hits.pending_vectors and searched:
        told["not_yet_embedded"] = hits.pending_vectors
    if hits.why_not is not None:
        told["why_not"] = hits.why_not
    return told


def _fetch_memos(desk: Desk, ids: list[str]) -> dict[str, Memo]:
    """The hits' own rows. One that was deleted since it was found is left out."""
    if not ids:
        return {}
    names = [f"id{number}" for number in range(len(ids))]
    rows = desk.rows(
        f"""select {COLUMNS} from memo where id in ({", ".join(f":{name}" for name in names)})
        and {ALIVE} and {{visible}}""",  # noqa: S608 - names of parameters, not texts
        now=now(),
        **dict(zip(names, ids, strict=True)),
    )
    return {memo.address: memo for memo in map(to_memo, rows)}


def _to_hit(desk: Desk, memo: Memo, hit: Hit, asked: Query) -> MemoHit:
    short, cut = extract_snippet(memo.content, asked.text, _WHOLE)
    told: MemoHit = {**to_summary(memo, desk.principal), "content": short, "score": round(hit.score, 6)}
    if cut:
        told["content_truncated"] = True
    if hit.similarity is not None:
        told["similarity"] = round(hit.similarity, 6)
    if asked.explain:
        told["score_details"] = dict(hit.score_parts)
    return told
