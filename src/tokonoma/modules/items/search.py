"""search_items: the query language over the shared index."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.normalize import normalize
from tokonoma.core.query import Condition, Hits, Mode, Query, SearchFilter, extract_snippet
from tokonoma.modules.items.constants import MODULE_NAME
from tokonoma.modules.items.item import Item, ItemSummary, build_text, to_item, to_summary
from tokonoma.modules.items.language import parse_query
from tokonoma.modules.items.query_meaning import QueryAlternative, build_alternatives
from tokonoma.modules.items.tables import COLUMNS

MAX_OFFSET = 1000
_SNIPPET = 200
_WINDOWS = (25, 101, MAX_OFFSET + 101)
_CHECKED = 500  # of the best, among which texts that must or must not be there are looked for
_ITEMS = f"select {COLUMNS} from item where id in ({{numbers}}) and state >= 0 and {{visible}}"  # noqa: S608


class ItemHit(ItemSummary):
    snippet: str
    score: float


class ItemSearchResult(TypedDict):
    items: list[ItemHit]
    has_more: bool
    next_offset: NotRequired[int]
    mode: Literal["text", "hybrid", "vector", "filter"]
    not_yet_embedded: NotRequired[int]


def search_items(
    desk: Desk,
    query: Annotated[
        str,
        Field(
            max_length=2000,
            description='words, and type:bug status:"In Progress" is:open priority:HIGH tag:x category:x version:x '
            "created:/updated:/start:/end: 2026-01..2026-03 has:end, with AND OR NOT - ( )",
        ),
    ],
    types: Annotated[list[str] | None, Field(max_length=50, description="default: all")] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0,
    mode: Annotated[Mode, Field(description="words, meaning, or both")] = "hybrid",
) -> ItemSearchResult:
    """Find items by title, description, content and tags, best first, with snippets. Words rank; quoted ones and those
    joined by AND must be there. Without words: what the fields say, last changed first."""
    wanted = build_alternatives(query, parse_query(query))
    # A few sizes alone: pages are mostly ranked among the same candidates, and the first one quickly.
    window = next(size for size in _WINDOWS if size > offset + limit)
    scores: dict[int, float] = {}
    modes: set[str] = set()
    waiting = 0
    for alternative in wanted:
        hits = _search_alternative(desk, alternative, types or [], window, mode, scores)
        modes.add(hits.mode if alternative.words else "filter")
        waiting = max(waiting, hits.pending_vectors if alternative.words else 0)
    ranked = sorted(scores, key=lambda number: -scores[number])  # equal ones stay as the index put them
    page = ranked[offset : offset + limit]
    text = " ".join(word for alternative in wanted for word in alternative.words)
    items = {item.id: item for item in _fetch_items(desk, page)}
    answer: ItemSearchResult = {
        "items": [_to_hit(items[number], scores[number], text) for number in page if number in items],
        "has_more": len(ranked) > offset + limit,
        "mode": _combine_modes(modes),
    }
    if answer["has_more"] and offset + limit <= MAX_OFFSET:
        answer["next_offset"] = offset + limit
    if waiting:
        answer["not_yet_embedded"] = waiting
    return answer


def _search_alternative(
    desk: Desk, asked: QueryAlternative, types: list[str], window: int, mode: Mode, scores: dict[int, float]
) -> Hits:
    """The items of one alternative into `scores`; the better one counts."""
    tests = (*asked.tests, Condition("type", "in", tuple(types))) if types else asked.tests
    text = " ".join(asked.words)
    checks = bool(asked.must or asked.without)
    most = max(window, _CHECKED) if checks else window
    query = Query(text=text, mode=mode if text else "text", limit=most, neighbours=False)
    hits = desk.find(query, SearchFilter((MODULE_NAME,), conditions=tests))
    found = {int(parse_address(hit.address)[1]): hit.score if text else 0.0 for hit in hits.items}
    if checks:
        holding = {item.id for item in _fetch_items(desk, list(found)) if _matches_texts(item, asked)}
        found = {number: score for number, score in found.items() if number in holding}
    for number, score in found.items():
        scores[number] = max(score, scores.get(number, 0.0))
    return hits


def _to_hit(item: Item, score: float, text: str) -> ItemHit:
    short, _ = extract_snippet(build_text(item), text, _SNIPPET)
    return {**to_summary(item), "snippet": short, "score": round(score, 6)}


def _fetch_items(desk: Desk, ids: list[int]) -> list[Item]:
    if not ids:
        return []
    return [to_item(row) for row in desk.rows(_ITEMS, numbers=str(ids))]


def _matches_texts(item: Item, asked: QueryAlternative) -> bool:
    text = _normalize_text(f"{item.title}\n{build_text(item)}")
    return all(_normalize_text(each) in text for each in asked.must) and not any(
        _normalize_text(each) in text for each in asked.without
    )


def _normalize_text(text: str) -> str:
    """As the index folds words: サーバー and ｻｰﾊﾞ are the same."""
    return " ".join(normalize(text).split())


def _combine_modes(modes: set[str]) -> Literal["text", "hybrid", "vector", "filter"]:
    for mode in ("hybrid", "vector", "text"):
        if mode in modes:
            return mode
    return "filter"
