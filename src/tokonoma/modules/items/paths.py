"""All paths between two nodes of a graph, the shortest first. Pure.

Before a step is taken it is known how far its end is from the goal, so a path that cannot arrive in time is not begun.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Graph = Mapping[int, Iterable[int]]


@dataclass(slots=True)
class FoundPaths:
    found: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    complete: bool = True  # False: there are more than were allowed, or finding them would take too many steps


def measure_distances(graph: Graph, goal: int) -> dict[int, int]:
    found, waiting = {goal: 0}, deque([goal])
    while waiting:
        node = waiting.popleft()
        for other in graph.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found


def find_paths(graph: Graph, start: int, goal: int, longest: int, most: int, steps: int) -> FoundPaths:
    """Paths that meet no node twice, by length and then by their nodes; at most `most`, in at most `steps` steps."""
    told = FoundPaths()
    if start == goal:
        told.found.append((start,))
        return told
    away = measure_distances(graph, goal)
    counter = _StepBudget(steps)
    for length in range(away.get(start, longest + 1), longest + 1):
        for path in _iterate_paths(graph, away, start, goal, length, counter):
            if len(told.found) == most:
                told.complete = False
                return told
            told.found.append(path)
        if counter.is_spent:
            told.complete = False
            return told
    return told


class _StepBudget:
    def __init__(self, steps: int) -> None:
        self._left = steps

    def take_step(self) -> bool:
        self._left -= 1
        return self._left >= 0

    @property
    def is_spent(self) -> bool:
        return self._left < 0


def _iterate_paths(
    graph: Graph, away: Mapping[int, int], start: int, goal: int, length: int, counter: _StepBudget
) -> Iterator[tuple[int, ...]]:
    """Without recursion: an iterator over the next steps for each node of the path so far."""
    path, branches = [start], [iter(graph.get(start, ()))]
    on_path = {start}
    while branches:
        left = length - len(path)  # steps that are left after the next one
        for node in branches[-1]:
            if not counter.take_step():
                return
            if node in on_path or away.get(node, length) > left or (node == goal) != (left == 0):
                continue
            if left == 0:
                yield (*path, node)
                continue
            path.append(node)
            on_path.add(node)
            branches.append(iter(graph.get(node, ())))
            break
        else:
            branches.pop()
            on_path.discard(path.pop())
