"""Seed phrases of wallets (BIP-39): 12 to 24 words of a fixed list. The last word holds a checksum."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_SIZES = (24, 21, 18, 15, 12)
_LONGEST = 60
"""Words in a row, in that list: more than that are a list of words and not a phrase."""

_WORD = re.compile(r"[A-Za-z]{3,8}")
_GAP = re.compile(r"[\s0-9.,;:()|/-]{1,8}")
_NAMES = re.compile(
    r"(?i)(seed|mnemonic|recovery phrase|wallet|ledger|trezor|シード|ニーモニック|復元フレーズ|ウォレット)"
)


@cache
def _load_words() -> dict[str, int]:
    words = (files("tokonoma.policy") / "seed_words.txt").read_text(encoding="utf-8").split()
    return {word: place for place, word in enumerate(words)}


def has_seed_words(text: str) -> bool:
    """Whether a phrase can be in the text: words of the list in a row. Its first and last may touch other letters."""
    parts = text.lower().split()
    if len(parts) < 10:
        return False
    words, row = _load_words(), 0
    for part in parts:
        if part in words or part[:-1] in words:
            row += 1
            if row == 10:
                return True
        elif not part[0].isdecimal():  # 1. or 2)
            row = 0
    return False


def breaks_rows(text: str) -> bool:
    """Whether no row of such words goes through this text: it has another word."""
    words = _load_words()
    return any(
        not (part in words or part[:-1] in words or part[0].isdecimal()) for part in text.lower().split(maxsplit=1000)
    )


def find_seed_phrases(text: str) -> Iterator[tuple[int, int]]:
    if has_seed_words(text):
        for row in _list_rows(text):
            if 12 <= len(row) <= _LONGEST:
                yield from _find_in_row(text, row)


def _list_rows(text: str) -> Iterator[list[re.Match[str]]]:
    """Words of the list that follow each other, with nothing but signs and digits between them."""
    words = _load_words()
    row: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        if row and not _GAP.fullmatch(text, row[-1].end(), match.start()):
            yield row
            row = []
        if match[0].lower() in words:
            row.append(match)
        elif row:
            yield row
            row = []
    yield row


def _find_in_row(text: str, row: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    first, last = row[0].start(), row[-1].end()
    if len(row) in _SIZES and _NAMES.search(text[max(0, first - 40) : first]):
        yield first, last
        return
    words, place = _load_words(), 0
    numbers = [words[match[0].lower()] for match in row]
    while place + 12 <= len(row):
        size = next((each for each in _SIZES if _looks_drawn(numbers[place : place + each], each)), 1)
        if size > 1:
            yield row[place].start(), row[place + size - 1].end()
        place += size


def _looks_drawn(numbers: list[int], size: int) -> bool:
    """Words that are drawn by lot hardly repeat; of texts that do, every sixteenth has the right checksum by chance."""
    return len(set(numbers)) >= size - 2 and passes_checksum(numbers, size)


def passes_checksum(numbers: list[int], size: int) -> bool:
    """Whether the last bits are the first of the hash of the others. Each word is eleven bits."""
    if len(numbers) != size:
        return False
    bits = 0
    for number in numbers:
        bits = bits << 11 | number
    count = size // 3  # of the bits of the checksum: one for 32 bits
    entropy = (bits >> count).to_bytes(count * 4)
    return hashlib.sha256(entropy).digest()[0] >> 8 - count == bits & (1 << count) - 1
