"""Texts that make a regular expression work hard, made from the expression's own pieces.

A slow expression is slow on a text that nearly matches: one that starts a match again and again (`<!--<!--<!--`), or
repeats what a loop takes and then ends wrongly (`---\nx\nx\nx`). Both are built from the parsed expression.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from re import _constants as op  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_CATEGORIES = {
    op.CATEGORY_DIGIT: "7", op.CATEGORY_NOT_DIGIT: "x", op.CATEGORY_SPACE: " ", op.CATEGORY_NOT_SPACE: "x",
    op.CATEGORY_WORD: "w", op.CATEGORY_NOT_WORD: "~",
}  # fmt: skip
_TAILS = ("\x01", "", "\n!")
_MOST_PIECES = 10
_MOST_PAIRED = 3
_MOST_STARTS = 3


def build_texts(pattern: re.Pattern[Any], size: int, tails: int = 3) -> Iterator[str]:
    """Hostile texts of about this many characters, each with up to three endings."""
    starts, pieces = _list_pieces(list(parser.parse(pattern.pattern, pattern.flags)))
    by_length = sorted(dict.fromkeys(each for each in pieces if each), key=len)
    # The longest say most: they are whole near matches. The shortest are what loops take.
    units = list(dict.fromkeys((*by_length[: -_MOST_PIECES // 2 : -1], *by_length[: _MOST_PIECES // 2])))
    signs = [each for each in by_length if len(each) == 1][:_MOST_PAIRED]
    pairs = [one + other for many in (units[:_MOST_PAIRED], signs) for one in many for other in many if one != other]
    for unit in dict.fromkeys((*units, *pairs, " ", "\n", "a", "あ")):
        body = (unit * (size // len(unit) + 1))[:size]
        for start in ("", *starts[:_MOST_STARTS]):
            for tail in _TAILS[:tails]:
                yield start + body + tail


def _list_pieces(nodes: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The starts after which a loop begins, and the pieces to repeat: each prefix of the sequence, each loop's body,
    each character."""
    starts: list[str] = []
    pieces: list[str] = []
    for index, node in enumerate(nodes):
        for full in (True, False):
            pieces.append(_write(nodes[: index + 1], full))
        kind, value = node
        for each in _inner_sequences(kind, value):
            deeper, parts = _list_pieces(each)
            here = _write(nodes[:index], full=True)
            starts += [here, *(here + start for start in deeper)]
            pieces += [_write(each, True), *parts]
        if kind in (op.LITERAL, op.IN, op.ANY, op.NOT_LITERAL, op.CATEGORY):
            pieces.append(_write([node], full=True))
    return list(dict.fromkeys(each for each in starts if each)), pieces


def _inner_sequences(kind: Any, value: Any) -> list[list[Any]]:
    if kind in _REPEATS:
        return [list(value[2])]
    if kind is op.SUBPATTERN:
        return [list(value[3])]
    if kind is op.BRANCH:
        return [list(each) for each in value[1]]
    if kind is op.ATOMIC_GROUP:
        return [list(value)]
    return []


def _write(nodes: Sequence[Any], full: bool) -> str:
    """A text that these nodes match; `full`: each optional part once, each alternative the last one."""
    return "".join(_write_node(kind, value, full) for kind, value in nodes)


def _write_node(kind: Any, value: Any, full: bool) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return "x" if value != ord("x") else "y"
    if kind is op.ANY:
        return "x"
    if kind is op.IN:
        return _write_class(value)
    if kind is op.CATEGORY:
        return _CATEGORIES.get(value, "x")
    if kind in _REPEATS:
        least, most, inner = value
        count = max(least, 1) if full and most else least
        return _write(list(inner), full) * min(count, 50)
    if kind is op.BRANCH:
        return _write(list(value[1][-1 if full else 0]), full)
    if kind is op.SUBPATTERN:
        return _write(list(value[3]), full)
    if kind is op.ATOMIC_GROUP:
        return _write(list(value), full)
    return ""  # an assertion or a back reference takes nothing of its own


def _write_class(items: Sequence[Any]) -> str:
    if items[0][0] is op.NEGATE:
        taken = re.compile("[" + "".join(_class_text(*each) for each in items[1:]) + "]")
        return next((each for each in "x~ 7あ\n\u0300" if not taken.match(each)), "x")
    kind, value = items[0]
    if kind is op.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is op.RANGE else _CATEGORIES.get(value, "x")


def _class_text(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {
        op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s",
        op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
    }[value]  # fmt: skip
