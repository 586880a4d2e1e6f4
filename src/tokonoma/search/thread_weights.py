"""What a turn of a conversation means shows in the turns around it, too: they lend it their nearness. Pure.

A share is never lowered by its neighbours: a record that stands alone counts as much as one of a thread.
"""

from collections.abc import Iterable, Mapping

from tokonoma.search.threads import ThreadPosition

_SHARES = {-2: 0.2, -1: 0.4, 1: 0.4, 2: 0.2}
"""What a neighbour lends, by how far away it sits."""

_ALL = 1.0 + sum(_SHARES.values())


def weigh_neighbours(numbers: Iterable[int], seats: Mapping[int, ThreadPosition]) -> dict[int, dict[int, float]]:
    """Of each of these documents that has a seat: who sits around it, and how much of theirs it gets."""
    taken = {seat: number for number, seat in seats.items()}
    found: dict[int, dict[int, float]] = {}
    for number in numbers:
        if number in seats:
            thread, seat = seats[number]
            around = {taken.get((thread, seat + step)): share for step, share in _SHARES.items()}
            found[number] = {other: share for other, share in around.items() if other is not None}
    return found


def blend_with_neighbours(own: float, around: Mapping[int, float], shares: Mapping[int, float]) -> float:
    """The document's own share, or the mean of it and its neighbours', whichever is more."""
    return max(own, (own + sum(part * shares.get(other, 0.0) for other, part in around.items())) / _ALL)
