"""Whether two short texts say the same, or say another value about the same subject. Pure; no model judges here.

How near they are in meaning is a number that comes from outside. Words decide what it means: "blue" and "green" are
near in meaning, and so are a sentence and its opposite. Thresholds and how they were measured: ADR 0053.
"""

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from tokonoma.core.normalize import HAN, HIRAGANA, KATAKANA, normalize

Likeness = Literal["same", "duplicate", "contradicted"]

NEAR = 0.75
"""Similarity in meaning from which two texts of one language are about the same thing."""
NEAR_ACROSS = 0.72
"""The same in two languages, or where they share no word."""
_NEAR_LONG = 0.9  # for texts of more than _SHORT words, of which only the beginning is compared
NEAR_FRAME = 0.45
"""The same where all words but one value are the same, such as the name of a town."""
_SHARED = 0.6  # the share of common words that counts as the same words
_SHORT = 40
_SPELLING = 0.75  # of the letters: favourite, favorite

_WORD = re.compile(f"[0-9]+(?:[.:][0-9]+)*|[{HAN}]+|[{KATAKANA}]+|[{HIRAGANA}]+|[^\\W\\d_{HAN}{KATAKANA}{HIRAGANA}]+")
_EXACT_HOUR = re.compile(r":00\b")
_JOINED = re.compile(r"(?<=[a-z])['-](?=[a-z])")
_SCRIPT = re.compile(f"[{HAN}{KATAKANA}]")
_KANA = re.compile(f"[{HIRAGANA}]+")
_LISTED = re.compile(f"[{HIRAGANA}]*+(?<=[とや])")  # さんと
# Words that connect others, and words that make a sentence: what is between two of the latter is no value.
_LIGHT = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "with", "by", "and", "or", "as", "it", "its", "this",
    "that", "my", "our", "your", "i", "we", "now", "currently", "please", "の", "は", "が", "を", "に", "で", "と",
    "も", "へ", "や", "から", "まで", "より", "には", "では", "とは", "です", "だ", "である",
})  # fmt: skip
_LISTING = frozenset({"and", "or", "及", "び", "または"})
_VERBS = frozenset({
    "is", "are", "was", "were", "be", "been", "has", "have", "had", "must", "should", "can", "will", "do", "does",
    "did",
})  # fmt: skip
_NEGATIONS = frozenset({
    "not", "no", "never", "without", "cannot", "none", "forbidden", "dont", "doesnt", "isnt", "arent", "wont", "cant",
    "shouldnt",
})  # fmt: skip
_NEGATED = re.compile("ない|なかった|ません|なくて|禁止|不可")


class Wording(NamedTuple):
    """A text as it is compared: all its words in order, those that are more than connections, those that carry meaning,
    its numbers, whether it negates."""

    words: list[str]
    order: list[str]
    content: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def pack_text(text: str) -> str:
    """What two texts must share to be the same: one spelling of letters and blanks, without a full stop at the end."""
    return " ".join(normalize(text).split()).rstrip(".。 ")


def read_wording(text: str) -> Wording:
    folded = _EXACT_HOUR.sub("", _JOINED.sub("", normalize(text)))
    words: list[str] = _WORD.findall(folded)
    found = [word for word in words if word not in _LIGHT]
    return Wording(
        words,
        found,
        frozenset(filter(_carries_meaning, found)),
        frozenset(word for word in found if word[0].isdigit()),
        not _NEGATIONS.isdisjoint(found) or _NEGATED.search(folded) is not None,
    )


def judge_pair(new: str, old: str, similarity: float | None) -> tuple[Likeness, float] | None:
    """What the older text is to the new one, and how near the two are; None: they are about different things.
    `similarity` is that of their meaning; without one, the share of common words stands for it."""
    if pack_text(new) == pack_text(old):
        return "same", 1.0
    one, other = read_wording(new), read_wording(old)
    is_long = max(len(one.order), len(other.order)) > _SHORT
    if similarity is not None and similarity < (_NEAR_LONG if is_long else NEAR_FRAME):
        return None
    shared = _measure_shared(one, other)
    near = shared if similarity is None else similarity
    if is_long:
        return ("duplicate", near) if near >= _NEAR_LONG and shared >= _SHARED else None
    # A name such as API may stand in both languages.
    is_across = not one.content & other.content or _is_japanese(one) != _is_japanese(other)
    is_near = near >= (NEAR_ACROSS if is_across else NEAR)
    if not is_near and shared < _SHARED:
        return None
    numbers_differ = bool(one.numbers - other.numbers and other.numbers - one.numbers)
    replaced = _find_replaced(one.order, other.order)
    is_frame = near >= NEAR_FRAME and shared >= _SHARED and replaced == 1 and not numbers_differ
    if not is_near and not is_frame:
        # A time that was moved: the same words, and perhaps one more.
        only_numbers = near >= NEAR_FRAME and shared == 1.0 and numbers_differ
        return ("contradicted", near) if only_numbers else None
    is_other = numbers_differ or one.negated != other.negated or _is_exchanged(one.words, other.words)
    if is_other or (replaced == 1 and shared >= _SHARED):
        return "contradicted", near
    return "duplicate", near


def _is_japanese(wording: Wording) -> bool:
    return any(_SCRIPT.match(word) or _KANA.match(word) for word in wording.words)


def _measure_shared(one: Wording, other: Wording) -> float:
    """Common words, and words of one spelling, in the shorter of the two."""
    least = min(len(one.content), len(other.content))
    if not least:
        return 0.0
    common = one.content & other.content
    others: dict[str, list[str]] = {}
    for word in other.content - common:
        others.setdefault(word[0], []).append(word)
    # Spellings of one word begin with the same letter.
    alike = sum(any(_is_spelling(word, each) for each in others.get(word[0], ())) for word in one.content - common)
    return min(1.0, (len(common) + alike) / least)


def _find_replaced(one: list[str], other: list[str]) -> int:
    """How many values stand in the place of another: names, nouns or numbers between the same words. Any other
    difference counts twice: the sentence is another one."""
    count = 0
    for kind, start, end, from_, to in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        left, right = one[start:end], other[from_:to]
        if kind == "replace" and not _is_variant(left, right):
            count += 1 if _is_value(left) and _is_value(right) else 2
        elif kind in ("insert", "delete") and any(map(_carries_meaning, left + right)):
            count += 2
    return count


def _is_exchanged(one: list[str], other: list[str]) -> bool:
    """Whether two words have changed places around others: "tea over coffee", "coffee over tea". What is only listed
    has no order."""
    if len(one) != len(other):
        return False
    places = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(places) != 2:
        return False
    first, last = places
    is_list = all(word in _LISTING or _LISTED.fullmatch(word) for word in one[first + 1 : last])
    return (one[first], one[last]) == (other[last], other[first]) and not is_list


def _carries_meaning(word: str) -> bool:
    return not (word[0].isdigit() or word in _VERBS | _NEGATIONS or _KANA.fullmatch(word))


def _is_value(words: list[str]) -> bool:
    return _VERBS.isdisjoint(words) and not any(_KANA.fullmatch(word) for word in words) and len(words) <= 3


def _is_variant(one: list[str], other: list[str]) -> bool:
    """Whether the words only differ in how they are written, joined or bent."""
    left, right = ("".join(word for word in words if not _KANA.fullmatch(word)) for words in (one, other))
    return not left or not right or _is_spelling(left, right)


def _is_spelling(one: str, other: str) -> bool:
    if one == other:
        return True
    if one[0].isdigit() or other[0].isdigit() or (one.endswith("day") and other.endswith("day")):
        return False  # Tuesday is no spelling of Thursday
    if _SCRIPT.match(one) or _SCRIPT.match(other):
        return min(len(one), len(other)) >= 2 and (one.startswith(other) or other.startswith(one))
    return one[0] == other[0] and SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SPELLING
