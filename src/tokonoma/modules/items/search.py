"""search_items: words rank, everything else in a query is exact over all items that the caller sees."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.query import (
    AllOf,
    AnyOf,
    Condition,
    Mode,
    NoneOf,
    Predicate,
    Query,
    SearchFilter,
    extract_snippet,
)
from tokonoma.modules.items.alternatives import QueryAlternative, QueryReader
from tokonoma.modules.items.exact import parse_item_number
from tokonoma.modules.items.model import MODULE_NAME, Item, ItemSummary, build_text, parse_target, to_summary
from tokonoma.modules.items.pages import ItemOrder, Order, Sort
from tokonoma.modules.items.rows import fetch_items, find_item
from tokonoma.modules.items.scan import find_exact
from tokonoma.modules.items.tables import COLUMNS

MAX_OFFSET = 1000
_SNIPPET = 200
_WINDOWS = (25, 101, MAX_OFFSET + 101)
_RANKED = 500  # hits whose scores order the items that hold a text
_SPELLINGS = "select distinct tag from item_tag where folded in ({values})"

ResultMode = Literal["text", "hybrid", "vector", "filter"]
_MODES: tuple[ResultMode, ...] = ("hybrid", "vector", "text", "filter")


class ItemHit(ItemSummary):
    snippet: str
    score: float


class ItemSearchResult(TypedDict):
    items: list[ItemHit]
    has_more: bool
    next_offset: NotRequired[int]
    mode: ResultMode
    not_yet_embedded: NotRequired[int]


def search_items(
    desk: Desk,
    query: Annotated[
        str,
        Field(
            max_length=2000,
            description='words, bug-2, #2, "a phrase", type:bug status:"In Progress" is:open priority:HIGH tag:x '
            "title:x category:x version:x assignee:x created:/updated:/start:/due: 2026-01..2026-03 or 7d, has:due, "
            "AND OR NOT - ( )",
        ),
    ],
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0,
    mode: Mode = "hybrid",
    sort: Annotated[Sort | None, Field(description="then all words must occur")] = None,
    order: Order | None = None,
) -> ItemSearchResult:
    """Search all texts of items, best first. Words rank; quoted texts and words joined by AND must occur. Without
    words: last changed first."""
    alternatives = QueryReader(query, desk.now(), strict=sort is not None).read_alternatives()
    if types:
        narrowed = Condition("type", "in", tuple(types))
        alternatives = [each._replace(predicates=(*each.predicates, narrowed)) for each in alternatives]
    search = _ItemSearch(desk, mode, offset + limit + 1)
    if sort is not None or not any(each.words for each in alternatives):
        search.scan(alternatives, ItemOrder(sort or "updated", order))
    else:
        for each in alternatives:
            search.add_alternative(each)
    ranked = search.rank()
    page = ranked[offset : offset + limit]
    items = fetch_items(desk, page, COLUMNS)
    text = " ".join(word for alternative in alternatives for word in alternative.words)
    result: ItemSearchResult = {
        "items": [_to_hit(desk, items[number], search.scores[number], text) for number in page if number in items],
        "has_more": len(ranked) > offset + limit,
        "mode": next(each for each in _MODES if each in search.modes),
    }
    if result["has_more"] and offset + limit <= MAX_OFFSET:
        result["next_offset"] = offset + limit
    if search.pending:
        result["not_yet_embedded"] = search.pending
    return result


class _ItemSearch:
    """The items found so far with their scores; of an item that several alternatives find, the better score counts."""

    def __init__(self, desk: Desk, mode: Mode, wanted: int) -> None:
        self._desk, self._wanted = desk, wanted
        self._mode: Mode = mode
        # A few sizes only: pages are mostly ranked among the same candidates, and the first one quickly.
        self._window = next(size for size in _WINDOWS if size >= wanted)
        self.scores: dict[int, float] = {}
        self.modes: set[ResultMode] = set()
        self.pending = 0

    def rank(self) -> list[int]:
        """Best first; equal ones stay in the order in which they were found."""
        return sorted(self.scores, key=lambda number: -self.scores[number])

    def scan(self, alternatives: Sequence[QueryAlternative], order: ItemOrder) -> None:
        self.modes.add("filter")
        self._add(dict.fromkeys(find_exact(self._desk, alternatives, order, self._wanted), 0.0))

    def add_alternative(self, wanted: QueryAlternative) -> None:
        if not wanted.words:
            self.scan([wanted], ItemOrder())
            return
        self._add(self._find_addressed(wanted))
        if not wanted.must:
            self._add(self._rank_words(wanted))
            return
        hits = self._find(wanted, max(self._window, _RANKED))
        self._add(self._keep_matches(hits, wanted))
        # Those that hold the texts but are not among the best hits follow, last changed first.
        rest = find_exact(self._desk, [wanted], ItemOrder(), self._wanted)
        self._add({number: 0.0 for number in rest if number not in self.scores})

    def _rank_words(self, wanted: QueryAlternative) -> dict[int, float]:
        """Hits for the words. Where texts must not occur, as many more are looked at as it takes to fill the page."""
        most = self._window
        while True:
            hits = self._find(wanted, most)
            found = self._keep_matches(hits, wanted) if wanted.without else hits
            if len(found) >= self._wanted or len(hits) < most:
                return found
            most *= 4

    def _find(self, wanted: QueryAlternative, most: int) -> dict[int, float]:
        query = Query(text=" ".join(wanted.words), mode=self._mode, limit=most, neighbours=False)
        conditions = tuple(self._spell_tags(each) for each in wanted.predicates)
        hits = self._desk.find(query, SearchFilter((MODULE_NAME,), conditions=conditions))
        self.modes.add(hits.mode)
        self.pending = max(self.pending, hits.pending_vectors)
        return {int(parse_address(hit.address)[1]): hit.score for hit in hits.items}

    def _find_addressed(self, wanted: QueryAlternative) -> dict[int, float]:
        """An item that is named by its address comes first."""
        found: dict[int, float] = {}
        for word in wanted.words:
            if (number := parse_item_number(word)) is None:
                continue
            target = parse_target(word)
            item = find_item(self._desk, (target and target.type) or MODULE_NAME, number)
            if item is not None and wanted.matches(item):
                found[number] = 1.0
        return found

    def _keep_matches(self, found: dict[int, float], wanted: QueryAlternative) -> dict[int, float]:
        items = fetch_items(self._desk, found, COLUMNS)
        return {number: score for number, score in found.items() if number in items and wanted.matches(items[number])}

    def _add(self, found: dict[int, float]) -> None:
        for number, score in found.items():
            self.scores[number] = max(score, self.scores.get(number, 0.0))

    def _spell_tags(self, predicate: Predicate) -> Predicate:
        """The index holds tags as they are written: a tag is asked for in every spelling in use."""
        if isinstance(predicate, NoneOf):
            return NoneOf(self._spell_tags(predicate.part))
        if isinstance(predicate, AllOf | AnyOf):
            return type(predicate)(tuple(self._spell_tags(each) for each in predicate.parts))
        if predicate.key != "tag" or predicate.operator != "in":
            return predicate
        names = {f"v{number}": value for number, value in enumerate(predicate.values)}
        rows = self._desk.rows(_SPELLINGS.replace("{values}", ", ".join(f":{name}" for name in names)), **names)
        return Condition("tag", "in", tuple(dict.fromkeys((*predicate.values, *(tag for (tag,) in rows)))))


def _to_hit(desk: Desk, item: Item, score: float, text: str) -> ItemHit:
    snippet, _ = extract_snippet(build_text(item), text, _SNIPPET)
    return {**to_summary(desk, item), "snippet": snippet, "score": round(score, 6)}
