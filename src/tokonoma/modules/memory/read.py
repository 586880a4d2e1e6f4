"""memory.get, memory.namespaces and memory.search."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, format_address, parse_address
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, is_inside, resolve_namespace
from tokonoma.core.query import Query, SearchFilter
from tokonoma.modules.memory import model
from tokonoma.modules.memory.filters import (
    MetadataFilter,
    build_conditions,
    parse_span,
    parse_valid_at,
    reject_fields,
)
from tokonoma.modules.memory.hits import MemoSearchResult, to_response
from tokonoma.modules.memory.marks import describe_memos
from tokonoma.modules.memory.model import Memo, MemoSummary, Namespace
from tokonoma.modules.memory.tables import ALIVE, COLUMNS, bind_ids

_IDS_PER_QUERY = 500
_STAYING = "select space, memos from memo_count where {visible}"
_EXPIRING = "select space, 1 from memo where deleted_at is null and expires_at > :now and {visible}"
_NAMESPACES = """select space, cast(sum(memos) as {big}) from (
    select c.space, c.memos from memo_count c where c.space > :last and {visible:c}
    union all
    select m.space, count(*) from memo m
    where m.deleted_at is null and m.expires_at > :now and m.space > :last and {visible:m} group by m.space
) counted group by space order by space limit :most"""

HalfLife = Annotated[
    float | None, Field(gt=0, le=36_500, description="days after which a memo counts half, from its date")
]
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]


class MemoDetail(MemoSummary):
    content: str
    content_length: int
    content_truncated: NotRequired[bool]


class MemoListEntry(MemoSummary):
    content: str
    content_truncated: NotRequired[bool]


class NamespaceCount(TypedDict):
    namespace: str
    memos: int


class NamespaceList(TypedDict):
    items: list[NamespaceCount]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def require_memo(
    rows: Rows,
    desk: Desk,
    memo_id: str,
    namespace: str | None = None,
    *,
    lock: bool = False,
    state: Literal["kept", "any"] = "kept",
) -> Memo:
    """The memo with this id that the caller can see, in the namespace if one is given; `any`: also a deleted or an
    expired one."""
    sql = f"select {COLUMNS} from memo where id = :id and {{visible}}"  # noqa: S608 - our own
    row = rows.row(f"{sql} {{for_update}}" if lock else sql, id=memo_id)
    memo = model.to_memo(row) if row else None
    if memo is None or (namespace and not is_inside(memo.namespace, resolve_namespace(namespace, desk.principal))):
        raise Missing(f"Memo {memo_id!r} not found.", memo_id=memo_id)
    if state == "kept" and (memo.deleted_at is not None or (memo.expires_at or 2**62) <= desk.now()):
        if merged_into := model.get_merged_into(memo):
            raise Missing(f"Memo {memo_id!r} was merged into {merged_into}.", memo_id=memo_id, merged_into=merged_into)
        raise Missing(f"Memo {memo_id!r} not found.", memo_id=memo_id)
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
        **describe_memos(desk, [memo])[0],
        "content": part,
        "content_length": len(memo.content),
    }
    if offset + len(part) < len(memo.content):
        detail["content_truncated"] = True
    return detail


def list_namespaces(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
    cursor: PageCursor = None,
) -> NamespaceList:
    """List the namespaces that contain memos, by name, with the number of memos directly in each."""
    (last,) = desk.open_cursor("namespaces", cursor) if cursor else ("",)
    if desk.call.record_masks.covers(model.MODULE_NAME):  # as the caller sees them: the database must not sort them
        counts = Counter[str]()
        for sql in (_STAYING, _EXPIRING):
            for namespace, count in desk.rows(sql, now=desk.now()):
                counts[namespace] += count
        rows = sorted((namespace, count) for namespace, count in counts.items() if namespace > last)[: limit + 1]
    else:
        rows = desk.rows(_NAMESPACES, last=last, most=limit + 1, now=desk.now())
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
    thread: Annotated[str | None, Field(description="only memos of this thread")] = None,
    metadata_filter: MetadataFilter = None,
    k: Annotated[int, Field(ge=1, le=100, description="number of results; 30 for lists")] = 10,
    mode: Annotated[
        Literal["hybrid", "text", "vector"], Field(description="text: words; vector: meaning; hybrid: both")
    ] = "hybrid",
    minimum_similarity: Annotated[float | None, Field(ge=-1, le=1, description="cosine; implies mode vector")] = None,
    minimum_score: Annotated[float | None, Field(ge=0, le=1, description="leave out lower scores")] = None,
    pivot_memo_id: Annotated[str | None, Field(description="search by this memo's meaning instead of a query")] = None,
    distance_metric: Literal["cosine", "l2"] = "cosine",
    exclude_pivot: bool = True,
    half_life_days: HalfLife = None,
    explain: Annotated[bool, Field(description="explain each score")] = False,
    expect_memo_id: Annotated[str | None, Field(description="explain why this memo is not in the results")] = None,
    since: Annotated[str | None, Field(description="saved at this time or later")] = None,
    until: Annotated[str | None, Field(description="saved at this time or before")] = None,
    valid_at: Annotated[str | None, Field(description="only what held on this day, or at this time")] = None,
    cursor: Annotated[str | None, Field(description="without query: next_cursor of the previous page")] = None,
    detail: Annotated[
        Literal["compact", "full"],
        Field(description="compact leaves out times, version, thread and what is as asked: this namespace, today"),
    ] = "compact",
) -> MemoSearchResult:
    """Search the memos of a namespace and those below it. A date in the query (in May, 先週) ranks memos of that time
    higher. Outdated ones stand behind; superseded_by names the newer one. Without query and pivot_memo_id: filter only,
    newest first, page by page. Long contents are cut to a snippet with content_truncated; memory.get reads the rest."""
    _check_arguments(query, pivot_memo_id, minimum_similarity, distance_metric, mode)
    inside = resolve_namespace(namespace, desk.principal)
    if cursor is not None and (query or pivot_memo_id):
        raise Invalid("cursor works without query and pivot_memo_id only: increase k instead.", field="cursor")
    conditions, times = build_conditions(metadata_filter or {}), parse_span(since, until)
    where = SearchFilter(
        (model.MODULE_NAME,), inside, conditions, *times, valid_at=parse_valid_at(valid_at), thread=thread or None
    )
    if pivot_memo_id is not None:
        require_memo(desk, desk, pivot_memo_id, namespace or ".")
    vector = minimum_similarity is not None or distance_metric == "l2" or pivot_memo_id is not None
    request = Query(
        text=(query or "").strip(),
        pivot=format_address(model.MODULE_NAME, pivot_memo_id) if pivot_memo_id else None,
        mode="vector" if vector else mode,
        metric=distance_metric,
        limit=k + (1 if pivot_memo_id and exclude_pivot else 0),
        after=_open_position(desk, cursor) if cursor else None,
        min_similarity=minimum_similarity,
        min_score=minimum_score,
        boost_dates=True,
        newer_first_in=(model.MODULE_NAME,),
        half_life=half_life_days,
        explain=explain,
        expect=format_address(model.MODULE_NAME, expect_memo_id) if expect_memo_id else None,
    )
    left_out = request.pivot if exclude_pivot else None
    return _find_memos(desk, request, where, k, left_out, None if detail == "full" else inside)


def _find_memos(
    desk: Desk, request: Query, where: SearchFilter, most: int, left_out: str | None, inside: str | None
) -> MemoSearchResult:
    hits = desk.find(request, where)
    if not hits.items and request.after is None:
        reject_fields(desk, where.conditions)
    chosen = [hit for hit in hits.items if hit.address != left_out][:most]
    # A memo that was deleted since it was found is left out.
    memos = fetch_memos(desk, [parse_address(hit.address)[1] for hit in chosen], ALIVE, now=desk.now())
    return to_response(desk, hits, request, chosen, memos, inside)


def _open_position(desk: Desk, cursor: str) -> tuple[int, int]:
    at, last = desk.open_cursor("memos found", cursor)
    return at, last


def _check_arguments(query: str | None, pivot: str | None, minimum: float | None, metric: str, mode: str) -> None:
    if query is not None and pivot is not None:
        raise Invalid("Give query or pivot_memo_id, not both.", fields=["query", "pivot_memo_id"])
    if minimum is not None and metric == "l2":
        raise Invalid("minimum_similarity works with cosine only; omit it with l2.", field="minimum_similarity")
    if minimum is not None and query is None and pivot is None:
        raise Invalid("minimum_similarity needs a query or a pivot_memo_id.", field="minimum_similarity")
    if mode == "text" and (pivot is not None or minimum is not None or metric == "l2"):
        raise Invalid('mode "text" does not use vectors: omit pivot_memo_id, minimum_similarity and l2.', field="mode")
