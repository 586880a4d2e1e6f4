"""Who waits for whom: cycles and levels. Pure, and without recursion, since a chain may be as long as the plan."""

from collections.abc import Iterator, Mapping, Sequence

Dependencies = Mapping[str, Sequence[str]]
"""id → the ids that it waits for; one that is no key waits for nothing"""


def find_cycles(after: Dependencies) -> list[list[str]]:
    """One cycle for each knot of steps: each waits for the next, and the last for the first."""
    found: list[list[str]] = []
    done: set[str] = set()
    named: set[str] = set()
    for start in after:
        if start not in done:
            for cycle in _search_cycles(start, after, done):
                if named.isdisjoint((cycle[0], cycle[-1])):
                    named.update(cycle)
                    found.append(cycle)
    return found


def group_levels(after: Dependencies) -> list[list[str]]:
    """The steps in waves: a step stands one wave after the last of those it waits for. Without cycles only."""
    waiting = {id: len(needs) for id, needs in after.items()}
    needed: dict[str, list[str]] = {id: [] for id in after}
    for id, needs in after.items():
        for each in needs:
            needed[each].append(id)
    waves: list[list[str]] = []
    wave = [id for id, count in waiting.items() if count == 0]
    while wave:
        waves.append(wave)
        freed: list[str] = []
        for id in wave:
            for each in needed[id]:
                waiting[each] -= 1
                if waiting[each] == 0:
                    freed.append(each)
        wave = freed
    return waves


def _search_cycles(start: str, after: Dependencies, done: set[str]) -> Iterator[list[str]]:
    """Depth first from `start`; every way back onto the path that led here is a cycle."""
    path, place, ahead = [start], {start: 0}, [iter(after[start])]
    while path:
        step = next((each for each in ahead[-1] if each not in done), None)
        if step is None:
            done.add(path[-1])
            del place[path.pop()]
            ahead.pop()
        elif step in place:
            yield path[place[step] :]
        else:
            place[step] = len(path)
            path.append(step)
            ahead.append(iter(after.get(step, ())))
