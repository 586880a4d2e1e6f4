"""Text → tokens → term counts, the same for documents and for queries. Pure; linear in the length of the text.

Japanese, Chinese, Korean and Thai are split into pairs of neighbouring characters, with single kanji, katakana and
hangul beside them, so that words of one and two characters are found. Kana count by their sound (りんご/リンゴ).
Scripts with spaces are split into words (words.py).

The index stores the terms of a document packed, and scores are computed from that:

    12 bytes   number of terms, number of terms in the title (with two flags in its highest bits), length
    4 n bytes  term hashes, ascending
    n bytes    their counts, at most 255 each; an occurrence in the title counts TITLE_COUNT times
    4 m bytes  the hashes of the title's terms, ascending; without a title those of the speaker (`Aiko: …`)

All numbers are little-endian and unsigned. A term's hash is the CRC-32 of its text: two terms out of a hundred thousand
may share one, which changes the ranking very little and nothing else.
"""

import re
import struct
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from operator import add
from typing import NamedTuple
from zlib import crc32

from tokonoma.core.normalize import HAN, HANGUL, HIRAGANA, KATAKANA, OKURIGANA, SOUNDS, normalize_case
from tokonoma.search.text.words import Token, tokenize_word, tokenize_word_texts
from tokonoma.search.tuning import TUNING

PRIVATE = "\uf8ffp"  # begins a token that only callers who see personal data may search by
FORMAT_VERSION = 3  # of tokens and packed terms: another number means that the index has to be rebuilt
TITLE_COUNT = 2
MAX_TEXT = 2**20
"""Characters of a document whose words are indexed, as many as a memo can have. A passage of a file may be longer."""

_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eff\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer: no spaces
_PAIRED = f"{HAN}{HIRAGANA}{KATAKANA}{HANGUL}{_THAI}"
_RUN = re.compile(f"[{_PAIRED}]+")
# Letters and digits of any other script; vowel signs of India are marks, which \\w leaves out.
_LETTER = rf"(?:[^\W_{_PAIRED}]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0980-\u0dff])"
# Nothing is given back (++): a word of a million letters would otherwise take a hundred megabytes.
_WORD = re.compile(rf"{_LETTER}++(?:[-_.'/\\:@=&?#%~+]{{1,3}}{_LETTER}++)*+(?:[+#]{{1,2}}(?![\w+#]))?")
_SIGN = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
_COUNTED = re.compile(rf"(?<![0-9])([0-9]+)([{HAN}{KATAKANA}])")  # 3条, 1947年
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NOT_ALONE = re.compile(f"[{HIRAGANA}ー{_THAI}]+")  # characters that mean nothing by themselves
_NEVER_ALONE = frozenset({"soft", "bar", "thai"})
_SKIPPED = re.compile(f"(?=([{HAN}])[{OKURIGANA}]([{HAN}]))")
_HEAD = struct.Struct("<III")
_LAST = 0xFFFFFFFF
_QUICKER = 6  # times as many terms as are wanted: up to there, going through all is quicker than searching each
_ASKS, _SPEAKS = 1 << 31, 1 << 30
_TITLED = _SPEAKS - 1
_QUESTION = re.compile(r"(?:[?？]|(?:です|ます|ません|ました|でしょう)か[。.]?)[\s\"'”’)）」』]*\Z")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’・-]*(?: [^\W\d_][\w.'’・-]*){0,2}(?=[:：] ?\S)")


class TokenCounts(NamedTuple):
    counts: Counter[str]
    length: int


class WeightedTerm(NamedTuple):
    """A token of a query. A weight of 0 means that it need not be looked up."""

    text: str
    weight: float
    steepness: float = TUNING.steepness
    is_content: bool = True  # not made of hiragana alone, nor half of it


class TermCounts(NamedTuple):
    """What the index stores of a document: tokens to propose it by, packed terms to score it from, its length."""

    counts: Counter[str]
    length: int
    packed: bytes
    title: Collection[str] = ()  # the tokens of its title


class PackedMatch(NamedTuple):
    """What packed terms say about a query."""

    counts: dict[int, int]  # of the wanted terms that the document holds
    length: int
    title: Sequence[int]  # the hashes of the title's terms
    is_question: bool
    has_speaker: bool  # the title is the name of the speaker


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
    soft = _NOT_ALONE.findall(joined)
    # The length of runs: their pairs, less those of hiragana alone.
    pairs = max(1, len(joined) - 2 * len(runs) + 1 - sum(map(len, soft)) + len(soft))
    return TokenCounts(Counter(found), len(words) + pairs)


def parse_query_terms(text: str) -> list[WeightedTerm]:
    """A query's tokens with their weights. If all are stop words, they count after all."""
    found: dict[str, WeightedTerm] = {}
    for token, kind in _tokenize_query(text):
        term = WeightedTerm(
            token,
            TUNING.term_weights[kind],
            TUNING.soft_steepness if kind == "soft" else TUNING.steepness,
            kind not in ("soft", "mixed"),
        )
        found[token] = max(found.get(token, term), term, key=lambda each: (each.weight, -each.steepness))
    if not any(term.weight for term in found.values()):
        return [WeightedTerm(token, 1.0) for token in found]
    return list(found.values())


def split_query(text: str) -> tuple[list[str], list[str]]:
    """Words of scripts with spaces, and runs of those without, normalized."""
    text = _normalize_text(text)
    return _WORD.findall(text), _RUN.findall(text)


def _tokenize_query(text: str) -> Iterator[Token]:
    text = _normalize_text(text)
    yield from chain.from_iterable(map(tokenize_word, _WORD.findall(text)))
    yield from (Token(sign, "sign") for sign in _SIGN.findall(text))
    yield from (Token(left + right, "counted") for left, right in _COUNTED.findall(text))
    yield from chain.from_iterable(map(_tokenize_run, _RUN.findall(text)))


def hash_term(token: str) -> int:
    return crc32(token.encode())


def count_terms(text: str, title: str = "", private: tuple[str, str] | None = None) -> TermCounts:
    """The terms of a document. Its title counts more than its body, and is stored separately as well. `private`: text
    and title before something was masked in them; what they hold beyond it is marked as private."""
    body, head = tokenize(text), tokenize(title)
    counts = _add_title(body.counts, head.counts)
    if private is not None:
        whole = _add_title(*(tokenize(each).counts for each in private))
        counts.update({PRIVATE + token: count for token, count in (whole - counts).items()})
    length = body.length + TITLE_COUNT * head.length
    speaker = "" if title else find_speaker(text)
    flags = (_ASKS if is_question(text) else 0) | (_SPEAKS if speaker else 0)
    packed = _pack(counts, tokenize(speaker).counts if speaker else head.counts, length, flags)
    return TermCounts(counts, length, packed, head.counts.keys())


def _add_title(body: Counter[str], title: Counter[str]) -> Counter[str]:
    for token, count in title.items():
        body[token] += TITLE_COUNT * count
    return body


def find_speaker(text: str) -> str:
    """The speaker named in front of a turn of a conversation; empty if none is. `http://` is no speaker."""
    found = _SPEAKER.match(text)
    return "" if found is None or text.startswith("//", found.end() + 1) else found[0]


def is_question(text: str) -> bool:
    """Whether a text ends with a question: then its answer is elsewhere."""
    return _QUESTION.search(text[-40:]) is not None


def count_packed_terms(packed: bytes) -> int:
    """How many different terms a document holds."""
    return _HEAD.unpack_from(packed)[0]


def list_packed_terms(packed: bytes) -> frozenset[int]:
    """The hashes of all terms of a document, also of those that are marked as private."""
    return frozenset(_unpack_numbers(packed[_HEAD.size : _HEAD.size + 4 * count_packed_terms(packed)]))


def find_packed_terms(packed: bytes, wanted: frozenset[int]) -> frozenset[int]:
    """Those of these hashes that a document holds: quicker than all of them."""
    return wanted.intersection(_unpack_numbers(packed[_HEAD.size : _HEAD.size + 4 * count_packed_terms(packed)]))


def look_up_terms(packed: bytes, wanted: frozenset[int], ascending: Sequence[int]) -> PackedMatch:
    """The wanted terms that a document holds. `ascending` is `wanted`, sorted."""
    size, match = _read_header(packed)
    end = _HEAD.size + 4 * size
    hashes = _unpack_numbers(packed[_HEAD.size : end])
    found = match.counts
    if size <= _QUICKER * len(wanted):
        for number in wanted.intersection(hashes):
            found[number] = packed[end + bisect_left(hashes, number)]
        return match
    hashes.append(_LAST)  # so that no place lies behind the end
    place = 0
    for number in ascending:
        place = bisect_left(hashes, number, place)
        if hashes[place] == number and place < size:
            found[number] = packed[end + place]
    return match


def look_up_terms_many(many: Sequence[bytes], ascending: Sequence[int]) -> list[PackedMatch]:
    """The same for many documents, in a third of the time. It loads numpy."""
    import numpy as np

    found: list[PackedMatch] = []
    hashes, counts, ends, end = list[bytes](), list[bytes](), list[int](), 0
    for packed in many:
        size, match = _read_header(packed)
        middle = _HEAD.size + 4 * size
        hashes.append(packed[_HEAD.size : middle])
        counts.append(packed[middle : middle + size])
        end += size
        ends.append(end)
        found.append(match)
    held = np.frombuffer(b"".join(hashes), np.dtype("<u4"))
    wanted = np.array(ascending, np.uint32)
    if not len(held) or not len(wanted):
        return found
    places = np.flatnonzero(wanted[np.minimum(wanted.searchsorted(held), len(wanted) - 1)] == held)
    owners = np.array(ends).searchsorted(places, side="right")
    times = np.frombuffer(b"".join(counts), np.uint8)[places]
    found_counts = [match.counts for match in found]
    for owner, number, count in zip(owners.tolist(), held[places].tolist(), times.tolist(), strict=True):
        found_counts[owner][number] = count
    return found


def _read_header(packed: bytes) -> tuple[int, PackedMatch]:
    """The number of terms, and what is known without looking at them."""
    size, flags, length = _HEAD.unpack_from(packed)
    titled = flags & _TITLED
    title = _unpack_numbers(packed[-4 * titled :]) if titled else ()
    return size, PackedMatch({}, length, title, bool(flags & _ASKS), bool(flags & _SPEAKS))


def _normalize_text(text: str) -> str:
    text = normalize_case(text[:MAX_TEXT])[:MAX_TEXT]  # one character may be normalized to eighteen
    return _THOUSANDS.sub("", text) if "," in text else text


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


def _pack(counts: Counter[str], titled: Counter[str], length: int, flags: int) -> bytes:
    # Two tokens with one hash are merged: the greater count stands.
    numbered = dict(sorted(zip(map(crc32, map(str.encode, counts)), counts.values(), strict=True)))
    title = sorted(set(map(crc32, map(str.encode, titled))))
    head = _HEAD.pack(len(numbered), len(title) | flags, length)
    return b"".join(
        (head, _pack_numbers(numbered), bytes([min(count, 255) for count in numbered.values()]), _pack_numbers(title))
    )


def _unpack_numbers(packed: bytes) -> "array[int]":
    numbers = array("I", packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _pack_numbers(numbers: Collection[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)
