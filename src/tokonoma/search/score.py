"""Scoring: how well a record answers a question, from its term counts alone. One pure function for both databases."""

import math
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.search.cut import counted, length_of

FORM = 1
"""The form of the term data; a record whose data has another form is indexed anew."""

K1, B = 1.2, 0.4
COVERAGE = 0.8  # how much it matters that all of a question is there
TITLE_COUNT = 2  # a word in the title counts as so many in the body
TITLE_BONUS, TITLE_SHARE = 2.0, 0.5  # a title that is wholly in the question says more than one that is partly
_HEAD = 2


@dataclass(frozen=True, slots=True)
class Wording:
    """A record's words: what the database proposes by, and what is scored."""

    counts: Mapping[str, int]
    length: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, ready to be compared: the weight of each term by its hash."""

    terms: Mapping[int, float]
    wanted: frozenset[int]
    total: float  # the weight of all its terms, also of those that no record holds


@dataclass(frozen=True, slots=True)
class Scored:
    score: float  # what the order follows; not comparable between questions
    share: float  # 0..1, in the same order
    parts: Mapping[str, Any]


def wording_of(title: str, text: str) -> Wording:
    head, body = counted(title), counted(text)
    together = head + body
    length = TITLE_COUNT * length_of(head) + length_of(body)
    rows = sorted((hashed(token), min(255, body[token]), min(255, head[token])) for token in together)
    hashes = array("I", [row[0] for row in rows])
    if sys.byteorder == "big":
        hashes.byteswap()
    told = min(65_535, length_of(head)).to_bytes(_HEAD, "little")
    data = told + hashes.tobytes() + bytes(row[1] for row in rows) + bytes(row[2] for row in rows)
    return Wording(together, length, data)


def hashed(token: str) -> int:
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


def asked_of(weights: Mapping[str, float], frequencies: Mapping[str, int], documents: int) -> Asked:
    """`weights` of the question's tokens, in how many of the `documents` each of them occurs."""
    terms: dict[int, float] = {}
    total = 0.0
    for token, weight in weights.items():
        held = min(frequencies.get(token, 0), documents)
        value = weight * math.log(1 + (documents - held + 0.5) / (held + 0.5))
        total += value
        if held:
            terms[hashed(token)] = value
    return Asked(terms, frozenset(terms), total)


def score(
    asked: Asked, data: bytes, length: int, average: float, beside: Sequence[tuple[bytes, int]] = (), near: float = 0.0
) -> Scored:
    """BM25 times coverage, plus what the title says; neighbours (`beside`) lend `near` of each term's value."""
    held = _Held(asked, data)
    values = held.values(length, average)
    shares = dict.fromkeys(values, 1.0)
    for other, size in beside:
        for term, value in _Held(asked, other).values(size, average).items():
            values[term] = values.get(term, 0.0) + near * value
            shares.setdefault(term, near)
    body = sum(values.values())
    matched = sum(asked.terms[term] * share for term, share in shares.items())
    coverage = matched / asked.total if asked.total else 0.0
    bonus = held.title()
    result = body * coverage**COVERAGE + bonus
    share = result / (result + asked.total) if result else 0.0
    parts = {"bm25": round(body, 4), "coverage": round(coverage, 4), "title": round(bonus, 4)}
    return Scored(result, share, parts)


def proposing(frequencies: Mapping[str, int], weights: Mapping[str, float], documents: int) -> list[str]:
    """The terms that propose candidates: the rarest, until they reach about a tenth of the index."""
    room = max(2_000, documents // 10)
    chosen: list[str] = []
    for token in sorted(_held(frequencies, weights), key=lambda token: (frequencies[token], token)):
        if chosen and frequencies[token] > room:
            break
        chosen.append(token)
        room -= frequencies[token]
    return chosen


def _held(frequencies: Mapping[str, int], weights: Mapping[str, float]) -> Collection[str]:
    return [token for token in weights if frequencies.get(token)]


class _Held:
    """The question's terms that one record holds, with their places in its data."""

    __slots__ = ("_asked", "_data", "_places", "_size")

    def __init__(self, asked: Asked, data: bytes) -> None:
        self._asked, self._data = asked, data
        self._size = (len(data) - _HEAD) // 6
        hashes = array("I")
        hashes.frombytes(data[_HEAD : _HEAD + 4 * self._size])
        if sys.byteorder == "big":
            hashes.byteswap()
        # The intersection runs in C: most records hold only a few of the terms.
        self._places = [(term, bisect_left(hashes, term)) for term in asked.wanted.intersection(hashes)]

    def values(self, length: int, average: float) -> dict[int, float]:
        """Of each term its BM25 value in this record."""
        norm = K1 * (1 - B + B * length / average) if average else K1
        data, terms, bodies = self._data, self._asked.terms, _HEAD + 4 * self._size
        heads = bodies + self._size
        values: dict[int, float] = {}
        for term, at in self._places:
            count = data[bodies + at] + TITLE_COUNT * data[heads + at]
            values[term] = terms[term] * count * (K1 + 1) / (count + norm)
        return values

    def title(self) -> float:
        length = int.from_bytes(self._data[:_HEAD], "little")
        if not length:
            return 0.0
        heads = _HEAD + 5 * self._size
        there = [self._asked.terms[term] for term, at in self._places if self._data[heads + at]]
        return TITLE_BONUS * sum(there) * min(1.0, len(there) / length) ** TITLE_SHARE
