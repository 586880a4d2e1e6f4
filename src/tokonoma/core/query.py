"""Queries to the shared index, their hits, and the snippet of a text that answers a query."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Literal, NamedTuple

from tokonoma.core.desk import Classification

Mode = Literal["hybrid", "text", "vector"]
Metric = Literal["cosine", "l2"]
Operator = Literal["is", "in", "contains", "prefix", "between", "exists"]
Scalar = str | float | bool

_QUERY_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SNIPPET_STEP = 200


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact of a record. `between` takes (low, high), None for an open end; `exists` takes (True,) or (False,)"""

    key: str  # nested keys joined by dots
    operator: Operator
    values: tuple[Scalar | None, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these; none: always true."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these at least; none: never true."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The opposite: a record without the fact passes too."""

    part: "Predicate"


Predicate = Condition | AllOf | AnyOf | NoneOf


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Filters inside the query, before anything is ranked. The desk adds the caller's scope."""

    modules: tuple[str, ...] = ()  # none: all
    namespace: str | None = None  # this one and those below it
    conditions: tuple[Predicate, ...] = ()
    since: int | None = None  # milliseconds, of the record's own time
    until: int | None = None
    classifications: tuple[Classification, ...] | None = None  # None: all that the caller may see
    valid_at: int | None = None  # milliseconds: only what held then
    thread: str | None = None  # only records of this thread


@dataclass(frozen=True, slots=True)
class Query:
    text: str = ""
    pivot: str | None = None  # search with the vector of the record at this address, instead of a text
    mode: Mode = "hybrid"
    metric: Metric = "cosine"
    limit: int = 10
    after: tuple[int, int] | None = None  # without text and pivot: go on after `Hits.last` of the page before
    min_similarity: float | None = None  # similarity below which a vector hit does not count
    min_score: float | None = None  # hits with a lower score are left out
    neighbours: bool = True  # two records on each side in the same thread raise the score
    boost_dates: bool = False  # prefer records whose own time is named in the text
    # Modules whose notes may correct each other: the newer one comes first, and what holds no longer stands behind.
    newer_first_in: tuple[str, ...] = ()
    half_life: float | None = None  # days after which a record counts half; None: age does not matter
    wait_for_embedding: bool = True  # first embed what was just saved, if that is quick
    explain: bool = False  # return the parts of each score
    expect: str | None = None  # an address: if it is not among the hits, return the reason


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What the caller may search: namespaces below its root, and the classifications that the policy allows."""

    root: str
    classifications: tuple[Classification, ...]
    private: bool = False  # also words and facts that are hidden from others


@dataclass(frozen=True, slots=True)
class Hit:
    address: str
    module: str
    namespace: str
    title: str
    score: float  # 0..1; what the order follows
    text_score: float | None = None
    similarity: float | None = None  # of the vectors, by the query's metric
    score_parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # with `explain`
    at: int = 0  # the record's own time, in milliseconds
    # With `newer_first_in`: the address of a record that replaces it, or of a newer one that says the same.
    superseded_by: str | None = None
    valid_from: int | None = None  # with `newer_first_in`, if it does not hold now
    valid_until: int | None = None


class LikeRecord(NamedTuple):
    """A record that is like another."""

    address: str
    author: str
    cosine: float  # how near it is in meaning
    likeness: float  # the same, and the share of rare words that both hold


@dataclass(frozen=True, slots=True)
class Hits:
    items: Sequence[Hit]
    mode: Mode  # as executed: hybrid becomes text where there are no vectors
    why_not: str | None = None  # with `expect`: not indexed, filtered (by what), not yet embedded, below the line
    pending_vectors: int = 0  # records that have no vector yet
    last: tuple[int, int] | None = None  # without text and pivot: where this page ends, if there may be another one


def extract_snippet(text: str, query: str, size: int) -> tuple[str, bool]:
    """The text and whether it was cut: short texts whole, else the window of `size` characters that fits best."""
    if len(text) <= size:
        return text, False
    terms = _split_query(query)
    if not terms:
        return text[:size], True
    start = _find_window(_fold(text), terms, size)
    return text[start : start + size], True


def find_terms(text: str, query: str) -> list[tuple[int, int]]:
    """Where the words of a query are in a text: places that do not touch, in order."""
    folded = _fold(text)
    spans: list[tuple[int, int]] = []
    found = (
        (match.start(), match.end())
        for term in _split_query(query)
        for match in re.finditer(rf"(?<![^\W_]){re.escape(term)}" if term.isascii() else re.escape(term), folded)
    )
    for start, end in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _fold(text: str) -> str:
    """Without upper case, every letter in its place: a few grow when they are folded."""
    return next((each for each in (text.casefold(), text.lower()) if len(each) == len(text)), text)


def _split_query(query: str) -> set[str]:
    """Search terms: whole words in ASCII, else pairs of characters, because words may not be separated."""
    terms: set[str] = set()
    for word in _QUERY_WORDS.findall(query.casefold()[:2000]):
        terms.update([word] if word.isascii() or len(word) <= 2 else map("".join, pairwise(word)))
    return terms


def _find_window(text: str, terms: set[str], size: int) -> int:
    """The start of the window with the most different terms; the first of equals."""
    matches = ((found.start(), term) for term in terms for found in re.finditer(re.escape(term), text))
    places = sorted(islice(matches, 20_000))
    best, most, low, inside = 0, 0, 0, dict[str, int]()
    for place, term in places:
        inside[term] = inside.get(term, 0) + 1
        while places[low][0] < place - size + _SNIPPET_STEP:
            left = places[low][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            low += 1
        if len(inside) > most:
            best, most = places[low][0], len(inside)
    return max(0, min(best - _SNIPPET_STEP // 4, len(text) - size))
