"""search_items: the query language over the shared index."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import Desk
from tokonoma.core.normalize import fold
from tokonoma.core.query import Condition, Hits, Mode, Query, Where
from tokonoma.core.snippets import snippet
from tokonoma.modules.items.constants import MODULE_NAME
from tokonoma.modules.items.item import Brief, Item, body, brief, item_of
from tokonoma.modules.items.language import parsed
from tokonoma.modules.items.query_meaning import Alternative, alternatives
from tokonoma.modules.items.tables import COLUMNS

MOST_OFFSET = 1000
_SNIPPET = 200
_WINDOWS = (25, 101, MOST_OFFSET + 101)
_CHECKED = 500  # of the best, among which texts that must or must not be there are looked for
_ITEMS = f"select {COLUMNS} from item where id in ({{numbers}}) and state >= 0 and {{visible}}"  # noqa: S608


class FoundItem(Brief):
    snippet: str
    score: float


class FoundItems(TypedDict):
    items: list[FoundItem]
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
    offset: Annotated[int, Field(ge=0, le=MOST_OFFSET)] = 0,
    mode: Annotated[Mode, Field(description="words, meaning, or both")] = "hybrid",
) -> FoundItems:
    """Find items by title, description, content and tags, best first, with snippets. Words rank; quoted ones and those
    joined by AND must be there. Without words: what the fields say, last changed first."""
    wanted = alternatives(query, parsed(query))
    # A few sizes alone: pages are mostly ranked among the same candidates, and the first one quickly.
    window = next(size for size in _WINDOWS if size > offset + limit)
    scores: dict[int, float] = {}
    modes: set[str] = set()
    waiting = 0
    for alternative in wanted:
        hits = _ask(desk, alternative, types or [], window, mode, scores)
        modes.add(hits.mode if alternative.words else "filter")
        waiting = max(waiting, hits.waiting if alternative.words else 0)
    ranked = sorted(scores, key=lambda number: -scores[number])  # equal ones stay as the index put them
    page = ranked[offset : offset + limit]
    text = " ".join(word for alternative in wanted for word in alternative.words)
    items = {item.id: item for item in _fetched(desk, page)}
    answer: FoundItems = {
        "items": [_told(items[number], scores[number], text) for number in page if number in items],
        "has_more": len(ranked) > offset + limit,
        "mode": _mode(modes),
    }
    if answer["has_more"] and offset + limit <= MOST_OFFSET:
        answer["next_offset"] = offset + limit
    if waiting:
        answer["not_yet_embedded"] = waiting
    return answer


def _ask(desk: Desk, asked: Alternative, types: list[str], window: int, mode: Mode, scores: dict[int, float]) -> Hits:
    """The items of one alternative into `scores`; the better one counts."""
    tests = (*asked.tests, Condition("type", "in", tuple(types))) if types else asked.tests
    text = " ".join(asked.words)
    checks = bool(asked.must or asked.without)
    most = max(window, _CHECKED) if checks else window
    query = Query(text=text, mode=mode if text else "text", limit=most, neighbours=False)
    hits = desk.find(query, Where((MODULE_NAME,), conditions=tests))
    found = {int(parts_of(hit.address)[1]): hit.score if text else 0.0 for hit in hits.items}
    if checks:
        holding = {item.id for item in _fetched(desk, list(found)) if _holds(item, asked)}
        found = {number: score for number, score in found.items() if number in holding}
    for number, score in found.items():
        scores[number] = max(score, scores.get(number, 0.0))
    return hits


def _told(item: Item, score: float, text: str) -> FoundItem:
    short, _ = snippet(body(item), text, _SNIPPET)
    return {**brief(item), "snippet": short, "score": round(score, 6)}


def _fetched(desk: Desk, ids: list[int]) -> list[Item]:
    if not ids:
        return []
    return [item_of(row) for row in desk.rows(_ITEMS, numbers=str(ids))]


def _holds(item: Item, asked: Alternative) -> bool:
    text = _fold(f"{item.title}\n{body(item)}")
    return all(_fold(each) in text for each in asked.must) and not any(_fold(each) in text for each in asked.without)


def _fold(text: str) -> str:
    """As the index folds words: サーバー and ｻｰﾊﾞ are the same."""
    return " ".join(fold(text).split())


def _mode(modes: set[str]) -> Literal["text", "hybrid", "vector", "filter"]:
    for mode in ("hybrid", "vector", "text"):
        if mode in modes:
            return mode
    return "filter"
