"""The plan of a batch: its steps and their order, or Invalid with everything that is wrong with the text.

Pure: two functions passed in tell which tools exist and what they take. Nothing runs before the whole text is valid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any, cast

from tokonoma.core.field_paths import format_path, shorten
from tokonoma.gateway import step_parser
from tokonoma.gateway.step_parser import BatchLimits, BatchProblems, BatchStep, CheckParams, FindTool, StepParser

Dependencies = Mapping[str, Sequence[str]]
"""id → the ids that it waits for; an id that is no key waits for nothing"""

_MAX_CYCLE_STEPS = 8  # steps of a cycle that its message names


@dataclass(frozen=True, slots=True)
class BatchPlan:
    steps: tuple[BatchStep, ...]  # in the order of the lines
    levels: tuple[tuple[str, ...], ...]  # ids in waves
    corrections: tuple[str, ...] = ()  # plain slips that were understood


def parse_plan(text: str, find: FindTool, check: CheckParams, limits: BatchLimits | None = None) -> BatchPlan:
    """The plan in a JSONL text. Invalid lists every problem with its line."""
    limits = limits or BatchLimits()
    problems = BatchProblems()
    lines = step_parser.read_lines(text, problems, limits)
    parser = StepParser(problems, find, check, limits)
    steps = [parser.parse_step(line.number, line.value) for line in lines if line.value is not None]
    known = _index_ids(lines, steps, problems)
    steps = [replace(step, after=_find_dependencies(step, known, problems)) for step in steps]
    after = {step.id: step.after for step in steps if known.get(step.id) == step.line}
    for cycle in find_cycles(after):
        shown = [*cycle[:_MAX_CYCLE_STEPS], *(["…"] if len(cycle) > _MAX_CYCLE_STEPS else []), cycle[0]]
        message = f"These {len(cycle)} steps wait for each other in a cycle: {' → '.join(shown)}."
        problems.add(known[cycle[0]], message, id=cycle[0], field="after", cycle=cycle[:100])
    if problems:
        raise problems.to_refusal(len(lines))
    return BatchPlan(tuple(add_read_fields(steps)), group_levels(after), tuple(parser.corrections))


def add_read_fields(steps: Sequence[BatchStep]) -> list[BatchStep]:
    """The steps, each told to return also what other steps read of it: a service's tool returns only some fields."""
    read: dict[str, list[tuple[str, ...]]] = {}
    for each in (reference for step in steps for reference in step.references):
        read.setdefault(each.id, []).append(tuple(key for key in each.path if isinstance(key, str)))
    return [_add_fields(step, read[step.id]) if step.id in read and step.tool.projects else step for step in steps]


def _add_fields(step: BatchStep, paths: Sequence[tuple[str, ...]]) -> BatchStep:
    asked = step.params.get("fields", [])
    if not isinstance(asked, list):  # a reference itself
        return step
    if "has_more" in step.tool.output.get("properties", {}):  # of a list the fields are those of one row
        paths = [path[1:] for path in paths if path[:1] == ("items",)]
    added = dict.fromkeys(f"+{format_path('', path).removeprefix('.')}" for path in paths if path)
    return replace(step, params={**step.params, "fields": [*cast("list[Any]", asked), *added]}) if added else step


def _index_ids(
    lines: Sequence[step_parser.JsonLine], steps: Sequence[BatchStep], problems: BatchProblems
) -> dict[str, int]:
    """id → its line. The id of a broken line counts too, so that one problem is not reported as many."""
    found: dict[str, int] = {}
    for step in steps:
        first = found.setdefault(step.id, step.line) if step.id else step.line
        if first != step.line:
            message = f"Line {first} already has the id {step.id!r}."
            problems.add(step.line, message, id=step.id, field="id")
    for line in lines:
        if line.id:
            found.setdefault(line.id, line.number)
    return found


def _find_dependencies(step: BatchStep, known: Mapping[str, int], problems: BatchProblems) -> tuple[str, ...]:
    """What the step waits for, by `after` or by a reference. Unknown steps and the step itself are problems."""
    asked = dict.fromkeys(step.after, "after")
    for each in step.references:
        asked.setdefault(each.id, each.text)
    needed: list[str] = []
    for id, place in asked.items():
        field = "after" if place == "after" else "params"
        if id == step.id:
            problems.add(step.line, f"The step waits for itself ({shorten(place)}).", id=step.id, field=field)
        elif id not in known:
            message = f"{shorten(place)} refers to the step {shorten(id)!r}, which is not in this batch."
            problems.add(step.line, message, id=step.id, field=field, nearest=problems.find_near(id, known))
        else:
            needed.append(id)
    return tuple(needed)


def find_cycles(after: Dependencies) -> list[list[str]]:
    """One cycle per group of steps in a circle: each waits for the next, and the last for the first."""
    found: list[list[str]] = []
    done: set[str] = set()
    named: set[str] = set()
    for start in after:
        for cycle in _search_cycles(start, after, done):
            if named.isdisjoint((cycle[0], cycle[-1])):
                named.update(cycle)
                found.append(cycle)
    return found


def group_levels(after: Dependencies) -> tuple[tuple[str, ...], ...]:
    """The steps in waves: a step is one wave after the last that it waits for. There must be no cycle."""
    sorter = TopologicalSorter(after)
    sorter.prepare()
    waves: list[tuple[str, ...]] = []
    while sorter.is_active():
        waves.append(sorter.get_ready())
        sorter.done(*waves[-1])
    return tuple(waves)


def _search_cycles(start: str, after: Dependencies, done: set[str]) -> Iterator[list[str]]:
    """Depth first from `start`, without recursion; every edge back onto the path is a cycle."""
    path, place, ahead = [start], {start: 0}, [iter(after[start])]
    while path and start not in done:
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
