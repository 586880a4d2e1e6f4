"""search_suggest: completions of a query from tags, words and titles."""

import json
from collections import Counter
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Row
from tokonoma.modules.items.hints import MAX_HINT_LENGTH, build_hints, normalize_hint
from tokonoma.modules.items.model import MODULE_NAME

_MAX_HINTS = 2000  # of one letter there may be very many
_HINTS = """select h.kind, h.shown%COLUMNS% from item_hint h join item i on i.id = h.item_id
where h.folded >= :low and h.folded < :high and i.state >= 0 and {visible:i}%TYPES% limit :most"""

_SOURCES = ", h.folded, i.title, i.description, i.tags"

HintKind = Literal["tag", "word", "title"]
_HINT_RANK: dict[HintKind, int] = {"tag": 0, "word": 1, "title": 2}


class Suggestion(TypedDict):
    text: str
    kind: HintKind
    count: int


class Suggestions(TypedDict):
    items: list[Suggestion]
    has_more: bool


def search_suggest(
    desk: Desk,
    query: Annotated[str, Field(max_length=200)],
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Annotated[int, Field(ge=1, le=20)] = 10,
) -> Suggestions:
    """Complete a word from tags, words and titles, most frequent first."""
    beginning = normalize_hint(query)[:MAX_HINT_LENGTH]
    if not beginning:
        return {"items": [], "has_more": False}
    names = {f"type{number}": type for number, type in enumerate(types or ())}
    listed = f" and i.type in ({', '.join(f':{name}' for name in names)})" if names else ""
    is_masked = desk.call.record_masks.covers(MODULE_NAME)
    sql = _HINTS.replace("%TYPES%", listed).replace("%COLUMNS%", _SOURCES if is_masked else "")
    rows = desk.rows(sql, low=beginning, high=beginning + "\U0010ffff", most=_MAX_HINTS, **names)
    ranked = _rank_hints(_keep_visible(rows, beginning) if is_masked else rows, beginning)
    return {"items": ranked[:limit], "has_more": len(ranked) > limit}


def _keep_visible(rows: list[Row], beginning: str) -> list[Row]:
    """The hints that the texts give as this caller sees them: a stored hint may be a part of what is masked for it."""
    built: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
    kept: list[Row] = []
    for kind, shown, folded, *texts in rows:
        source = (texts[0], texts[1], texts[2])
        if source not in built:
            hints = build_hints(source[0], source[1], json.loads(source[2]))
            built[source] = {(hint.folded, hint.kind) for hint in hints}
        if folded.startswith(beginning) and (folded, kind) in built[source]:
            kept.append((kind, shown))
    return kept


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
