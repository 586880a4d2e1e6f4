"""memory.get, memory.list, memory.namespaces and memory.search."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, format_address, parse_address
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, is_inside, resolve_namespace
from tokonoma.core.query import Hit, Hits, Query, SearchFilter, extract_snippet
from tokonoma.modules.memory import model
from tokonoma.modules.memory.model import Memo, MemoSummary, Namespace
from tokonoma.modules.memory.tables import ALIVE, COLUMNS, INSIDE, bind_ids, bind_namespace

_IDS_PER_QUERY = 500
_LISTED = 200  # characters of content in a list
_FOUND = 2000  # characters up to which a hit has its whole content

PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]


class MemoDetail(MemoSummary):
    content: str
    content_length: int
    content_truncated: NotRequired[bool]


class MemoListEntry(MemoSummary):
    content: str
    content_truncated: NotRequired[bool]


class MemoList(TypedDict):
    items: list[MemoListEntry]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class NamespaceCount(TypedDict):
    namespace: str
    memos: int


class NamespaceList(TypedDict):
    items: list[NamespaceCount]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class MemoHit(MemoListEntry):
    score: float
    similarity: NotRequired[float]
    score_details: NotRequired[dict[str, Any]]


class MemoSearchResult(TypedDict):
    items: list[MemoHit]
    mode: Literal["hybrid", "text", "vector", "metadata"]
    not_yet_embedded: NotRequired[int]
    why_not: NotRequired[str]


def require_memo(
    rows: Rows, desk: Desk, memo_id: str, namespace: str | None = None, *, lock: bool = False, trash: bool = False
) -> Memo:
    """The living or the deleted memo with this id that the caller can see, in the namespace if one is given."""
    state, problem = ("deleted_at is not null", "is not in the trash") if trash else (ALIVE, "not found")
    sql = f"select {COLUMNS} from memo where id = :id and {state} and {{visible}}"  # noqa: S608 - our own
    row = rows.row(f"{sql} {{for_update}}" if lock else sql, id=memo_id, now=desk.now())
    memo = model.to_memo(row) if row else None
    if memo is None or (namespace and not is_inside(memo.namespace, resolve_namespace(namespace, desk.principal))):
        raise Missing(f"Memo {memo_id!r} {problem}.", memo_id=memo_id)
    return memo


def fetch_memos(
    rows: Rows, ids: Iterable[str], condition: str = "1 = 1", *, lock: bool = False, **params: Any
) -> dict[str, Memo]:
    """The memos of these ids, of any state unless the condition says otherwise."""
    found: dict[str, Memo] = {}
    wanted = sorted({each for each in ids if "\0" not in each})  # in order of id: two calls must not deadlock
    for start in range(0, len(wanted), _IDS_PER_QUERY):
        listed, bound = bind_ids(wanted[start : start + _IDS_PER_QUERY])
        sql = f"select {COLUMNS} from memo where id in ({listed}) and {condition} and {{visible}} order by id"  # noqa: S608
        memos = map(model.to_memo, rows.rows(sql + (" {for_update}" if lock else ""), **bound, **params))
        found |= {memo.id: memo for memo in memos}
    return found


def get_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    offset: Annotated[int, Field(ge=0, description="character to start at")] = 0,
    max_characters: Annotated[int, Field(ge=1, le=100_000)] = 20_000,
) -> MemoDetail:
    """Read one memo. `content` starts at `offset`; `content_truncated` is set if there is more."""
    memo = require_memo(desk, desk, memo_id, namespace)
    part = memo.content[offset : offset + max_characters]
    detail: MemoDetail = {
        **model.to_summary(memo, desk),
        "content": part,
        "content_length": len(memo.content),
    }
    if offset + len(part) < len(memo.content):
        detail["content_truncated"] = True
    return detail


def list_memos(
    desk: Desk,
    namespace: Namespace = None,
    state: Annotated[Literal["kept", "trash"], Field(description="trash: deleted memos")] = "kept",
    thread: Annotated[str | None, Field(description="only memos of this thread")] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> MemoList:
    """List the memos of a namespace and those below it, last changed first, with the start of their content."""
    at, last = desk.open_cursor("memos", cursor) if cursor else (2**62, "")
    condition = ALIVE if state == "kept" else "deleted_at is not null"
    rows = desk.rows(
        f"""select {COLUMNS} from memo where {condition} and {{visible}} and {INSIDE}
            and (:thread = '' or thread = :thread)
            and (updated_at < :at or (updated_at = :at and id < :last))
        order by updated_at desc, id desc limit :most""",  # noqa: S608 - the columns are our own
        thread=thread or "",
        now=desk.now(),
        at=at,
        last=last,
        most=limit + 1,
        **bind_namespace(resolve_namespace(namespace, desk.principal)),
    )
    memos = [model.to_memo(row) for row in rows[:limit]]
    page: MemoList = {"items": [_to_list_entry(memo, desk) for memo in memos], "has_more": len(rows) > limit}
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor("memos", memos[-1].updated_at, memos[-1].id)
    return page


def list_namespaces(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
    cursor: PageCursor = None,
) -> NamespaceList:
    """List the namespaces that contain memos, by name, with the number of memos directly in each."""
    (last,) = desk.open_cursor("namespaces", cursor) if cursor else ("",)
    if desk.call.record_masks.covers(model.MODULE_NAME):  # as the caller sees them: the database must not sort them
        found = desk.rows(f"select space from memo where {ALIVE} and {{visible}}", now=desk.now())  # noqa: S608
        counts = Counter(namespace for (namespace,) in found)
        rows = sorted((namespace, count) for namespace, count in counts.items() if namespace > last)[: limit + 1]
    else:
        rows = desk.rows(
            f"""select space, count(*) from memo where {ALIVE} and {{visible}} and space > :last
            group by space order by space limit :most""",  # noqa: S608 - our own text
            now=desk.now(),
            last=last,
            most=limit + 1,
        )
    items: list[NamespaceCount] = [
        {"namespace": format_namespace(namespace, desk.principal), "memos": count} for namespace, count in rows[:limit]
    ]
    page: NamespaceList = {"items": items, "has_more": len(rows) > limit}
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor("namespaces", rows[limit - 1][0])
    return page


def search_memos(
    desk: Desk,
    query: Annotated[str | None, Field(max_length=20_000, description="words or a question, in any language")] = None,
    namespace: Namespace = None,
    metadata_filter: Annotated[
        dict[str, Any] | None,
        Field(description='{"a.b": value} exact, or {"contains"|"prefix"|"in"|"gte"|"lte"|"exists": …}'),
    ] = None,
    k: Annotated[int, Field(ge=1, le=100, description="number of results")] = 10,
    mode: Annotated[
        Literal["hybrid", "text", "vector"], Field(description="text: words; vector: meaning; hybrid: both")
    ] = "hybrid",
    minimum_similarity: Annotated[
        float | None, Field(ge=-1, le=1, description="cosine only; implies mode vector")
    ] = None,
    pivot_memo_id: Annotated[str | None, Field(description="search by this memo's meaning instead of a query")] = None,
    distance_metric: Literal["cosine", "l2"] = "cosine",
    exclude_pivot: bool = True,
    half_life_days: Annotated[
        float | None, Field(gt=0, le=36_500, description="days after which a memo counts half")
    ] = None,
    explain: Annotated[bool, Field(description="explain each score")] = False,
    expect_memo_id: Annotated[str | None, Field(description="explain why this memo is not in the results")] = None,
) -> MemoSearchResult:
    """Search the memos of a namespace and those below it. A date in the query (in May, 先週) ranks memos of that time
    higher. Without query and pivot_memo_id: filter by metadata_filter only, newest first. Long contents are cut to a
    snippet with content_truncated; memory.get reads the rest."""
    _check_arguments(query, pivot_memo_id, minimum_similarity, distance_metric, mode)
    inside = resolve_namespace(namespace, desk.principal)
    where = SearchFilter((model.MODULE_NAME,), inside, model.build_conditions(metadata_filter or {}))
    if pivot_memo_id is not None:
        require_memo(desk, desk, pivot_memo_id, namespace or ".")
    vector = minimum_similarity is not None or distance_metric == "l2" or pivot_memo_id is not None
    request = Query(
        text=(query or "").strip(),
        pivot=format_address(model.MODULE_NAME, pivot_memo_id) if pivot_memo_id else None,
        mode="vector" if vector else mode,
        metric=distance_metric,
        limit=k + (1 if pivot_memo_id and exclude_pivot else 0),
        min_similarity=minimum_similarity,
        boost_dates=True,
        half_life=half_life_days,
        explain=explain,
        expect=format_address(model.MODULE_NAME, expect_memo_id) if expect_memo_id else None,
    )
    hits = desk.find(request, where)
    left_out = request.pivot if exclude_pivot else None
    return _to_response(desk, hits, request, [hit for hit in hits.items if hit.address != left_out][:k])


def _check_arguments(query: str | None, pivot: str | None, minimum: float | None, metric: str, mode: str) -> None:
    if query is not None and pivot is not None:
        raise Invalid("Give query or pivot_memo_id, not both.", fields=["query", "pivot_memo_id"])
    if minimum is not None and metric == "l2":
        raise Invalid("minimum_similarity works with cosine only; omit it with l2.", field="minimum_similarity")
    if minimum is not None and query is None and pivot is None:
        raise Invalid("minimum_similarity needs a query or a pivot_memo_id.", field="minimum_similarity")
    if mode == "text" and (pivot is not None or minimum is not None or metric == "l2"):
        raise Invalid('mode "text" does not use vectors: omit pivot_memo_id, minimum_similarity and l2.', field="mode")


def _to_response(desk: Desk, hits: Hits, request: Query, chosen: list[Hit]) -> MemoSearchResult:
    # A memo that was deleted since it was found is left out.
    memos = fetch_memos(desk, [parse_address(hit.address)[1] for hit in chosen], ALIVE, now=desk.now())
    found = [(memos.get(parse_address(hit.address)[1]), hit) for hit in chosen]
    searched = bool(request.text or request.pivot)
    response: MemoSearchResult = {
        "items": [_to_hit(desk, memo, hit, request) for memo, hit in found if memo is not None],
        "mode": hits.mode if searched else "metadata",
    }
    if hits.pending_vectors and searched:
        response["not_yet_embedded"] = hits.pending_vectors
    if hits.why_not is not None:
        response["why_not"] = hits.why_not
    return response


def _to_list_entry(memo: Memo, desk: Desk) -> MemoListEntry:
    entry: MemoListEntry = {**model.to_summary(memo, desk), "content": memo.content[:_LISTED]}
    if len(memo.content) > _LISTED:
        entry["content_truncated"] = True
    return entry


def _to_hit(desk: Desk, memo: Memo, hit: Hit, request: Query) -> MemoHit:
    snippet, is_cut = extract_snippet(memo.content, request.text, _FOUND)
    response: MemoHit = {**model.to_summary(memo, desk), "content": snippet, "score": round(hit.score, 6)}
    if is_cut:
        response["content_truncated"] = True
    if hit.similarity is not None:
        response["similarity"] = round(hit.similarity, 6)
    if request.explain:
        response["score_details"] = dict(hit.score_parts)
    return response
