"""Edits of a text, and what they must not do: lay bare what is hidden from the caller.

Much is recognized by the words around it. A caller from whom a password is hidden could change `DB_PASSWORD=` before it
to another word, and read it. So what was hidden and stays in the text has to be hidden afterwards, too.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.text import file_address, namespace_of

Span = tuple[int, int]


class TextEdit(NamedTuple):
    """Other words for a part of a text."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """`edits` are in order, and none overlaps another."""
    parts: list[str] = []
    at = 0
    for each in edits:
        parts += (text[at : each.start], each.text)
        at = each.end
    return "".join([*parts, text[at:]])


def check_hidden(desk: Desk, parts: PathParts, before: str, after: str, edits: Sequence[TextEdit]) -> None:
    """Denied if the edits show this caller something of the file that was hidden from it."""
    address, namespace = file_address(join_path(parts)), namespace_of(parts)
    hidden = desk.policy.find_hidden(before, address, namespace)
    if not hidden:
        return
    still = desk.policy.find_hidden(after, address, namespace)
    for start, end in _list_kept(hidden, edits):
        if not _is_covered(after, start, end, still):
            line = after.count("\n", 0, start) + 1
            raise Denied(
                f"{join_path(parts)} would show in line {line} what is hidden from you: it is recognized by the text"
                " around it. Leave that as it is. Nothing was changed.",
                reason="hidden",
                line=line,
            )


def _list_kept(hidden: Sequence[Span], edits: Sequence[TextEdit]) -> Iterator[Span]:
    """Where that which was hidden stands after the edits, without what they have replaced."""
    shift, place = 0, 0
    for start, end in hidden:
        while place < len(edits) and edits[place].end <= start:
            shift += len(edits[place].text) - (edits[place].end - edits[place].start)
            place += 1
        at, moved, later = start, shift, place
        while later < len(edits) and edits[later].start < end:
            each = edits[later]
            if at < each.start:
                yield at + moved, each.start + moved
            at, later = max(at, each.end), later + 1
            moved += len(each.text) - (each.end - each.start)
        if at < end:
            yield at + moved, end + moved


def _is_covered(text: str, start: int, end: int, hidden: Sequence[Span]) -> bool:
    """Whether all of it is hidden but spaces."""
    place = max(bisect_right(hidden, start, key=lambda span: span[0]) - 1, 0)
    while start < end:
        while place < len(hidden) and hidden[place][1] <= start:
            place += 1
        stop = min(hidden[place][0], end) if place < len(hidden) else end
        if start < stop and text[start:stop].strip():
            return False
        start = max(start, hidden[place][1]) if place < len(hidden) else end
    return True
