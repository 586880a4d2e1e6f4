"""Texts to fill a store with, and questions about them: in Japanese and English, of a memo's length.

Real ones (`../shared/bitext`, or BITEXT=folder; read at run time, never kept) where they are; else made ones, whose
words are as unevenly frequent as in any language. Both are the same in every run.
"""

import gzip
import json
import os
import random
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

BITEXT = Path(os.environ.get("BITEXT", Path(__file__).parents[2] / "shared" / "bitext"))
_SENTENCES = (1, 1, 2, 3, 4, 6)  # of a record
_SKIPPED = ("edict", "loui")  # words of a dictionary and labels of buttons are no texts
_KANA = [chr(code) for code in range(0x3042, 0x3093)]
_KANJI = [chr(code) for code in range(0x4E00, 0x4E00 + 2500)]
_LETTERS = "etaoinshrdlcumwfgypbvk"
_WORDS = 60_000


def source() -> str:
    return "texts of public documentation" if _files() else "made texts"


def records(number: int) -> list[str]:
    """Each from one to six sentences, the two languages in turn."""
    return list(islice(make_records(), number))


def make_records() -> Iterator[str]:
    """The same, without end: one after another."""
    draw = random.Random(1)
    sentences = (_real() if _files() else _made(), _real(1) if _files() else _made(1))
    for number in count():
        language = number % 2
        taken = [next(sentences[language]) for _ in range(draw.choice(_SENTENCES))]
        yield ("" if language else " ").join(taken)


def questions(texts: list[str], number: int) -> list[str]:
    """Parts of records that lie far from each other, each as a person might still remember it: some words of it."""
    draw = random.Random(2)
    return [_asked(draw, texts[draw.randrange(len(texts))]) for _ in range(number)]


def _asked(draw: random.Random, text: str) -> str:
    words = text.split(" ")
    if text.isascii() or len(words) > len(text) / 12:
        start = draw.randrange(max(1, len(words) - 12))
        part = words[start : start + 12]
        return " ".join(word for word in part if draw.random() < 0.7) or " ".join(part)
    start = draw.randrange(max(1, len(text) - 24))
    return text[start : start + draw.randrange(8, 28)]


def _files() -> list[Path]:
    found = sorted((BITEXT / "data").glob("*.jsonl.gz"))
    return [file for file in found if file.name.partition(".")[0] not in _SKIPPED]


def _real(language: int = 0) -> Iterator[str]:
    """From all files in turn, so that a small store is as mixed as a large one; again from the start if need be."""
    while True:
        readers = [_lines(file, ("en", "ja")[language]) for file in _files()]
        while readers:
            for reader in [*readers]:
                text = next(reader, None)
                if text is None:
                    readers.remove(reader)
                else:
                    yield text


def _lines(file: Path, language: str) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)[language]


def _made(language: int = 0) -> Iterator[str]:
    draw = random.Random(3 + language)
    words = [_word(draw, language) for _ in range(_WORDS)]
    weights = [1 / (place + 2.7) for place in range(_WORDS)]
    total = 0.0
    heaped = [total := total + weight for weight in weights]
    while True:
        yield ("" if language else " ").join(draw.choices(words, cum_weights=heaped, k=draw.randrange(6, 24))) + "."


def _word(draw: random.Random, language: int) -> str:
    if not language:
        return "".join(draw.choices(_LETTERS, weights=range(len(_LETTERS), 0, -1), k=draw.randrange(2, 10)))
    if draw.random() < 0.4:
        return "".join(draw.choices(_KANA, k=draw.randrange(1, 4)))
    return "".join(draw.choices(_KANJI, weights=[1 / (n + 20) for n in range(len(_KANJI))], k=2))
