"""Which language a text is in, and how much words and vectors count for a question and a record. Pure.

Between two languages words can only share names; there vectors decide. Within one language words are the better witness
wherever they are sure of themselves, and vectors decide among what words leave equal, or did not know at all. How sure
words are shows in their own scores: in the best one, and in how far the fifth falls behind it.

Chosen on several collections at once, without a switch for any (docs/adr/0014-builtin-embedder.md).
"""

import re
from collections.abc import Sequence
from typing import Literal

from tokonoma.search.fuse import Weights

Language = Literal["ja", "en", "other"]

_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺー々一-鿿㐀-䶿]")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]")
_LOOKED_AT = 2_000  # letters from the beginning of a text
_SHARE = 0.1  # Japanese manuals are full of English names; an English text that quotes Japanese stays below

_ACROSS_WORDS, _ACROSS_VECTORS = 0.3, 0.9
_UNDECIDED = 0.3  # what vectors count for where the fifth is as good as the best
_LEAST = 0.05  # never nothing: what only vectors know must still be found
_LOST = 0.6  # what vectors count for where words found nothing to speak of
_WEAK, _SURE = 0.1, 0.4  # the best score of words, from which they are listened to, and from which they are trusted
_FIFTH = 4


def language_of(text: str) -> Language:
    start = text[:_LOOKED_AT]
    japanese, latin = len(_JAPANESE.findall(start)), len(_LATIN.findall(start))
    if japanese >= _SHARE * (japanese + latin) and japanese:
        return "ja"
    return "en" if latin else "other"


def across(asked: Language, held: Language) -> bool:
    """Whether the two are known to be different languages."""
    return "other" not in (asked, held) and asked != held


def weights_for(asked: Language, held: Language, levels: Sequence[float], base: Weights | None = None) -> Weights:
    """`levels`: what words gave the candidates of this question, between 0 and 1, best first. Words always keep their
    full weight within a language: a vector can raise a record, and never push down what words have found."""
    base = base or Weights()
    if across(asked, held):
        return Weights(_ACROSS_WORDS, _ACROSS_VECTORS, base.unrelated, base.same)
    return Weights(1.0, round(_within(levels), 4), base.unrelated, base.same)


def _within(levels: Sequence[float]) -> float:
    best = levels[0] if levels else 0.0
    fifth = levels[_FIFTH] if len(levels) > _FIFTH else 0.0
    trust = min(max((best - _WEAK) / (_SURE - _WEAK), 0.0), 1.0)
    undecided = (fifth / best) ** 2 if best > 0 else 1.0
    return (1.0 - trust) * _LOST + trust * max(_UNDECIDED * undecided, _LEAST)
