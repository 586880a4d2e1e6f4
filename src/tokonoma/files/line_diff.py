"""Which lines of a file are the same after an edit. Pure, in time n log n.

Lines are compared by their hashes. The common beginning and end are the same lines; so are those in between that occur
once in both texts, in the longest sequence that keeps their order, and equal lines beside them. Lines that occur
several times, with nothing around them that stayed, count as changed: that is the safe side.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from tokonoma.files.ranges import Range, intersect_ranges, merge_ranges

HASH_SIZE = 8
"""Bytes. A shorter hash could be met on purpose by another line."""


class SameLines(NamedTuple):
    """Lines that are in both texts: how many, and how many lines are before them in each."""

    old: int
    new: int
    size: int


def hash_lines(lines: Sequence[str]) -> bytes:
    """The hashes of all lines, one after the other. The end of a line does not count: CRLF and LF are the same."""
    hashes = (
        blake2b(line.rstrip("\r\n").encode("utf-8", "surrogatepass"), digest_size=HASH_SIZE).digest() for line in lines
    )
    return b"".join(hashes)


def split_hashes(packed: bytes) -> list[bytes]:
    return [packed[at : at + HASH_SIZE] for at in range(0, len(packed), HASH_SIZE)]


def match_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[SameLines]:
    """The lines that stayed, in order."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end, goal = len(old) - tail, len(new) - tail
    blocks = [SameLines(0, 0, head)]
    for one, other in _find_anchors(old[head:end], new[head:goal]):
        before = blocks[-1]
        start, place = head + one, head + other
        if start < before.old + before.size or place < before.new + before.size:
            continue  # a neighbour has already reached it
        first, first_new = before.old + before.size, before.new + before.size
        while start > first and place > first_new and old[start - 1] == new[place - 1]:
            start, place = start - 1, place - 1
        last, last_new = head + one + 1, head + other + 1
        while last < end and last_new < goal and old[last] == new[last_new]:
            last, last_new = last + 1, last_new + 1
        blocks.append(SameLines(start, place, last - start))
    blocks.append(SameLines(end, goal, tail))
    return [block for block in blocks if block.size]


def _find_anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Lines that occur once in both: the longest sequence of them that has the same order in both."""
    often, often_new = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if often_new[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(old) if often[line] == 1 and line in places]
    ends: list[int] = []  # the smallest last place of a rising sequence of each length
    chosen: list[int] = []  # the pair that ends it
    previous = [-1] * len(pairs)
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous[number] = chosen[length - 1] if length else -1
        ends[length : length + 1] = [place]
        chosen[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = chosen[-1] if chosen else -1
    while at >= 0:
        found.append(pairs[at])
        at = previous[at]
    return found[::-1]


def move_ranges(ranges: Sequence[Range], blocks: Sequence[SameLines]) -> list[Range]:
    """Where the lines that stayed are now."""
    moved: list[Range] = []
    kept = intersect_ranges(ranges, [(block.old + 1, block.old + block.size) for block in blocks])
    at = 0
    for start, end in kept:
        while blocks[at].old + blocks[at].size < start:
            at += 1
        while start <= end:  # two blocks may touch in the old text only
            block = blocks[at]
            last = min(end, block.old + block.size)
            shift = block.new - block.old
            moved.append((start + shift, last + shift))
            start = last + 1
            at += start <= end
    return merge_ranges(moved)


def find_replaced(ranges: Sequence[Range], blocks: Sequence[SameLines], old: int, new: int) -> list[Range]:
    """The new lines that stand where lines of these ranges were."""
    around = [SameLines(0, 0, 0), *blocks, SameLines(old, new, 0)]
    gaps = [
        ((one.old + one.size + 1, other.old), (one.new + one.size + 1, other.new)) for one, other in pairwise(around)
    ]
    known = merge_ranges(ranges)
    ends = [end for _, end in known]
    replaced: list[Range] = []
    for (start, end), place in gaps:
        at = bisect_left(ends, start)
        if start <= end and place[0] <= place[1] and at < len(known) and known[at][0] <= end:
            replaced.append(place)
    return merge_ranges(replaced)
