"""How Japanese words are read, where Sudachi is installed (`pip install 'tokonoma[sudachi]'`): 見積 is also 見積もり
and みつもり, 申込書 is 申し込み書, 附属 is 付属. Without it nothing here finds anything.

Words that only sound alike are not one: 期間 and 機関 are both きかん. Two words are the same if the dictionary gives
them one normal form, or if they sound alike and have the same kanji, or if one of them is written in kana.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from tokonoma.core.normalize import HAN, normalize

EXTRA = "sudachi"
_PACKAGES = ("sudachipy", "sudachidict_core")
_RUNS = re.compile(f"[{HAN}][{HAN}ぁ-ん]{{0,20}}")
_KANJI = re.compile(f"[{HAN}]")
_JAPANESE = re.compile(f"[{HAN}ぁ-んァ-ヺー]+\\Z")
_KATAKANA = {code: code + 0x60 for code in range(ord("ぁ"), ord("ゖ") + 1)}
# What joins words and is none of them.
_BETWEEN = frozenset({"助詞", "助動詞", "記号", "補助記号", "空白", "接続詞", "感動詞"})
_MIN_READING = 4  # kana of a reading that is looked for as such: shorter ones stand inside other words
_MAX_PARTS = 4  # of a compound
_MAX_SPELLINGS = 20  # other spellings of one word


class JapaneseWord(NamedTuple):
    surface: str
    reading: str
    normal: str


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in _PACKAGES)


class Readings:
    """The words of a text by how they are read and by their normal form."""

    def __init__(self, text: str) -> None:
        self._alike: dict[str, dict[str, None]] = {}
        for run in sorted(set(_RUNS.findall(text))):
            for word in _iter_words(_morphemes(run)):
                for key in {word.reading, word.normal}:
                    self._alike.setdefault(key, {})[word.surface] = None

    def find_spellings(self, folded: str) -> list[str]:
        """The other spellings of a word that this text has, and how it is read."""
        word = _parse_compound(folded)
        if word is None:
            return []
        found = [other for key in (word.normal, word.reading) for other in self._alike.get(key, ())]
        same = [other for other in dict.fromkeys(found) if other != folded and _is_same(word, other)]
        if _KANJI.search(folded) and len(word.reading) >= _MIN_READING:
            same.insert(0, word.reading)
        return same[:_MAX_SPELLINGS]


def _is_same(word: JapaneseWord, other: str) -> bool:
    kanji, others = _KANJI.findall(word.surface), _KANJI.findall(other)
    if not kanji or kanji == others:
        return True
    read = _parse_compound(other)
    return read is not None and read.normal == word.normal


@lru_cache(maxsize=4096)
def _parse_compound(folded: str) -> JapaneseWord | None:
    """One word, or a compound without anything between its parts."""
    if not _JAPANESE.match(folded) or len(folded) > 20:
        return None
    morphemes = _morphemes(folded)
    whole = _join_words([word for word, _ in morphemes])
    if not _KANJI.search(folded):  # it says itself how it is read, even if the dictionary takes it apart
        return whole._replace(reading=normalize(folded.translate(_KATAKANA)))
    return None if len(morphemes) > _MAX_PARTS or any(between for _, between in morphemes) else whole


def _iter_words(morphemes: Iterable[tuple[JapaneseWord, bool]]) -> Iterator[JapaneseWord]:
    """Each word by itself, and what stands together as one."""
    together: list[JapaneseWord] = []
    for word, between in (*morphemes, (JapaneseWord("", "", ""), True)):
        if not between:
            yield word
            together.append(word)
            continue
        if 1 < len(together) <= _MAX_PARTS:
            yield _join_words(together)
        together = []


def _join_words(words: Sequence[JapaneseWord]) -> JapaneseWord:
    return JapaneseWord(*("".join(parts) for parts in zip(*words, strict=True)))


_lock = threading.Lock()  # one tokenizer serves one thread at a time


def _morphemes(text: str) -> list[tuple[JapaneseWord, bool]]:
    """The words of a text, and whether each is only something between words."""
    with _lock:
        return [
            (
                JapaneseWord(each.surface(), normalize(each.reading_form()), normalize(each.normalized_form())),
                each.part_of_speech()[0] in _BETWEEN,
            )
            for each in _tokenizer().tokenize(text)
        ]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return import_module(_PACKAGES[0]).Dictionary(dict="core").tokenizer()
