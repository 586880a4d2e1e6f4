"""Who sits beside whom in a thread, as far as a caller can see it. Pure.

A thread is a row of documents in the order in which they came. Those that the filter leaves out are not there: who sat
on both sides of them sit beside each other.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

from tokonoma.search.candidates import SearchCandidate

ThreadPosition = tuple[Hashable, int]
"""A thread, and a number in it: neighbours' numbers differ by one."""

_APART = 100


def assign_positions(candidates: Iterable[SearchCandidate]) -> dict[int, ThreadPosition]:
    """All that there are of each thread."""
    threads: dict[Hashable, list[SearchCandidate]] = {}
    for each in candidates:
        if each.thread is not None:
            threads.setdefault(each.thread, []).append(each)
    return {
        each.id: (thread, seat)
        for thread, row in threads.items()
        for seat, each in enumerate(sorted(row, key=_thread_order))
    }


def assign_partial_positions(
    rows: Iterable[Sequence[int]], candidates: Mapping[int, SearchCandidate]
) -> dict[int, ThreadPosition]:
    """Pieces of threads, which may overlap: between two pieces that do not touch, some are missing."""
    beside = {pair for row in rows for pair in pairwise(row)}
    there = {number for row in rows for number in row}
    threads = assign_positions(candidates[number] for number in there if number in candidates)
    seats: dict[int, ThreadPosition] = {}
    last: int | None = None
    shift = 0
    for number, (thread, seat) in threads.items():
        if last is None or (last, number) not in beside:
            shift += _APART
        seats[number] = (thread, seat + shift)
        last = number
    return seats


def _thread_order(candidate: SearchCandidate) -> tuple[int, int]:
    return candidate.place, candidate.id
