"""Marks inside Markdown text: code, escapes, comments and emphasis, as CommonMark defines them. Pure functions, in time
linear in the length of the text.

`fill` puts dots in the place of what is no Markdown, so that other functions find only marks that count. Places in the
result are places in the text.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokonoma.files.markdown import scan_blocks

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
ESCAPED = re.compile(rf"\\({_PUNCTUATION})")
_SPAN = re.compile(rf"\\{_PUNCTUATION}|`++|<!--")
_RUN = re.compile("`++")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+(?=\n)")
_EMPHASIS = re.compile(r"\*++|_++")
# A name like `__init__` is meant as it is written, though CommonMark makes it bold.
_NAME = re.compile(r"\b__[a-z0-9]++(?:_[a-z0-9]++)*+__\b")
_ANY = re.compile(r"[^\n]")

Span = tuple[int, int]
"""The first place, and the place after the last"""


def blank_code(text: str) -> str:
    """The text with dots for code, escaped characters and comments."""
    if "```" in text or "~~~" in text or "    " in text or "\t" in text:
        code = scan_blocks(text, keep_items=False, keep_code=True).code_lines
        if code:
            lines = text.split("\n")
            for number in code:
                lines[number - 1] = "." * len(lines[number - 1])
            text = "\n".join(lines)
    return fill(text, [(start, end) for start, end, _ in find_spans(text)])


def fill(text: str, spans: Sequence[Span]) -> str:
    """The text with dots at these places, which are in order. Line ends stay."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        inner = text[start:end]
        parts += (text[at:start], _ANY.sub(".", inner) if "\n" in inner else "." * (end - start))
        at = end
    return "".join([*parts, text[at:]])


def find_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """The first place, the end, and the width of the marks, of every code span, escaped character and comment."""
    if "`" not in text and "\\" not in text and "<!--" not in text:
        return
    runs: dict[int, list[int]] = {}
    for run in _RUN.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    blanks = [match.start() for match in _BLANK_LINE.finditer(text)] if runs else []
    last_comment = text.rfind("-->")
    at = 0
    while found := _SPAN.search(text, at):
        start, at = found.span()
        sign = text[start]
        if sign == "\\":
            yield start, at, 1
        elif sign == "<":
            if at <= last_comment:
                at = text.find("-->", at) + 3
                yield start, at, 0
        else:
            same = runs.get(at - start, [])  # a run after a backslash is shorter than it was
            place = bisect_left(same, at)
            if place < len(same) and bisect_right(blanks, start) == bisect_right(blanks, same[place]):
                width, at = at - start, same[place] + at - start
                yield start, at, width


@dataclass(slots=True)
class _Delimiter:
    sign: str
    start: int
    end: int  # of the signs that are left
    size: int  # of the signs that were there
    can_close: bool


def find_emphasis(shape: str) -> list[Span]:
    """The places of the signs of emphasis, without order. `shape` has dots for what is no Markdown."""
    found: list[Span] = []
    shape = fill(shape, [match.span() for match in _NAME.finditer(shape)]) if "__" in shape else shape
    open_runs: list[_Delimiter] = []
    bottoms: dict[tuple[str, bool, int], int] = {}  # below it there is nothing for such a closing run
    for run in _EMPHASIS.finditer(shape):
        can_open, can_close = _classify(shape, run.start(), run.end())
        here = _Delimiter(run[0][0], run.start(), run.end(), len(run[0]), can_close)
        while can_close and here.start < here.end:
            key = here.sign, can_open, here.size % 3
            index = _find_opening(open_runs, here, can_open, bottoms.get(key, 0))
            if index < 0:
                bottoms[key] = len(open_runs)
                break
            opening = open_runs[index]
            width = 2 if min(opening.end - opening.start, here.end - here.start) > 1 else 1
            found += ((opening.end - width, opening.end), (here.start, here.start + width))
            opening.end, here.start = opening.end - width, here.start + width
            del open_runs[index + (opening.start < opening.end) :]
        if can_open and here.start < here.end:
            open_runs.append(here)
    return found


def _find_opening(open_runs: Sequence[_Delimiter], here: _Delimiter, can_open: bool, bottom: int) -> int:
    for index in range(len(open_runs) - 1, bottom - 1, -1):
        each = open_runs[index]
        odd = (each.can_close or can_open) and (each.size + here.size) % 3 == 0 and (each.size % 3 or here.size % 3)
        if each.sign == here.sign and not odd:
            return index
    return -1


def _classify(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a run of signs can open and close emphasis; `_` does neither inside of a word."""
    before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
    before_mark, after_mark = _is_mark(before), _is_mark(after)
    left = not after.isspace() and (not after_mark or before.isspace() or before_mark)
    right = not before.isspace() and (not before_mark or after.isspace() or after_mark)
    if text[start] == "*":
        return left, right
    return left and (not right or before_mark), right and (not left or after_mark)


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"
