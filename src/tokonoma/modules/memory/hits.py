"""What memory.search returns of the memos that it found: mostly their content, or everything (`detail`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.ids import Opaque
from tokonoma.core.query import Hit, Hits, Query, extract_snippet
from tokonoma.modules.memory import model
from tokonoma.modules.memory.marks import read_superseded
from tokonoma.modules.memory.model import Memo, MemoSummary

_FOUND = 2000  # characters up to which a hit has its whole content


class MemoHit(TypedDict):
    memo_id: Opaque
    content: str
    content_truncated: NotRequired[bool]
    score: float
    title: NotRequired[str]
    namespace: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    date: NotRequired[Opaque]
    thread: NotRequired[str]
    created_at: NotRequired[Opaque]
    updated_at: NotRequired[Opaque]
    expires_at: NotRequired[Opaque]
    valid_from: NotRequired[Opaque]
    valid_until: NotRequired[Opaque]
    supersedes: NotRequired[list[Opaque]]
    deleted_at: NotRequired[Opaque]
    version: NotRequired[int]
    similarity: NotRequired[float]
    superseded_by: NotRequired[Opaque]
    score_details: NotRequired[dict[str, Any]]


class MemoSearchResult(TypedDict):
    items: list[MemoHit]
    mode: Literal["hybrid", "text", "vector", "metadata"]
    not_yet_embedded: NotRequired[int]
    why_not: NotRequired[str]
    has_more: NotRequired[bool]
    next_cursor: NotRequired[Opaque]


def to_response(
    desk: Desk,
    hits: Hits,
    request: Query,
    chosen: Sequence[Hit],
    memos: Mapping[str, Memo],
    inside: str | None,
) -> MemoSearchResult:
    """`inside`: the namespace that was searched, for compact hits; None for full ones."""
    found = [(memos.get(parse_address(hit.address)[1]), hit) for hit in chosen]
    searched = bool(request.text or request.pivot)
    response: MemoSearchResult = {
        "items": [_to_hit(desk, memo, hit, request, inside) for memo, hit in found if memo is not None],
        "mode": hits.mode if searched else "metadata",
    }
    if inside is None:
        superseded = read_superseded(desk, memos.values())
        for item in response["items"]:
            if ids := superseded.get(item["memo_id"]):
                item["supersedes"] = ids
    if hits.pending_vectors and searched:
        response["not_yet_embedded"] = hits.pending_vectors
    if hits.why_not is not None:
        response["why_not"] = hits.why_not
    if hits.last is not None:
        response["has_more"], response["next_cursor"] = True, desk.seal_cursor("memos found", *hits.last)
    return response


def _to_hit(desk: Desk, memo: Memo, hit: Hit, request: Query, inside: str | None) -> MemoHit:
    snippet, is_cut = extract_snippet(memo.content, request.text, _FOUND)
    summary = model.to_summary(memo, desk)
    response: MemoHit = {"memo_id": memo.id, "content": snippet, "score": round(hit.score, 3)}
    if inside is None:
        response = cast("MemoHit", {**summary, "content": snippet, "score": round(hit.score, 6)})
        if hit.similarity is not None:
            response["similarity"] = round(hit.similarity, 6)
    else:
        _add_differences(response, desk, memo, summary, inside)
    if hit.superseded_by is not None:
        response["superseded_by"] = parse_address(hit.superseded_by)[1]
    if is_cut:
        response["content_truncated"] = True
    if request.explain:
        response["score_details"] = dict(hit.score_parts)
    return response


def _add_differences(response: MemoHit, desk: Desk, memo: Memo, summary: MemoSummary, inside: str) -> None:
    """What a reader needs beside the content: where and when only if it is elsewhere and on another day."""
    if "title" in summary:
        response["title"] = summary["title"]
    if summary["metadata"]:
        response["metadata"] = summary["metadata"]
    if memo.namespace != inside:
        response["namespace"] = summary["namespace"]
    if "valid_from" in summary:
        response["valid_from"] = summary["valid_from"]
    if "valid_until" in summary:
        response["valid_until"] = summary["valid_until"]
    if memo.date:
        response["date"] = memo.date
    elif (day := format_time(memo.created_at)[:10]) != format_time(desk.now())[:10]:
        response["date"] = day
