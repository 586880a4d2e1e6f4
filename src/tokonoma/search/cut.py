"""Cutting: a text becomes tokens. The same for records and questions, so that both databases only compare. Pure.

Japanese, Chinese, Korean and Thai are cut into pairs of characters, with single kanji and katakana beside them, so that
鍵 and 解約 are found. Words of alphabets are stemmed; identifiers are kept whole and split: `getUserById`, `foo_bar`.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from operator import add
from typing import cast

from snowballstemmer.english_stemmer import EnglishStemmer

from tokonoma.search.fold import fold

LONGEST = 48  # characters of a token; what is longer is told apart by its start alone

_HIRAGANA, _KATAKANA = "ぁ-ゟ", "ァ-ヺー-ヿ"
_KANJI = "\u2e80-\u2fdf々〆〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OTHERS = "ᄀ-ᇿ가-힣ก-๛ກ-ໟက-႟ក-៿"  # Hangul, Thai, Lao, Burmese, Khmer: cut into pairs as well
_PAIRED = re.compile(f"[{_HIRAGANA}{_KATAKANA}{_KANJI}{_OTHERS}]+")
_NOT_PAIRED = f"[^\\W_{_HIRAGANA}{_KATAKANA}{_KANJI}{_OTHERS}]"
_COMPOUND = re.compile(f"{_NOT_PAIRED}+(?:[-_./:@'+#&\\\\]+{_NOT_PAIRED}+)*")
_PARTS = re.compile(r"[-_./:@'+#&\\]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NUMBERED = re.compile(f"([{_KANJI}])(\\d+)|(\\d+)([{_HIRAGANA}{_KATAKANA}{_KANJI}])")
_SINGLE = re.compile(f"[^{_HIRAGANA}ー]")
_IS_HIRAGANA = re.compile(f"[{_HIRAGANA}]")
_IS_KATAKANA = re.compile(f"[{_KATAKANA}]")

_STOP_WORDS = """
a an the and or but if then of in on at by for with from to into onto as is am are was were be been being do does did
done doing have has had having i me my mine we us our ours you your yours he him his she her hers it its they them their
theirs this that these those what which who whom whose when where why how not no nor so than too very can could will
would shall should may might must there here about up down out over under again some any each all both few more most
other such only own same just also s t d ll m re ve don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn
haven hadn
"""
_STOPPED = frozenset(_STOP_WORDS.split())

_stemmer = EnglishStemmer()


@lru_cache(100_000)
def stemmed(word: str) -> str:
    return cast("str", _stemmer.stemWord(word))[:LONGEST]  # pyright: ignore[reportUnknownMemberType] - no types


def counted(text: str) -> Counter[str]:
    """A record's tokens and how often each occurs."""
    found: Counter[str] = Counter()
    for compound in _COMPOUND.findall(_humped(text)):
        found.update(_words(compound))
    folded = fold(text)
    for run in _PAIRED.findall(folded):
        found.update(map(add, run, run[1:]))
        found.update(_SINGLE.findall(run))
    found.update("".join(part) for part in _NUMBERED.findall(folded))
    return found


def weighed(text: str) -> dict[str, float]:
    """A question's tokens and how much each matters. What tells nothing is left out, unless there is nothing else."""
    tokens = counted(text[:20_000])
    weights = {token: weight for token in tokens if (weight := weight_of(token))}
    return weights or dict.fromkeys(tokens, 1.0)


def length_of(tokens: Counter[str]) -> int:
    """How long a text is, in the tokens that make up its length: words and pairs, not what is cut out of them again."""
    return sum(count for token, count in tokens.items() if len(token) > 1 or token.isascii())


def weight_of(token: str) -> float:
    first = token[0]
    if not _PAIRED.match(first) or len(token) > 2:
        return 0.0 if token in _STOPPED else 1.0
    hiragana = [_IS_HIRAGANA.match(letter) is not None for letter in token]
    if len(token) == 1:
        return 0.0 if hiragana[0] else 0.5 if _IS_KATAKANA.match(token) else 0.7
    return 0.0 if all(hiragana) else 0.4 if any(hiragana) else 1.0


def _humped(text: str) -> str:
    """Folded in width but not in case: the humps of `getUserById` must still be seen."""
    return unicodedata.normalize("NFKC", text).replace("’", "'")


@lru_cache(50_000)
def _words(compound: str) -> tuple[str, ...]:
    """A compound's tokens: each word of it stemmed, the parts of humped words, and itself."""
    if compound.endswith(("'s", "'S")):
        compound = compound[:-2]
    found: list[str] = []
    segments = [segment for segment in _PARTS.split(compound) if segment]
    for segment in segments:
        found.append(_word(segment))
        humps = _HUMPS.findall(segment)
        if 1 < len(humps) <= 20:
            found += [_word(hump) for hump in humps]
    if len(segments) > 1:
        found.append(fold(compound)[:LONGEST])
        joined = fold("".join(segments))
        if joined.isalpha():
            found.append(stemmed(joined[:LONGEST]))
    return tuple(token for token in found if token)


def _word(word: str) -> str:
    folded = fold(word)[:LONGEST]
    return folded if not folded.isalpha() else stemmed(folded)
