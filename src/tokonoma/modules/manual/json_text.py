"""JSON as text that can be searched and read by line: escapes, where each value is, and one member per line.

A JSON file keeps its lines if a person could have written them. A minified one is spread over lines, so that every part
of it has a line. Pure functions.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise

from tokonoma.files.text import find_line_starts

_MAX_LINE = 1000  # characters of a line with several values: a file with a longer one is spread
_MAX_INLINE = 200  # characters of an object or array that stays on one line when a file is spread
_MAX_INDENT = 20
_MAX_POINTER = 1000  # characters
_MAX_VALUES = 1_000_000

_TOKEN = re.compile(
    r'[ \t\r\n]*+([\[\]{},:]|"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
    r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null|NaN|-?Infinity|\Z)"
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NEEDED = frozenset({0x22, 0x5C, 0x7F, *range(0x20)})  # characters that stay escaped, beside lone surrogates
# An escape is a letter that touches the next word: `\n090…` is no telephone number to a detector. For detectors each is
# written as two separators. A form feed cannot stand in JSON, so they can be changed back.
_SEPARATED = {"\\n": "\f ", "\\r": "\f\r", "\\t": "\f\t", "\\b": "\f\v", "\\f": "\f\f"}
_JOINED = {value: key for key, value in _SEPARATED.items()}
_PAIR = re.compile(r"\\.", re.DOTALL)
_SEPARATORS = re.compile(r"\f([ \r\t\v\f]?)")


class JsonTree:
    """Where the values of a JSON text are, in the order of the text. A value is named by its number.

    `starts` and `stops` are the places of the values, `keys` those of their members (key or value), `ends` the first
    value that is not inside them.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        self.stops: list[int] = []
        self.keys: list[int] = []
        self.names: list[str | int] = []
        self.parents: list[int] = []
        self.ends: list[int] = []

    def children(self, value: int) -> Iterator[int]:
        child, end = value + 1, self.ends[value]
        while child < end:
            yield child
            child = self.ends[child]

    def is_container(self, value: int) -> bool:
        """Whether it is an object or an array with something in it."""
        return self.ends[value] > value + 1

    def size(self, value: int) -> int:
        return self.stops[value] - self.keys[value]

    def scalar(self, value: int) -> str | None:
        """The decoded text of a string, number or literal."""
        written = self.text[self.starts[value] : self.stops[value]]
        return None if written[0] in "{[" else decode_escapes(written[1:-1]) if written[0] == '"' else written

    @cached_property
    def _line_starts(self) -> list[int]:
        return find_line_starts(self.text)

    def line_at(self, place: int) -> int:
        return max(1, min(bisect_right(self._line_starts, place), len(self._line_starts) - 1))

    def lines(self, value: int) -> tuple[int, int]:
        """The first and last line of a member."""
        return self.line_at(self.keys[value]), self.line_at(self.stops[value] - 1)

    def list_keys(self, value: int) -> Iterator[tuple[int, str]]:
        """The keys on the way to a value as they are written, each with its line."""
        while value > 0:
            if isinstance(self.names[value], str):
                start = self.keys[value]
                yield self.line_at(start), self.text[start : self.starts[value]].rstrip(" \t\r\n:")
            value = self.parents[value]

    def find(self, pointer: str) -> int | None:
        """The value that a JSON Pointer (RFC 6901) leads to; of equal keys, the last."""
        if pointer and not pointer.startswith("/"):
            return None
        value = 0
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = [child for child in self.children(value) if str(self.names[child]) == name]
            if not found:
                return None
            value = found[-1]
        return value

    def pointer(self, value: int) -> str | None:
        """None if it would be too long, or would lead to another value, because a key occurs twice."""
        steps: list[str] = []
        at = value
        while at > 0:
            steps.append(escape_name(self.names[at]))
            at = self.parents[at]
            if len(steps) > _MAX_POINTER:
                return None
        pointer = "".join(reversed(steps))
        return pointer if len(pointer) <= _MAX_POINTER and self.find(pointer) == value else None

    def value_of_line(self, line: int) -> int:
        """The innermost value to which everything that starts in this line belongs."""
        first = bisect_right(self.keys, self._line_starts[line - 1] - 1)
        last = bisect_right(self.keys, self._line_starts[line] - 1) - 1
        if last < first:  # only brackets: what they close is around the value before them
            first = last = self.parents[first - 1] if first and self.parents[first - 1] >= 0 else 0
        while first > 0 and self.ends[first] <= last:
            first = self.parents[first]
        return max(0, first)


def escape_name(name: str | int) -> str:
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def remove_needless_escapes(text: str) -> str:
    """`\\u3042` becomes あ: what must be escaped stays. The lines and the meaning are the same, in valid JSON."""

    def decode(match: re.Match[str]) -> str:
        if match[1] is None:
            return "/" if match[3] == "/" else match[0]
        code, low = int(match[1], 16), match[2]
        if 0xD800 <= code < 0xDC00 and low is not None:
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low, 16) - 0xDC00)
        rest = "" if low is None else f"\\u{low}"
        return (match[0][:6] if code in _NEEDED or 0xD800 <= code < 0xE000 else chr(code)) + rest

    return _ESCAPE.sub(decode, text) if "\\" in text else text


def decode_escapes(text: str) -> str:
    """What the escapes of a text mean; a text that was masked, or is no string, is decoded as far as it can be."""

    def decode(match: re.Match[str]) -> str:
        if match[1] is None:
            return _LETTERS.get(match[3], match[3])
        return chr(int(match[1], 16)) + ("" if match[2] is None else chr(int(match[2], 16)))

    return _ESCAPE.sub(decode, text) if "\\" in text else text


def separate_escapes(text: str) -> str:
    """The text as detectors should read it, of the same length."""
    if "\\" not in text or "\f" in text:
        return text
    return _PAIR.sub(lambda match: _SEPARATED.get(match[0], match[0]), text)


def mask_json(text: str, mask: Callable[[str], str]) -> str:
    """A JSON text as `mask` shows it, with escapes read as what they mean."""
    separated = separate_escapes(text)
    if separated == text:
        return mask(text)
    return _SEPARATORS.sub(lambda match: _JOINED.get(match[0], " " + match[1]), mask(separated))


def scan_json(text: str) -> JsonTree:
    """Find every value; ValueError says in which line it is no JSON, or that there are too many. Nothing is nested too
    deeply for it."""
    tree, open_values, expected, at = JsonTree(text), list[int](), "value", 0
    counts: list[int] = []
    key: tuple[int, str] | None = None
    while True:
        match = _TOKEN.match(text, at)
        token = match[1] if match else None
        if match is None or token is None or (not token and expected != "end"):
            raise ValueError(f"not valid JSON (line {_count_lines(text, at)})")
        if not token:
            return tree
        start, at = match.start(1), match.end()
        sign = token[0]
        if expected in ("value", "item") and sign not in ",:}]":
            _add_value(tree, start, at, open_values, counts, key)
            key = None
            if len(tree.starts) > _MAX_VALUES:
                raise ValueError(f"more than {_MAX_VALUES} values")
            if sign in "{[":
                open_values.append(len(tree.starts) - 1)
                counts.append(0)
                expected = "key" if sign == "{" else "item"
                continue
        elif expected in ("key", "name") and sign == '"':
            key, expected = (start, decode_escapes(token[1:-1])), "colon"
            continue
        elif expected == "colon" and sign == ":":
            expected = "value"
            continue
        elif expected == "next" and sign == ",":
            expected = "name" if text[tree.starts[open_values[-1]]] == "{" else "value"
            continue
        elif sign in "}]" and _closes(tree, open_values, expected, sign):
            counts.pop()
            closed = open_values.pop()
            tree.stops[closed], tree.ends[closed] = at, len(tree.starts)
        else:
            raise ValueError(f"not valid JSON (line {_count_lines(text, start)})")
        expected = "next" if open_values else "end"


def _closes(tree: JsonTree, open_values: list[int], expected: str, sign: str) -> bool:
    return (
        bool(open_values)
        and expected in ("next", "key", "item")
        and tree.text[tree.starts[open_values[-1]]] == ("{" if sign == "}" else "[")
    )


def _count_lines(text: str, end: int) -> int:
    return text.count("\n", 0, end) + 1


def _add_value(
    tree: JsonTree, start: int, stop: int, open_values: list[int], counts: list[int], key: tuple[int, str] | None
) -> None:
    tree.starts.append(start)
    tree.stops.append(stop)
    tree.parents.append(open_values[-1] if open_values else -1)
    tree.ends.append(len(tree.starts))
    tree.keys.append(start if key is None else key[0])
    tree.names.append(key[1] if key is not None else counts[-1] if counts else "")
    if counts:
        counts[-1] += 1


def spread_json(tree: JsonTree) -> str | None:
    """The text with one member per line; None if it may stay as it is."""
    if not _has_long_line(tree):
        return None
    text, depths, breaks = tree.text, list[int](), list[tuple[int, int]]()
    for value, parent in enumerate(tree.parents):
        depths.append(0 if parent < 0 else depths[parent] + 1)
        if parent >= 0 and tree.stops[parent] - tree.starts[parent] > _MAX_INLINE:
            breaks.append((tree.keys[value], depths[value]))
        if tree.is_container(value) and tree.stops[value] - tree.starts[value] > _MAX_INLINE:
            breaks.append((tree.stops[value] - 1, depths[value]))
    parts: list[str] = []
    at = 0
    for place, depth in sorted(breaks):
        parts.append(text[at:place].rstrip(" \t\r\n"))
        parts.append("\n" + " " * min(depth, _MAX_INDENT))
        at = place
    return "".join([*parts, text[at:]])


def _has_long_line(tree: JsonTree) -> bool:
    starts = find_line_starts(tree.text)
    for start, stop in pairwise(starts):
        if stop - start > _MAX_LINE:
            first, last = bisect_right(tree.keys, start - 1), bisect_right(tree.keys, stop - 1)
            if last - first > 1:
                return True
    return False
