"""Which language a text is in, and how much words and vectors count for a question and a record. Pure.

Between two languages words can only share names; there vectors decide. Within one language words are the better witness
wherever they are sure of themselves, and vectors decide among what words leave equal, or did not know at all. How sure
words are shows in their own scores: in the best one, and in how far the fifth falls behind it. How sure vectors are
shows in how far the nearest stands out from the twentieth.

Chosen on several collections at once, without a switch for any (docs/adr/0018-words-and-vectors.md).
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from tokonoma.search.fusion import FusionWeights

Language = Literal["ja", "en", "other"]

_KNOWN = ("ja", "en")
_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺー々一-鿿㐀-䶿]")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]")
_READ = 2_000  # letters from the beginning of a text
_SHARE = 0.1  # Japanese manuals are full of English names; an English text that quotes Japanese stays below

_ACROSS_WORDS, _ACROSS_VECTORS = 0.2, 0.95
_MOST = 0.95  # what vectors, or titles, can weigh within a language
_WEAK, _SURE = 0.08, 0.35  # the best score of words, from which they are listened to, and from which they are trusted
_FIFTH = 4
NEAREST_COMPARED = 20
"""Of the nearest: the last of them is what the first is compared with."""

_OUT, _RAISED = 0.75, 4.5  # standing out so far, the nearest is told apart; then vectors weigh so much more
_DESPITE = 0.2  # of that, what is left where words are trusted
_TURN = 0.15  # at most, for vectors: a turn says little by itself, and the words of those around it are known already


class _WithinLanguage(NamedTuple):
    """What vectors, or titles, count for within a language."""

    undecided: float  # where the fifth is as good as the best
    steep: int  # how fast that falls as the fifth falls behind
    least: float  # never nothing: what only vectors know must still be found
    lost: float  # where words found nothing to speak of


_VECTORS, _TITLES = _WithinLanguage(0.1, 8, 0.03, 0.65), _WithinLanguage(0.4, 1, 0.05, 0.2)


def detect_language(text: str) -> Language:
    start = text[:_READ]
    japanese, latin = len(_JAPANESE.findall(start)), len(_LATIN.findall(start))
    if japanese >= _SHARE * (japanese + latin) and japanese:
        return "ja"
    return "en" if latin else "other"


def is_cross_language(asked: str, held: str) -> bool:
    """Whether the two are known to be different languages."""
    return asked != held and asked in _KNOWN and held in _KNOWN


class QueryWeighting:
    """For one question. `levels`: what words gave its candidates, between 0 and 1, best first; `nearest`: how similar
    the LOOKED_AT nearest by vectors are, best first."""

    def __init__(
        self, asked: Language, levels: Sequence[float], nearest: Sequence[float] = (), base: FusionWeights | None = None
    ) -> None:
        self.query_language = asked
        self._base = base or FusionWeights()
        trust = _text_confidence(levels)
        raised = 1.0 + _RAISED * _vector_confidence(nearest) * (1.0 - (1.0 - _DESPITE) * trust)
        vectors, titles = (
            round(min(raised * _weigh_within_language(part, trust, levels), _MOST), 4) for part in (_VECTORS, _TITLES)
        )
        self._within = self._base._replace(words=1.0, vectors=vectors, titles=titles)
        self._turn = self._within._replace(vectors=min(vectors, _TURN))

    def choose_weights(self, held: str, coverage: float, *, turn: bool = False) -> FusionWeights:
        """Of a record in this language that holds so much of the question. Within a language words keep their full
        weight: a vector can raise a record, and never push down what words have found. So they do between languages
        where the words are all there, as names are. `turn`: it is one of a thread."""
        if not is_cross_language(self.query_language, held):
            return self._turn if turn else self._within
        words = _ACROSS_WORDS + (1.0 - _ACROSS_WORDS) * coverage
        return self._base._replace(words=round(words, 4), vectors=_ACROSS_VECTORS, titles=0.0)


def _text_confidence(levels: Sequence[float]) -> float:
    """0: words know nothing; 1: they know what they say."""
    best = levels[0] if levels else 0.0
    return min(max((best - _WEAK) / (_SURE - _WEAK), 0.0), 1.0)


def _weigh_within_language(part: _WithinLanguage, trust: float, levels: Sequence[float]) -> float:
    fifth = levels[_FIFTH] if len(levels) > _FIFTH else 0.0
    ratio = fifth / levels[0] if trust else 1.0
    return (1.0 - trust) * part.lost + trust * max(part.undecided * ratio**part.steep, part.least)


def _vector_confidence(nearest: Sequence[float]) -> float:
    """0: all are about as near as each other; 1: one is plainly meant."""
    if not nearest:
        return 0.0
    return min(max((nearest[0] - nearest[-1]) / _OUT, 0.0), 1.0)
