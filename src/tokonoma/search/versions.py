"""What shows whether a note is a later version of another. Pure.

How alike two notes are is their cosine and the share of rare words that both hold. Which of two hits is an answer to
the question says more: VersionSigns in tuning.py names what is looked at.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from operator import mul
from typing import NamedTuple

from tokonoma.search.text.tokenize import hash_term, tokenize
from tokonoma.search.tuning import TUNING, VersionSigns

Cosines = Mapping[int, Mapping[int, float]]
"""How near two documents are, by their ids; one without a vector is missing."""

_CHANGE = """
anymore cancel change correction delay drop extend instead longer migrate move new now postpone push raise rebook reduce
rename replace reschedule retire revise shift swap switch transfer update upgrade →
変更 変わ 替え 換え 替わ 代わ 移っ 移し 移る 移動 異動 転勤 延期 延長 短縮 前倒 繰上 訂正 修正 改定 改訂 取消 中止 廃止
切替 乗換 引上 引下 値上 値下 やめ なっ はな ゃな り直 き直 け直 し直 い直 見直
"""
"""Words by which people say that something is no longer as it was; in Japanese pairs of characters, as in the index.
Words that mean it only now and then (next, start, stop, 更新, にし) are left out."""


class NoteVersion(NamedTuple):
    """What shows whether a hit is another version of a note."""

    id: int
    at: int  # when it was written
    place: Hashable  # only notes of one module and namespace are versions of each other
    terms: frozenset[int]
    language: str
    date_factor: float = 1.0  # below 1 where the question names another time
    coverage: float = 1.0  # the share of the question's words that it holds
    rank: int = 0  # among the hits, from 0 on


class PairReader:
    """Compares the notes among the hits of one search. `levels`: of all hits, how near they are to the question."""

    def __init__(self, notes: Sequence[NoteVersion], cosines: Cosines, levels: Mapping[int, float]) -> None:
        self._notes, self._cosines, self._levels = notes, cosines, levels
        self._asked = _find_asked(levels)
        self._weights = _weigh_terms(notes)
        self._totals = {note.id: sum([self._weights[term] for term in note.terms]) for note in notes}
        self._shared: dict[tuple[int, int], float] = {}

    def get_shared(self, one: NoteVersion, other: NoteVersion) -> float:
        """The share of the smaller one's words that both have, by what they weigh."""
        key = (one.id, other.id) if one.id < other.id else (other.id, one.id)
        if key not in self._shared:
            weight = sum([self._weights[term] for term in one.terms & other.terms])
            self._shared[key] = weight / (min(self._totals[one.id], self._totals[other.id]) or 1.0)
        return self._shared[key]

    def compare(self, one: NoteVersion, other: NoteVersion) -> float:
        """Where there is no vector, words count twice."""
        shared = self.get_shared(one, other)
        return shared + get_cosine(one, other, self._cosines, shared)

    def find_closest(self, older: NoteVersion, newer: NoteVersion) -> float:
        """How like another note one of them is."""
        others = [each for each in self._notes if each not in (older, newer) and each.place == newer.place]
        return max((self.compare(each, note) for each in others for note in (older, newer)), default=0.0)

    def read(self, older: NoteVersion, newer: NoteVersion) -> VersionSigns:
        shared, likeness = self.get_shared(older, newer), self.compare(older, newer)
        changed = float(names_change(older, newer))
        constant, of_shared = TUNING.guessed_cosine
        return VersionSigns(
            get_cosine(older, newer, self._cosines, constant + of_shared * shared),
            shared,
            changed,
            changed * likeness,
            self._levels.get(newer.id, 0.0) - self._levels.get(older.id, 0.0),
            newer.coverage - older.coverage,
            max(self.find_closest(older, newer) - likeness, 0.0),
            max(self._levels.values(), default=0.0),
            newer.rank - older.rank,
            math.log((len(newer.terms) or 1) / (len(older.terms) or 1)),
            float(self._asked == {older.id, newer.id}),
            1.0,
        )


def weigh_versions(signs: VersionSigns) -> float:
    """From 0 on the newer one had better come first."""
    return sum(map(mul, signs, TUNING.version_signs))


def get_cosine(one: NoteVersion, other: NoteVersion, cosines: Cosines, missing: float) -> float:
    return cosines.get(one.id, {}).get(other.id, missing)


def _find_asked(levels: Mapping[int, float]) -> set[int]:
    """The two hits that are nearest to the question, if both are near it at all; else none."""
    nearest = sorted(levels, key=levels.__getitem__, reverse=True)[:2]
    return set(nearest) if len(nearest) == 2 and levels[nearest[1]] >= TUNING.version_level else set()


def names_change(older: NoteVersion, newer: NoteVersion) -> bool:
    return not _list_change_terms().isdisjoint(newer.terms - older.terms)


def _weigh_terms(notes: Sequence[NoteVersion]) -> dict[int, float]:
    """Rare words say more of what a note is about. How rare they are shows among the hits, as if there were more."""
    counted = Counter(term for note in notes for term in note.terms)
    many = len(notes) + TUNING.version_prior
    return {term: math.log(1.0 + many / count) for term, count in counted.items()}


@cache
def _list_change_terms() -> frozenset[int]:
    # `~` ends the token of a family of words; of a pair of characters, the pair itself is meant.
    tokens = (max((each for each in tokenize(word).counts if each[-1] != "~"), key=len) for word in _CHANGE.split())
    return frozenset(map(hash_term, tokens))
