"""A document's words in a few bytes: what the index keeps in its row, and what a candidate is scored from. Pure.

    12 bytes   number of terms, number of terms in the title (with two marks in its highest bits), length
    4 n bytes  term numbers, ascending
    n bytes    their counts, at most 255 each; an occurrence in the title counts TITLE times
    4 m bytes  the numbers of the title's terms, ascending; without a title those of who speaks (`Aiko: …`)

All numbers are little-endian and unsigned. A term's number is the CRC-32 of its text: two terms out of a hundred
thousand may share one, which costs a hair of ranking and nothing else."""

import re
import struct
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from tokonoma.search.tokenize import tokenize

FORMAT_VERSION = 3  # of everything between a text and its form: another number means that the index has to be rebuilt
TITLE_COUNT = 2

_HEAD = struct.Struct("<III")
_LAST = 0xFFFFFFFF
_QUICKER = 6  # times as many terms as are wanted: up to there, going through all is quicker than searching each
_ASKS, _SPEAKS = 1 << 31, 1 << 30
_TITLED = _SPEAKS - 1
_QUESTION = re.compile(r"(?:[?？]|(?:です|ます|ません|ました|でしょう)か[。.]?)[\s\"'”’)）」』]*\Z")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’・-]*(?: [^\W\d_][\w.'’・-]*){0,2}(?=[:：] ?\S)")


class TermCounts(NamedTuple):
    """What the index keeps of a document: tokens to propose it by, the form to score it from, its length."""

    counts: Counter[str]
    length: int
    packed: bytes
    title: Collection[str] = ()  # the tokens of its title


def hash_term(token: str) -> int:
    return crc32(token.encode())


def count_terms(text: str, title: str = "") -> TermCounts:
    """The form of a document. Its title counts more than its body, and is kept apart as well."""
    body, head = tokenize(text), tokenize(title)
    counts = body.counts
    for token, count in head.counts.items():
        counts[token] += TITLE_COUNT * count
    length = body.length + TITLE_COUNT * head.length
    speaker = "" if title else find_speaker(text)
    marks = (_ASKS if is_question(text) else 0) | (_SPEAKS if speaker else 0)
    packed = _pack(counts, tokenize(speaker).counts if speaker else head.counts, length, marks)
    return TermCounts(counts, length, packed, head.counts.keys())


def find_speaker(text: str) -> str:
    """Who is said to speak, in front of a turn of a conversation; or nobody. `http://` is no speaker."""
    found = _SPEAKER.match(text)
    return "" if found is None or text.startswith("//", found.end() + 1) else found[0]


def is_question(text: str) -> bool:
    """Whether a text ends with a question: then its answer stands elsewhere."""
    return _QUESTION.search(text[-40:]) is not None


def read_length(form: bytes) -> int:
    return _HEAD.unpack_from(form)[2]


def look_up_terms(form: bytes, wanted: frozenset[int], ascending: Sequence[int]) -> tuple[dict[int, int], int, int]:
    """Those of the wanted terms that stand in the document, with their counts; its length; the terms of its title.

    `ascending` is `wanted`, sorted."""
    size, titled, length = _HEAD.unpack_from(form)
    titled &= _TITLED
    end = _HEAD.size + 4 * size
    numbers = _unpack_numbers(form[_HEAD.size : end])
    if size <= _QUICKER * len(wanted):
        hits = wanted.intersection(numbers)
        return {number: form[end + bisect_left(numbers, number)] for number in hits}, length, titled
    numbers.append(_LAST)  # so that no place lies behind the end
    found: dict[int, int] = {}
    place = 0
    for number in ascending:
        place = bisect_left(numbers, number, place)
        if numbers[place] == number and place < size:
            found[number] = form[end + place]
    return found, length, titled


def look_up_terms_many(forms: Sequence[bytes], ascending: Sequence[int]) -> list[tuple[dict[int, int], int, int]]:
    """The same for many documents, in a third of the time; where numpy is loaded anyway."""
    import numpy as np

    found: list[tuple[dict[int, int], int, int]] = []
    numbers, counts, ends, end = list[bytes](), list[bytes](), list[int](), 0
    for form in forms:
        size, titled, length = _HEAD.unpack_from(form)
        middle = _HEAD.size + 4 * size
        numbers.append(form[_HEAD.size : middle])
        counts.append(form[middle : middle + size])
        end += size
        ends.append(end)
        found.append(({}, length, titled & _TITLED))
    held = np.frombuffer(b"".join(numbers), np.dtype("<u4"))
    wanted = np.array(ascending, np.uint32)
    if not len(held) or not len(wanted):
        return found
    places = np.flatnonzero(wanted[np.minimum(wanted.searchsorted(held), len(wanted) - 1)] == held)
    owners = np.array(ends).searchsorted(places, side="right")
    times = np.frombuffer(b"".join(counts), np.uint8)[places]
    for owner, number, count in zip(owners.tolist(), held[places].tolist(), times.tolist(), strict=True):
        found[owner][0][number] = count
    return found


def read_title_terms(form: bytes) -> Sequence[int]:
    """The numbers of the title's terms."""
    titled = _HEAD.unpack_from(form)[1] & _TITLED
    return _unpack_numbers(form[-4 * titled :]) if titled else ()


def has_question_flag(form: bytes) -> bool:
    """Whether the text ends with a question."""
    return bool(_HEAD.unpack_from(form)[1] & _ASKS)


def has_speaker_flag(form: bytes) -> bool:
    """Whether its title is the name of who speaks."""
    return bool(_HEAD.unpack_from(form)[1] & _SPEAKS)


def _pack(counts: Counter[str], titled: Counter[str], length: int, marks: int) -> bytes:
    # Two tokens of one number are joined: the greater count stands.
    numbered = dict(sorted(zip(map(crc32, map(str.encode, counts)), counts.values(), strict=True)))
    title = sorted(set(map(crc32, map(str.encode, titled))))
    head = _HEAD.pack(len(numbered), len(title) | marks, length)
    return b"".join(
        (head, _pack_numbers(numbered), bytes([min(count, 255) for count in numbered.values()]), _pack_numbers(title))
    )


def _unpack_numbers(packed: bytes) -> "array[int]":
    numbers = array("I", packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _pack_numbers(numbers: Iterable[int]) -> bytes:
    packed = array("I", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
