"""Text → tokens, the same for documents and for questions. Pure; linear in the text's length.

Japanese, Chinese, Korean and Thai are cut into pairs of neighbouring characters, with single kanji, katakana and hangul
beside them, so that words of one and two characters are found. Kana enter by their sound (りんご/リンゴ). Scripts with
spaces are cut into words (words.py)."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from operator import add
from typing import NamedTuple

from tokonoma.core.normalize import HAN, HANGUL, HIRAGANA, KATAKANA, OKURIGANA, SOUNDS, normalize_case
from tokonoma.search.scripts import Token, tokenize_word, tokenize_word_texts

_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eff\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer: no spaces
_PAIRED = f"{HAN}{HIRAGANA}{KATAKANA}{HANGUL}{_THAI}"
_RUN = re.compile(f"[{_PAIRED}]+")
# Letters and digits of any other script; vowel signs of India are marks, which \\w leaves out.
_LETTER = rf"(?:[^\W_{_PAIRED}]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0980-\u0dff])"
_WORD = re.compile(rf"{_LETTER}+(?:[-_.'/\\:@=&?#%~+]{{1,3}}{_LETTER}+)*(?:[+#]{{1,2}}(?![\w+#]))?")
_SIGN = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
_COUNTED = re.compile(rf"([0-9]+)([{HAN}{KATAKANA}])")  # 3条, 1947年
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NOT_ALONE = re.compile(f"[{HIRAGANA}ー{_THAI}]+")  # characters that mean nothing by themselves
_NEVER_ALONE = frozenset({"soft", "bar", "thai"})
_SKIPPED = re.compile(f"(?=([{HAN}])[{OKURIGANA}]([{HAN}]))")


# What a term of each kind weighs in a question.
_WEIGHTS = {
    "word": 1.0,
    "number": 1.0,
    "counted": 1.0,
    "whole": 1.0,
    "sign": 1.0,
    "part": 0.5,
    "family": 0.3,
    "stop": 0.0,
    "pair": 1.0,
    "mixed": 0.4,  # half grammar: を食
    "soft": 1.0,
    "han": 0.7,
    "katakana": 0.5,
    "hangul": 0.5,
}
# How steeply a frequent term falls off (score.py). Hiragana alone is grammar where it is frequent, a word where rare.
_STEEP, _STEEP_SOFT = 0.2, 2.0


class TokenCounts(NamedTuple):
    counts: Counter[str]
    length: int


class WeightedTerm(NamedTuple):
    """A token of a question. A weight of 0 means: it need not be looked up."""

    text: str
    weight: float
    steep: float = _STEEP


def tokenize(text: str) -> TokenCounts:
    """A document's tokens with their counts, and its length in words."""
    text = _normalize_text(text)
    words = _WORD.findall(text)
    found = [*chain.from_iterable(map(tokenize_word_texts, words)), *_SIGN.findall(text)]
    runs = _RUN.findall(text)
    if not runs:
        return TokenCounts(Counter(found), len(words))
    joined = "\n".join(runs)
    found += map("".join, _COUNTED.findall(text))
    found += map("".join, _SKIPPED.findall(joined))
    for sound in joined.translate(SOUNDS).split("\n"):
        found += map(add, sound, sound[1:])
    found += _NOT_ALONE.sub("", joined).translate(SOUNDS).replace("\n", "")
    found += (run.translate(SOUNDS) for run in runs if len(run) == 1 and _NOT_ALONE.match(run))
    return TokenCounts(Counter(found), len(words) + _measure_runs(joined, len(runs)))


def parse_query_terms(text: str) -> list[WeightedTerm]:
    """A question's tokens with their weights. If all are stop words, they count after all."""
    found: dict[str, WeightedTerm] = {}
    for token, kind in _tokenize_query(text):
        term = WeightedTerm(token, _WEIGHTS[kind], _STEEP if kind != "soft" else _STEEP_SOFT)
        found[token] = max(found.get(token, term), term, key=_term_strength)
    if not any(term.weight for term in found.values()):
        return [WeightedTerm(token, 1.0) for token in found]
    return list(found.values())


def _term_strength(term: WeightedTerm) -> tuple[float, float]:
    return term.weight, -term.steep


def _tokenize_query(text: str) -> Iterator[Token]:
    text = _normalize_text(text)
    yield from chain.from_iterable(map(tokenize_word, _WORD.findall(text)))
    yield from (Token(sign, "sign") for sign in _SIGN.findall(text))
    yield from (Token(left + right, "counted") for left, right in _COUNTED.findall(text))
    yield from chain.from_iterable(map(_tokenize_run, _RUN.findall(text)))


def _normalize_text(text: str) -> str:
    text = normalize_case(text)
    return _THOUSANDS.sub("", text) if "," in text else text


def _measure_runs(joined: str, runs: int) -> int:
    """Pairs, less those of hiragana alone."""
    soft = _NOT_ALONE.findall(joined)
    return max(1, len(joined) - 2 * runs + 1 - sum(map(len, soft)) + len(soft))


def _tokenize_run(run: str) -> Iterator[Token]:
    sound = run.translate(SOUNDS)
    kinds = [*map(_classify_character, run)]
    if len(run) == 1 and kinds[0] in _NEVER_ALONE:
        yield Token(sound, "pair")
    for place in range(len(run) - 1):
        soft = (kinds[place] == "soft") + (kinds[place + 1] == "soft")
        yield Token(sound[place : place + 2], ("pair", "mixed", "soft")[soft])
    for left, right in _SKIPPED.findall(run):
        yield Token(left + right, "pair")
    for character, kind in zip(sound, kinds, strict=True):
        if kind not in _NEVER_ALONE:
            yield Token(character, kind)


def _classify_character(character: str) -> str:
    if "\u3041" <= character <= "\u309f":
        return "soft"
    if "\u30a1" <= character <= "\u30ff":
        return "katakana" if character != "ー" else "bar"
    if "\uac00" <= character <= "\ud7a3":
        return "hangul"
    return "thai" if _NOT_ALONE.match(character) else "han"
