"""Cuts a text into the pieces that the built-in model has vectors for. Pure; training uses this very code.

Latin words carry a mark in front (`▁`), so that `api` is one piece in 「APIサーバー」 and in "the API server".
Runs of Japanese are cut as a whole, by the likeliest sequence of pieces (Viterbi over a unigram vocabulary). Spaces
and punctuation mean too little to be kept.
"""

import re
import unicodedata
from collections.abc import Sequence

WORD_MARK = "▁"

_JAPANESE = "ぁ-ゖァ-ヺー々〆〇一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f"
_CHUNK = re.compile(rf"[{_JAPANESE}]+|[0-9A-Za-zÀ-ÖØ-öø-ɏ]+[+#]*|(?:(?![{_JAPANESE}])[^\W_])+")
_FIRST_JAPANESE = re.compile(rf"[{_JAPANESE}]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_LONG_VOWEL = re.compile(r"(?<=[ァ-ヺー]{3})ー(?![ァ-ヺー])")  # サーバー is written サーバ as often
_UNKNOWN = -25.0  # below any piece: an unknown letter is passed over only where nothing else fits
_REMEMBERED = 50_000  # words whose cut is kept; when there are more, all are forgotten


def split_chunks(text: str) -> list[str]:
    """What is cut on its own: words in Latin letters as they are written, and runs of Japanese."""
    return _CHUNK.findall(_LONG_VOWEL.sub("", unicodedata.normalize("NFKC", text)))


def is_japanese(chunk: str) -> bool:
    return _FIRST_JAPANESE.match(chunk) is not None


def split_camel_case(word: str) -> list[str]:
    """`JSONResponse` → `json`, `response`."""
    return [part.lower() for part in _HUMP.split(word)]


class SubwordTokenizer:
    """Texts to numbers of pieces. Safe for several threads: what it remembers is only ever replaced."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._scores = dict(zip(pieces, scores, strict=True))
        self._longest: dict[str, int] = {}
        for piece in pieces:
            if len(piece) > self._longest.get(piece[0], 0):
                self._longest[piece[0]] = len(piece)
        self._known: dict[str, tuple[int, ...]] = {}

    def tokenize(self, text: str) -> list[int]:
        found: list[int] = []
        for chunk in split_chunks(text):
            known = self._known.get(chunk)
            found += self._tokenize_chunk(chunk) if known is None else known
        return found

    def segment(self, run: str) -> tuple[list[int], float]:
        """The pieces of a run, and the logarithm of how likely they are together."""
        size = len(run)
        best = [0.0] + [float("-inf")] * size
        back = [0] * (size + 1)
        scores, longest = self._scores, self._longest
        for start in range(size):
            here = best[start]
            if here + _UNKNOWN > best[start + 1]:
                best[start + 1], back[start + 1] = here + _UNKNOWN, start
            for end in range(start + 1, min(start + longest.get(run[start], 0), size) + 1):
                score = scores.get(run[start:end])
                if score is not None and here + score > best[end]:
                    best[end], back[end] = here + score, start
        found: list[int] = []
        end = size
        while end:
            number = self._numbers.get(run[back[end] : end])
            if number is not None:
                found.append(number)
            end = back[end]
        return found[::-1], best[size]

    def _tokenize_chunk(self, chunk: str) -> tuple[int, ...]:
        if is_japanese(chunk):
            found = tuple(self.segment(chunk)[0])
            if len(chunk) > 12:  # whole clauses do not come back
                return found
        else:
            found = self._tokenize_word(chunk)
        if len(self._known) >= _REMEMBERED:
            self._known = {}
        self._known[chunk] = found
        return found

    def _tokenize_word(self, word: str) -> tuple[int, ...]:
        whole = self._numbers.get(WORD_MARK + word.lower())
        if whole is not None:
            return (whole,)
        return tuple(number for part in split_camel_case(word) for number in self.segment(WORD_MARK + part)[0])
