"""Where a term may start and end in a text. Pure functions."""

from collections.abc import Callable

from tokonoma.modules.manual.numerals import NUMERALS, has_number, is_number_alone
from tokonoma.modules.manual.okurigana import goes_on

_MIN_JOINED, _MAX_JOINED = 3, 40  # letters of a word that is joined with another, and of all that are
_SURE_LETTERS = 10  # of a name: so many are inside another word only if it contains the name
_WHOLE_WORD_CHARS = 4  # up to this length a Latin term matches whole words only

WordEdges = Callable[[str, int, int], bool]
"""Whether what is in a text from here to there is the term, and not a part of another word."""


def find_word_edges(needle: str) -> WordEdges | None:
    """Whether the term must start, and end, at the edge of a word. `cri` is not in `script`."""
    if not needle[:1].isascii() or not needle[:1].isalnum():
        return None
    return _is_word if len(needle) <= _WHOLE_WORD_CHARS and needle[-1].isalnum() else _starts_word


def _starts_word(text: str, start: int, end: int) -> bool:
    return not (start and _is_word_character(text[start - 1]))


def _is_word(text: str, start: int, end: int) -> bool:
    """A whole word, or its plural."""
    if not _starts_word(text, start, end):
        return False
    if end >= len(text) or not _is_word_character(text[end]):
        return True
    return text[end] == "s" and (end + 1 >= len(text) or not _is_word_character(text[end + 1]))


def find_form_edges(needle: str) -> WordEdges:
    """A form of a word stands alone: `plans` is not in `plansheet`, 一日 is not in 統一日程 nor in 十一日."""
    is_number = has_number(needle)

    def stands_alone(text: str, start: int, end: int) -> bool:
        if _is_word_character(text[start]) and not _starts_word(text, start, end):
            return False
        if _is_word_character(text[end - 1]) and _is_word_character(text[end : end + 1] or " "):
            return False
        if is_number:
            is_cut = text[end - 1] in NUMERALS and text[end : end + 1] in NUMERALS
            return not is_cut and (text[start] not in NUMERALS or is_number_alone(text, start))
        return text[end - 1].isascii() or not goes_on(text, end)

    return stands_alone


def ends_joined_word(text: str, needle: str, has_word: Callable[[str], bool]) -> bool:
    """Whether the needle follows other words without a space, as in a name of code: `strategy` is in
    `updatestrategy`, but `respond` is not in `correspond`."""
    at = text.find(needle)
    if len(needle) >= _SURE_LETTERS:
        return at >= 0
    while at >= 0:
        start = at
        while start and at - start <= _MAX_JOINED and text[start - 1].isascii() and text[start - 1].isalpha():
            start -= 1
        if _is_joined(text[start:at], has_word):
            return True
        at = text.find(needle, at + 1)
    return False


def _is_joined(letters: str, has_word: Callable[[str], bool]) -> bool:
    """Whether these letters are words of three letters or more."""
    if len(letters) > _MAX_JOINED:
        return False
    ends = {0}
    for end in range(_MIN_JOINED, len(letters) + 1):
        if any(start in ends and has_word(letters[start:end]) for start in range(end - _MIN_JOINED + 1)):
            ends.add(end)
    return len(letters) in ends


def starts_number(text: str, start: int, end: int) -> bool:
    """20日 is not in 120日."""
    return not (start and text[start - 1].isdigit())


def is_before_kanji(text: str, start: int, end: int) -> bool:
    """In a text without okurigana between kanji: 申込 is 申し込み in 申し込み書."""
    return "\u3400" <= text[end : end + 1] <= "\u9fff"


def _is_word_character(character: str) -> bool:
    return character.isascii() and character.isalnum()
