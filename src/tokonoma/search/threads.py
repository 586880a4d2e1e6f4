"""Who sits beside whom in a thread, as far as a caller can see it. Pure.

A thread is a row of documents in the order in which they came. Those that the filter leaves out are not there: who sat
on both sides of them sit beside each other.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

from tokonoma.search.candidates import Candidate

Seat = tuple[Hashable, int]
"""A thread, and a number in it: neighbours' numbers differ by one."""

_APART = 100


def seats_of(candidates: Iterable[Candidate]) -> dict[int, Seat]:
    """All that there are of each thread."""
    threads: dict[Hashable, list[Candidate]] = {}
    for each in candidates:
        if each.thread is not None:
            threads.setdefault(each.thread, []).append(each)
    return {
        each.id: (thread, seat) for thread, row in threads.items() for seat, each in enumerate(sorted(row, key=_order))
    }


def seats_of_rows(rows: Iterable[Sequence[int]], candidates: Mapping[int, Candidate]) -> dict[int, Seat]:
    """Pieces of threads, which may overlap: between two pieces that do not touch, some are missing."""
    beside = {pair for row in rows for pair in pairwise(row)}
    there = {number for row in rows for number in row}
    threads = seats_of(candidates[number] for number in there if number in candidates)
    seats: dict[int, Seat] = {}
    last: int | None = None
    shift = 0
    for number, (thread, seat) in threads.items():
        if last is None or (last, number) not in beside:
            shift += _APART
        seats[number] = (thread, seat + shift)
        last = number
    return seats


def _order(candidate: Candidate) -> tuple[int, int]:
    return candidate.place, candidate.id
