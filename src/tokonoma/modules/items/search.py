"""search_items and search_suggest.

A query may join words and conditions by OR. So its tree becomes alternatives, each a conjunction: words to rank by,
texts that must or must not occur, conditions. Alternatives with the same texts are searched together.
"""

from collections import Counter
from typing import Annotated, Literal, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Row, parse_address
from tokonoma.core.normalize import normalize
from tokonoma.core.query import AllOf, AnyOf, Condition, Mode, NoneOf, Predicate, Query, SearchFilter, extract_snippet
from tokonoma.modules.items import language
from tokonoma.modules.items.language import QueryField, QueryGroup, QueryNode, QueryWord
from tokonoma.modules.items.model import MODULE_NAME, Item, ItemSummary, build_text, to_summary
from tokonoma.modules.items.rows import MAX_HINT_LENGTH, fetch_items, normalize_hint
from tokonoma.modules.items.tables import COLUMNS

MAX_OFFSET = 1000
_SNIPPET = 200
_WINDOWS = (25, 101, MAX_OFFSET + 101)
_CHECKED = 500  # of the best hits, among which texts that must or must not occur are looked for
_MAX_ALTERNATIVES = 32  # that are searched one by one
_MAX_HINTS = 2000  # of one letter there may be very many
_HINTS = """select h.kind, h.shown from item_hint h join item i on i.id = h.item_id
where h.folded >= :low and h.folded < :high and i.state >= 0 and {visible:i}%TYPES% limit :most"""

ResultMode = Literal["text", "hybrid", "vector", "filter"]
_MODES: tuple[ResultMode, ...] = ("hybrid", "vector", "text", "filter")
HintKind = Literal["tag", "word", "title"]
_HINT_RANK: dict[HintKind, int] = {"tag": 0, "word": 1, "title": 2}


class ItemHit(ItemSummary):
    snippet: str
    score: float


class ItemSearchResult(TypedDict):
    items: list[ItemHit]
    has_more: bool
    next_offset: NotRequired[int]
    mode: ResultMode
    not_yet_embedded: NotRequired[int]


class Suggestion(TypedDict):
    text: str
    kind: HintKind
    count: int


class Suggestions(TypedDict):
    items: list[Suggestion]
    has_more: bool


class QueryAlternative(NamedTuple):
    words: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    predicates: tuple[Predicate, ...] = ()

    def combine(self, other: "QueryAlternative") -> "QueryAlternative":
        return QueryAlternative._make(ours + theirs for ours, theirs in zip(self, other, strict=True))


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
    mode: Annotated[Mode, Field(description="text: words; vector: meaning; hybrid: both")] = "hybrid",
) -> ItemSearchResult:
    """Search items by title, description, content and tags, best first, with snippets. Words rank; quoted words and
    words joined by AND must occur. Without words: filter by the fields only, last changed first."""
    alternatives = build_alternatives(query, language.parse_query(query))
    # A few sizes only: pages are mostly ranked among the same candidates, and the first one quickly.
    window = next(size for size in _WINDOWS if size > offset + limit)
    scores: dict[int, float] = {}
    searched = [_search_alternative(desk, each, types or [], window, mode, scores) for each in alternatives]
    ranked = sorted(scores, key=lambda number: -scores[number])  # equal ones stay in the order of the index
    page = ranked[offset : offset + limit]
    text = " ".join(word for alternative in alternatives for word in alternative.words)
    items = fetch_items(desk, page, COLUMNS)
    result: ItemSearchResult = {
        "items": [_to_hit(desk, items[number], scores[number], text) for number in page if number in items],
        "has_more": len(ranked) > offset + limit,
        "mode": next(each for each in _MODES if any(each == used for used, _ in searched)),
    }
    if result["has_more"] and offset + limit <= MAX_OFFSET:
        result["next_offset"] = offset + limit
    if pending := max(pending for _, pending in searched):
        result["not_yet_embedded"] = pending
    return result


def search_suggest(
    desk: Desk,
    query: Annotated[str, Field(max_length=200, description="the beginning of a word, in any script or reading")],
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Annotated[int, Field(ge=1, le=20)] = 10,
) -> Suggestions:
    """Complete a query: tags, words and titles that start with it, most frequent first."""
    beginning = normalize_hint(query)[:MAX_HINT_LENGTH]
    if not beginning:
        return {"items": [], "has_more": False}
    names = {f"type{number}": type for number, type in enumerate(types or ())}
    listed = f" and i.type in ({', '.join(f':{name}' for name in names)})" if names else ""
    rows = desk.rows(
        _HINTS.replace("%TYPES%", listed), low=beginning, high=beginning + "\U0010ffff", most=_MAX_HINTS, **names
    )
    ranked = _rank_hints(rows, beginning)
    return {"items": ranked[:limit], "has_more": len(ranked) > limit}


def build_alternatives(query: str, node: QueryNode) -> list[QueryAlternative]:
    """At least one. Invalid points at a value that cannot be."""
    grouped: dict[QueryAlternative, list[AllOf]] = {}
    for each in _expand_node(query, node, negated=False):
        grouped.setdefault(each._replace(predicates=()), []).append(AllOf(each.predicates))
    if len(grouped) > _MAX_ALTERNATIVES:
        raise language.query_error(
            query, 0, f"it has more than {_MAX_ALTERNATIVES} alternatives; use fewer words with OR"
        )
    return [
        # An empty conjunction lets everything through.
        texts._replace(predicates=() if AllOf(()) in parts else (AnyOf(tuple(parts)),) if parts[1:] else parts[0].parts)
        for texts, parts in grouped.items()
    ]


def _expand_node(query: str, node: QueryNode, *, negated: bool) -> list[QueryAlternative]:
    if isinstance(node, QueryWord):
        if negated:
            return [QueryAlternative(without=(node.text,))]
        return [QueryAlternative((node.text,), (node.text,) if node.must else ())]
    if isinstance(node, QueryField) or not _has_words(node):  # conditions alone stay one condition
        is_empty = node == QueryGroup("all")
        return [QueryAlternative(predicates=() if is_empty else (_build_predicate(query, node, negated),))]
    if node.kind == "not":
        return _expand_node(query, node.parts[0], negated=not negated)
    parts = [_expand_node(query, part, negated=negated) for part in node.parts]
    if (node.kind == "all") == negated:
        return [each for part in parts for each in part]
    combined = [QueryAlternative()]
    for part in parts:
        combined = [left.combine(right) for left in combined for right in part]
        if len(combined) > 16 * _MAX_ALTERNATIVES:
            raise language.query_error(query, 0, "it has too many alternatives; use fewer words with OR")
    return combined


def _has_words(node: QueryNode) -> bool:
    return isinstance(node, QueryWord) or (isinstance(node, QueryGroup) and any(map(_has_words, node.parts)))


def _build_predicate(query: str, node: QueryNode, negated: bool) -> Predicate:
    if isinstance(node, QueryGroup):
        if node.kind == "not":
            return _build_predicate(query, node.parts[0], not negated)
        parts = tuple(_build_predicate(query, part, negated) for part in node.parts)
        return AllOf(parts) if (node.kind == "all") != negated else AnyOf(parts)
    assert isinstance(node, QueryField)
    condition = language.build_condition(query, node)
    return NoneOf(condition) if negated else condition


def _search_alternative(
    desk: Desk, wanted: QueryAlternative, types: list[str], window: int, mode: Mode, scores: dict[int, float]
) -> tuple[ResultMode, int]:
    """The items of one alternative into `scores`; the better score counts. Returns how it was searched, and how many
    vectors are pending."""
    predicates = (*wanted.predicates, Condition("type", "in", tuple(types))) if types else wanted.predicates
    text = " ".join(wanted.words)
    is_checked = bool(wanted.must or wanted.without)
    most = max(window, _CHECKED) if is_checked else window
    query = Query(text=text, mode=mode if text else "text", limit=most, neighbours=False)
    hits = desk.find(query, SearchFilter((MODULE_NAME,), conditions=predicates))
    found = {int(parse_address(hit.address)[1]): hit.score if text else 0.0 for hit in hits.items}
    if is_checked:
        items = fetch_items(desk, found, COLUMNS)
        found = {id: score for id, score in found.items() if id in items and _matches_texts(items[id], wanted)}
    for number, score in found.items():
        scores[number] = max(score, scores.get(number, 0.0))
    return (hits.mode, hits.pending_vectors) if text else ("filter", 0)


def _to_hit(desk: Desk, item: Item, score: float, text: str) -> ItemHit:
    snippet, _ = extract_snippet(build_text(item), text, _SNIPPET)
    return {**to_summary(desk, item), "snippet": snippet, "score": round(score, 6)}


def _matches_texts(item: Item, wanted: QueryAlternative) -> bool:
    text = _normalize_text(f"{item.title}\n{build_text(item)}")
    return all(_normalize_text(each) in text for each in wanted.must) and not any(
        _normalize_text(each) in text for each in wanted.without
    )


def _normalize_text(text: str) -> str:
    """As the index normalizes words: サーバー and ｻｰﾊﾞ are the same."""
    return " ".join(normalize(text).split())


def _rank_hints(rows: list[Row], beginning: str) -> list[Suggestion]:
    """Each text once, with how many items have it. A word that equals the query is no suggestion."""
    counts: Counter[tuple[str, HintKind]] = Counter()
    spelt: dict[tuple[str, HintKind], str] = {}
    for kind, shown in rows:
        key: tuple[str, HintKind] = (normalize_hint(shown), kind)
        counts[key] += 1
        spelt.setdefault(key, shown)
    texts: dict[str, tuple[str, HintKind]] = {}
    for key in sorted(counts, key=lambda each: (_HINT_RANK[each[1]], -counts[each], each[0])):
        texts.setdefault(key[0], key)  # a tag that is also a word is suggested once
    chosen = sorted(texts.values(), key=lambda key: (key[1] == "title", -counts[key], _HINT_RANK[key[1]], key[0]))
    return [
        {"text": spelt[key], "kind": key[1], "count": counts[key]}
        for key in chosen
        if key[0] != beginning or key[1] != "word"
    ]
