"""plan: the text of a batch becomes steps that wait for each other, or the list of everything that is wrong with it.

Pure: which tools exist and what they take is asked of two functions that are handed in. Nothing runs before the whole
text has been found sound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.module import ToolInfo
from tokonoma.gateway.graph import find_cycles, group_levels
from tokonoma.gateway.jsonl import BatchLimits, JsonLine, read_lines
from tokonoma.gateway.problems import BatchProblems
from tokonoma.gateway.reference import StepReference, shorten
from tokonoma.gateway.step_parser import CheckParams, FindTool, ParsedStep, StepParser

_MAX_CYCLE_STEPS = 8  # steps of a cycle that its message names


@dataclass(frozen=True, slots=True)
class BatchStep:
    line: int
    id: str
    tool: ToolInfo
    params: Mapping[str, Any]  # references not yet filled in
    after: tuple[str, ...]  # everything that it waits for: what `after` names, then what its references name
    references: tuple[StepReference, ...]
    output: bool = False
    fields: tuple[str, ...] | None = None
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class BatchPlan:
    steps: tuple[BatchStep, ...]  # in the order of the lines
    levels: tuple[tuple[str, ...], ...]  # ids in waves


def parse_plan(text: str, lookup: FindTool, check: CheckParams, limits: BatchLimits | None = None) -> BatchPlan:
    """The plan that a JSONL text holds. Invalid lists every fault with its line."""
    limits = limits or BatchLimits()
    faults = BatchProblems()
    lines = read_lines(text, faults, limits)
    reader = StepParser(faults, lookup, check, limits)
    drafts = [reader.parse_step(line.number, line.value) for line in lines if line.value is not None]
    known = _index_ids(lines, drafts, faults)
    needs = [_find_dependencies(draft, known, faults) for draft in drafts]
    after = {draft.id: needed for draft, needed in zip(drafts, needs, strict=True) if known.get(draft.id) == draft.line}
    for cycle in find_cycles(after):
        _add_cycle(cycle, known[cycle[0]], faults)
    if faults:
        raise faults.to_refusal(len(lines))
    return BatchPlan(
        tuple(_build_step(draft, after[draft.id]) for draft in drafts), tuple(map(tuple, group_levels(after)))
    )


def _index_ids(lines: Sequence[JsonLine], drafts: Sequence[ParsedStep], faults: BatchProblems) -> dict[str, int]:
    """id → its line. A broken line still lends its id, so that one fault is not told as many."""
    found: dict[str, int] = {}
    for draft in drafts:
        first = found.setdefault(draft.id, draft.line) if draft.id else draft.line
        if first != draft.line:
            message = f"The id {draft.id!r} is already that of line {first}."
            faults.add(draft.line, message, id=draft.id, field="id")
    for line in lines:
        if line.id:
            found.setdefault(line.id, line.number)
    return found


def _find_dependencies(draft: ParsedStep, known: Mapping[str, int], faults: BatchProblems) -> tuple[str, ...]:
    """What the step waits for: a reference implies it. Unknown steps and the step itself are faults."""
    asked = dict.fromkeys(draft.after, "after")
    for each in draft.references:
        asked.setdefault(each.id, each.text)
    needed: list[str] = []
    for id, place in asked.items():
        field = "after" if place == "after" else "params"
        if id == draft.id:
            faults.add(draft.line, f"The step waits for itself ({shorten(place)}).", id=draft.id, field=field)
        elif id not in known:
            message = f"{shorten(place)} names the step {shorten(id)!r}, which this batch does not have."
            faults.add(draft.line, message, id=draft.id, field=field, nearest=faults.find_near(id, known))
        else:
            needed.append(id)
    return tuple(needed)


def _build_step(draft: ParsedStep, after: tuple[str, ...]) -> BatchStep:
    assert draft.tool is not None, "a line without a tool is a fault"
    return BatchStep(
        line=draft.line,
        id=draft.id,
        tool=draft.tool,
        params=draft.params,
        after=after,
        references=draft.references,
        output=draft.output,
        fields=draft.fields,
        time_limit=draft.time_limit,
    )


def _add_cycle(cycle: Sequence[str], line: int, faults: BatchProblems) -> None:
    shown = [*cycle[:_MAX_CYCLE_STEPS], *(["…"] if len(cycle) > _MAX_CYCLE_STEPS else []), cycle[0]]
    message = f"These {len(cycle)} steps wait for each other in a cycle: {' → '.join(shown)}."
    faults.add(line, message, id=cycle[0], field="after", cycle=list(cycle[:100]))
