"""search_suggest: how a query could go on, from titles, tags and words, in Japanese as in English."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Row
from tokonoma.modules.items.hints import MAX_HINT_LENGTH, normalize_hint

_LOOKED_AT = 2000  # beginnings; of one letter there may be very many
_HINTS = """select h.kind, h.shown, h.folded from item_hint h join item i on i.id = h.item_id
where h.folded >= :low and h.folded < :high and i.state >= 0 and {visible:i}%TYPES% limit :most"""
Kind = Literal["tag", "word", "title"]
_RANK: dict[Kind, int] = {"tag": 0, "word": 1, "title": 2}


class Suggestion(TypedDict):
    text: str
    kind: Kind
    count: int


class Suggestions(TypedDict):
    items: list[Suggestion]
    has_more: bool


def search_suggest(
    desk: Desk,
    query: Annotated[str, Field(max_length=200, description="the beginning of a word, in any script or reading")],
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Annotated[int, Field(ge=1, le=20)] = 10,
) -> Suggestions:
    """Complete what is being typed: tags, words and titles that begin so, the more frequent first."""
    folded = normalize_hint(query)[:MAX_HINT_LENGTH]
    if not folded:
        return {"items": [], "has_more": False}
    names = {f"type{number}": type for number, type in enumerate(types or ())}
    listed = f" and i.type in ({', '.join(f':{name}' for name in names)})" if names else ""
    rows = desk.rows(
        _HINTS.replace("%TYPES%", listed), low=folded, high=folded + "\U0010ffff", most=_LOOKED_AT, **names
    )
    ranked = _rank_hints(rows, folded)
    return {"items": ranked[:limit], "has_more": len(ranked) > limit}


def _rank_hints(rows: list[Row], folded: str) -> list[Suggestion]:
    """Each text once, with how many items have it. What says no more than the query is no suggestion."""
    counts: Counter[tuple[str, Kind]] = Counter()
    spelt: dict[tuple[str, Kind], str] = {}
    for kind, shown, _ in rows:
        key: tuple[str, Kind] = (normalize_hint(shown), kind)
        counts[key] += 1
        spelt.setdefault(key, shown)
    texts: dict[str, tuple[str, Kind]] = {}
    for key in sorted(counts, key=lambda each: (_RANK[each[1]], -counts[each], each[0])):
        texts.setdefault(key[0], key)  # a tag that is also a word is told once
    chosen = sorted(texts.values(), key=lambda key: (key[1] == "title", -counts[key], _RANK[key[1]], key[0]))
    return [
        {"text": spelt[key], "kind": key[1], "count": counts[key]}
        for key in chosen
        if key[0] != folded or key[1] != "word"
    ]
