"""What was found in a text, after something was added to it. Pure.

A detection depends on the text around it, and not on what is far away: on the rest of its line, and at most 4 400
characters of other lines (a key that is broken over lines). Two kinds reach farther, private keys and seed phrases; a
text that may hold one is scanned as a whole.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from operator import attrgetter
from typing import NamedTuple

from tokonoma.policy.detections import Detection
from tokonoma.policy.private_keys import has_key_marks
from tokonoma.policy.seed_phrases import breaks_rows, has_seed_words

_REACH = 6144  # characters between the seam and both the end of the known text and the start of the scan
_AGREED = 1024  # characters before the seam in which both scans must have found the same
_MOST = 4 * _REACH


class Seam(NamedTuple):
    """Starts of lines: the scan begins at `first`; before `at` the known detections hold, from there on the new."""

    first: int
    at: int


def find_seam(before: str) -> Seam | None:
    """None if the lines at the end of the text are too long."""
    at = before.rfind("\n", 0, max(0, len(before) - _REACH)) + 1
    first = before.rfind("\n", 0, max(0, at - _REACH)) + 1
    return Seam(first, at) if at - first >= _REACH and len(before) - first <= _MOST else None


def holds_far_reaching(text: str) -> bool:
    """Whether something in the text may be continued from anywhere."""
    return has_key_marks(text) or has_seed_words(text)


def continues_far(end: str, known: int) -> bool:
    """The same for the end of a text of which the first `known` characters were scanned before, when the text before it
    holds nothing of that kind."""
    return holds_far_reaching(end) or not breaks_rows(end[:known])


def join_detections(known: Sequence[Detection], end: Sequence[Detection], seam: Seam) -> tuple[Detection, ...] | None:
    """None if the two scans disagree where both should be right."""
    moved = [replace(each, start=each.start + seam.first, end=each.end + seam.first) for each in end]
    old, new = _find_from(known, seam.at - _AGREED), _find_from(moved, seam.at - _AGREED)
    old_seam, new_seam = _find_from(known, seam.at), _find_from(moved, seam.at)
    if list(known[old:old_seam]) != moved[new:new_seam]:
        return None
    return (*known[:old_seam], *moved[new_seam:])


def find_difference(before: Sequence[Detection], after: Sequence[Detection], end: int) -> int:
    """Where the first detection stands that only one of two texts has; `end` if there is none."""
    for one, other in zip_longest(before, after):
        if one != other:
            return min(each.start for each in (one, other) if each is not None)
    return end


def _find_from(found: Sequence[Detection], start: int) -> int:
    return bisect_left(found, start, key=attrgetter("start"))
