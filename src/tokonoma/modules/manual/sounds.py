"""Japanese and English words that are one word: by the sound of katakana, and by the reading of kanji.

コンテナ is container, サイドカー is sidecar: both are reduced to their consonants. Vowels differ too much between
the two spellings, so short words are not compared at all.

見積 is also 見積もり and みつもり, 申込書 is 申し込み書, 附属 is 付属: this needs Sudachi
(`pip install 'tokonoma[sudachi]'`); without it no readings are found. Words that only sound alike are not one: 期間 and
機関 are both きかん. Two words are the same if the dictionary gives them one normal form, if they sound alike and have
the same kanji, or if one is in kana.
"""

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

from tokonoma.core.normalize import HAN, normalize

MIN_CONSONANTS = 3
"""Consonants that a word needs to be compared: with fewer, too many words sound alike. Parts of a longer name may have
fewer, because the whole name must be in the text."""

_ROWS = {
    "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サスセソツ", "S": "シ", "z": "ザズゼゾヅ", "J": "ジヂ", "t": "タテト",
    "T": "チ", "d": "ダデド", "n": "ナニヌネノン", "h": "ハヒヘホ", "f": "フ", "b": "バビブベボ", "p": "パピプペポ",
    "m": "マミムメモ", "r": "ラリルレロ", "w": "ワヲ",
}  # fmt: skip
_SOUND = {kana: row for row, kanas in _ROWS.items() for kana in kanas}
_KANA = re.compile("[ァ-ヺー]{2,}")
_LATIN = re.compile("(?<![a-z0-9])[a-z]{3,}")
_DOUBLE = re.compile(r"(.)\1+")
_NASAL = re.compile("m(?=[pb])")  # テンプレート, template
_SOFT_G = re.compile("g(?=[eiy])")
_ROUND_H = re.compile("(?<![a-z])h(?=oo|u)")
_TWO = (
    (re.compile("シ[ャュョェ]"), "S"), (re.compile("チ[ャュョェ]"), "T"), (re.compile("ジ[ャュョェ]"), "J"),
    (re.compile("[ティ]ィ|ティ|トゥ"), "t"), (re.compile("ディ|ドゥ|デュ"), "d"), (re.compile("フ[ァィェォュ]"), "f"),
    (re.compile("ヴ[ァィェォ]?"), "b"), (re.compile("クォ|クァ|クィ|クェ"), "k"), (re.compile("ウ[ィェォ]"), "w"),
    (re.compile("ツ[ァィェォ]"), "s"),
)  # fmt: skip
# English spellings, longest first; the remaining vowels, w, y and silent letters are dropped.
_ENGLISH = (
    ("tion", "Sn"), ("sion", "Jn"), ("cious", "Ss"), ("tious", "Ss"), ("tch", "T"), ("sch", "sk"), ("dge", "J"),
    ("ture", "Tr"), ("ch", "T"), ("sh", "S"), ("ph", "f"), ("th", "s"), ("gh", ""), ("kn", "n"), ("wr", "r"),
    ("ck", "k"), ("qu", "k"), ("x", "ks"), ("ce", "s"), ("ci", "s"), ("cy", "s"), ("ge", "J"), ("gi", "J"),
    ("gy", "J"), ("c", "k"), ("q", "k"), ("l", "r"), ("v", "b"), ("j", "J"),
)  # fmt: skip
_ENGLISH_SIGN = re.compile("|".join(re.escape(sign) for sign, _ in _ENGLISH))
_ENGLISH_SOUND = dict(_ENGLISH)
_SILENT = re.compile("[aeiouwy]|(?<![a-zA-Z])h")
# An r before a consonant or at the end is a long vowel in katakana: server → サーバ, port → ポート.
_LONG_R = re.compile("(?<=[aeiou])r(?![aeiou])")
# Voicing differs between the two (バッグ/bag, ベッド/bed), and so do s and z.
_ALIKE = str.maketrans({"z": "s", "S": "s", "J": "s", "T": "t", "h": "", "w": "", "v": "b", "G": "g"})

_VOWELS = "aiueo"
_CHANGED, _ADDED = 0.3, 0.15  # the cost of a different vowel, and of one that only katakana needs
_COLUMNS = {
    "a": "アカガサザタダナハバパマヤラワ", "i": "イキギシジチヂニヒビピミリ", "u": "ウクグスズツヅヌフブプムユルヴ",
    "e": "エケゲセゼテデネヘベペメレ", "o": "オコゴソゾトドノホボポモヨロヲ",
}  # fmt: skip
_VOWEL = {kana: vowel for vowel, kanas in _COLUMNS.items() for kana in kanas}
_SMALL = {"ァ": "a", "ャ": "a", "ヮ": "a", "ィ": "i", "ゥ": "u", "ュ": "u", "ェ": "e", "ォ": "o", "ョ": "o"}
_SAME = str.maketrans({"z": "s", "S": "s", "J": "s", "T": "t", "v": "b", "G": "g", "f": "h"})

EXTRA = "sudachi"
_PACKAGES = ("sudachipy", "sudachidict_core")
_RUNS = re.compile(f"[{HAN}][{HAN}ぁ-ん]{{0,20}}")
_KANJI = re.compile(f"[{HAN}]")
_JAPANESE = re.compile(f"[{HAN}ぁ-んァ-ヺー]+\\Z")
_TO_KATAKANA = {code: code + 0x60 for code in range(ord("ぁ"), ord("ゖ") + 1)}
# Parts of speech between words.
_BETWEEN = frozenset({"助詞", "助動詞", "記号", "補助記号", "空白", "接続詞", "感動詞"})
_MIN_READING = 4  # kana of a reading that is searched as such: shorter ones are parts of other words
_MAX_PARTS = 4  # of a compound
_MAX_SPELLINGS = 20  # other spellings of one word


@lru_cache(maxsize=65_536)
def katakana_consonants(word: str) -> str:
    """The consonants of a katakana word."""
    for pattern, sound in _TWO:
        word = pattern.sub(sound, word)
    return _reduce_sounds(
        "".join(character if character.isascii() else _SOUND.get(character, "") for character in word)
    )


@lru_cache(maxsize=65_536)
def english_consonants(word: str) -> tuple[str, ...]:
    """The consonants of an English word as katakana keeps them. A g may be hard or soft, an h may be a フ."""
    word = _LONG_R.sub("", word.casefold())
    word = re.sub(r"(?<![suia])s$", "", word) if len(word) > 3 else word  # plurals
    spelled = {word, _SOFT_G.sub("G", word), _ROUND_H.sub("f", word)}
    heard = (_SILENT.sub("", _ENGLISH_SIGN.sub(lambda sign: _ENGLISH_SOUND[sign[0]], each)) for each in spelled)
    return tuple(sorted({_reduce_sounds(each) for each in heard} - {""}))


def iter_sounds(folded: str) -> Iterator[tuple[str, str]]:
    """Every katakana and English word of a normalized text, the most frequent first, with each of its sounds."""
    counted = Counter(_KANA.findall(folded)) + Counter(_LATIN.findall(folded))
    for word, _ in counted.most_common():
        for sound in english_consonants(word) if word.isascii() else (katakana_consonants(word),):
            if sound:
                yield word, sound


def similarity(kana: str, english: str) -> float:
    """0..1: how similar a katakana word is to an English word with the same consonants, vowels included. テイント is
    nearer to taint than テナント, and プラグイン to plugin than オペレーション."""
    heard = _romanize(kana)
    word = english.casefold()
    if (kana[0] in "アエオ") != (word[0] in "aeiou") and kana[0] not in "イウヤユヨワハ" and word[0] != "h":
        return 0.0  # アップロード is not prod
    spellings = {_phonetic_letters(word), _phonetic_letters(_SOFT_G.sub("G", word))}
    return max(1 - min(1.0, _distance(heard, spelled) / max(1, len(spelled))) for spelled in spellings)


@lru_cache(maxsize=16_384)
def _romanize(kana: str) -> str:
    heard = ""
    for before, character in pairwise(f"ー{kana}"):
        if character in _SMALL:
            heard = heard[:-1] + ("w" if before == "ウ" else "") + _SMALL[character]
        elif character == "ン":
            heard += "n"
        elif character in _VOWEL:
            heard += _SOUND.get(character, "").translate(_SAME) + _VOWEL[character]
    return heard


@lru_cache(maxsize=16_384)
def _phonetic_letters(word: str) -> str:
    spelled = _ENGLISH_SIGN.sub(lambda sign: _ENGLISH_SOUND[sign[0]], _LONG_R.sub("", word)).replace("y", "i")
    return _DOUBLE.sub(r"\1", _NASAL.sub("n", spelled.translate(_SAME)))


def _distance(heard: str, spelled: str) -> float:
    """The edit distance: vowels cost little, and least the u and o that Japanese adds."""
    row = [0.0]
    for letter in spelled:
        row.append(row[-1] + _cost(letter))
    for sound in heard:
        added = _ADDED if sound in "uo" else _cost(sound)
        above, row = row, [row[0] + added]
        for index, letter in enumerate(spelled):
            changed = _CHANGED if sound in _VOWELS and letter in _VOWELS else 2.0
            replaced = above[index] + (0.0 if sound == letter else changed)
            row.append(min(replaced, above[index + 1] + added, row[-1] + _cost(letter)))
    return row[-1]


def _cost(letter: str) -> float:
    return _CHANGED if letter in _VOWELS else 1.0


def join_sounds(sounds: Iterable[str]) -> str:
    """The sound of one word: a consonant that ends one part and starts the next counts once."""
    return _DOUBLE.sub(r"\1", "".join(sounds))


def _reduce_sounds(heard: str) -> str:
    return _DOUBLE.sub(r"\1", _NASAL.sub("n", heard.translate(_ALIKE)))


class JapaneseWord(NamedTuple):
    surface: str
    reading: str
    normal: str


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in _PACKAGES)


class Readings:
    """The words of a text by their reading and by their normal form."""

    def __init__(self, text: str) -> None:
        self._alike: dict[str, dict[str, None]] = {}
        for run in sorted(set(_RUNS.findall(text))):
            for word in _iter_words(_morphemes(run)):
                for key in {word.reading, word.normal}:
                    self._alike.setdefault(key, {})[word.surface] = None

    def find_spellings(self, folded: str) -> list[str]:
        """The other spellings of a word in this text, and its reading."""
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
    """One word, or a compound with nothing between its parts."""
    if not _JAPANESE.match(folded) or len(folded) > 20:
        return None
    morphemes = _morphemes(folded)
    whole = _join_words([word for word, _ in morphemes])
    if not _KANJI.search(folded):  # kana is its own reading, even if the dictionary splits it
        return whole._replace(reading=normalize(folded.translate(_TO_KATAKANA)))
    return None if len(morphemes) > _MAX_PARTS or any(between for _, between in morphemes) else whole


def _iter_words(morphemes: Iterable[tuple[JapaneseWord, bool]]) -> Iterator[JapaneseWord]:
    """Each word, and adjacent words as one compound."""
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


_lock = threading.Lock()  # the tokenizer is not thread-safe


def _morphemes(text: str) -> list[tuple[JapaneseWord, bool]]:
    """The words of a text, and whether each is only a part of speech between words."""
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
