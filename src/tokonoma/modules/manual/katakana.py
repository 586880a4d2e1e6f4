"""Whether a katakana word and an English word are one word: コンテナ is container, サイドカー is sidecar.

Both are reduced to the consonants that one hears. Vowels differ too much between the two spellings to be of use, so
short words are not compared at all.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

MIN_CONSONANTS = 3
"""Consonants that a word must have to be taken for another one: with fewer, too many words sound alike. Parts of a
longer name may have fewer, since the whole must stand in the text."""

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
# Spellings of English, longest first; what is left of the vowels and of w, y and silent letters is dropped.
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
# Voicing wanders between the two (バッグ/bag, ベッド/bed) and so do s and z.
_ALIKE = str.maketrans({"z": "s", "S": "s", "J": "s", "T": "t", "h": "", "w": "", "v": "b", "G": "g"})


_VOWELS = "aiueo"
_CHANGED, _ADDED = 0.3, 0.15  # what a vowel costs that differs, or that only katakana needs
_COLUMNS = {
    "a": "アカガサザタダナハバパマヤラワ", "i": "イキギシジチヂニヒビピミリ", "u": "ウクグスズツヅヌフブプムユルヴ",
    "e": "エケゲセゼテデネヘベペメレ", "o": "オコゴソゾトドノホボポモヨロヲ",
}  # fmt: skip
_VOWEL = {kana: vowel for vowel, kanas in _COLUMNS.items() for kana in kanas}
_SMALL = {"ァ": "a", "ャ": "a", "ヮ": "a", "ィ": "i", "ゥ": "u", "ュ": "u", "ェ": "e", "ォ": "o", "ョ": "o"}
_SAME = str.maketrans({"z": "s", "S": "s", "J": "s", "T": "t", "v": "b", "G": "g", "f": "h"})


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
    """The consonants of an English word as katakana would keep them. A g may be hard or soft, an h may be a フ."""
    word = _LONG_R.sub("", word.casefold())
    word = re.sub(r"(?<![suia])s$", "", word) if len(word) > 3 else word  # plurals
    spelled = {word, _SOFT_G.sub("G", word), _ROUND_H.sub("f", word)}
    heard = (_SILENT.sub("", _ENGLISH_SIGN.sub(lambda sign: _ENGLISH_SOUND[sign[0]], each)) for each in spelled)
    return tuple(sorted({_reduce_sounds(each) for each in heard} - {""}))


def iter_sounds(folded: str) -> Iterator[tuple[str, str]]:
    """Every katakana and English word of a folded text, the commonest first, with each of its sounds."""
    counted = Counter(_KANA.findall(folded)) + Counter(_LATIN.findall(folded))
    for word, _ in counted.most_common():
        for sound in english_consonants(word) if word.isascii() else (katakana_consonants(word),):
            if sound:
                yield word, sound


def similarity(kana: str, english: str) -> float:
    """0..1: how much of a katakana word is in an English one of the same consonants, vowels heard as well. テイント is
    nearer to taint than テナント, and プラグイン to plugin than オペレーション."""
    heard = _romanize(kana)
    word = english.casefold()
    ways = {_phonetic_letters(word), _phonetic_letters(_SOFT_G.sub("G", word))}
    return max(1 - min(1.0, _distance(heard, spelled) / max(1, len(spelled))) for spelled in ways)


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
    """What must be changed to make one of the other: vowels cost little, and least the u and o that Japanese adds."""
    row = [0.0]
    for letter in spelled:
        row.append(row[-1] + _cost(letter))
    for sound in heard:
        added = _ADDED if sound in "uo" else _cost(sound)
        above, row = row, [row[0] + added]
        for place, letter in enumerate(spelled):
            both = _CHANGED if sound in _VOWELS and letter in _VOWELS else 2.0
            kept = above[place] + (0.0 if sound == letter else both)
            row.append(min(kept, above[place + 1] + added, row[-1] + _cost(letter)))
    return row[-1]


def _cost(letter: str) -> float:
    return _CHANGED if letter in _VOWELS else 1.0


def join_sounds(sounds: Iterable[str]) -> str:
    """As one word: a consonant that ends one and begins the next is heard once."""
    return _DOUBLE.sub(r"\1", "".join(sounds))


def _reduce_sounds(heard: str) -> str:
    return _DOUBLE.sub(r"\1", _NASAL.sub("n", heard.translate(_ALIKE)))
