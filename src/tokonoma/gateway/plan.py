"""plan: the text of a batch becomes steps that wait for each other, or the list of everything that is wrong with it.

Pure: which tools exist and what they take is asked of two functions that are handed in. Nothing runs before the whole
text has been found sound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.module import Entry
from tokonoma.gateway.graph import cycles, levels
from tokonoma.gateway.jsonl import Limits, Line, read_lines
from tokonoma.gateway.problems import Faults
from tokonoma.gateway.reference import Reference, shortened
from tokonoma.gateway.step_parser import Check, Draft, Lookup, Reader

_SHOWN = 8  # steps of a cycle that its message names


@dataclass(frozen=True, slots=True)
class Step:
    line: int
    id: str
    entry: Entry
    params: Mapping[str, Any]  # references not yet filled in
    after: tuple[str, ...]  # everything that it waits for: what `after` names, then what its references name
    references: tuple[Reference, ...]
    output: bool = False
    fields: tuple[str, ...] | None = None
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Step, ...]  # in the order of the lines
    levels: tuple[tuple[str, ...], ...]  # ids in waves


def read_plan(text: str, lookup: Lookup, check: Check, limits: Limits | None = None) -> Plan:
    """The plan that a JSONL text holds. Invalid lists every fault with its line."""
    limits = limits or Limits()
    faults = Faults()
    lines = read_lines(text, faults, limits)
    reader = Reader(faults, lookup, check, limits)
    drafts = [reader.read(line.number, line.value) for line in lines if line.value is not None]
    known = _known(lines, drafts, faults)
    needs = [_needed(draft, known, faults) for draft in drafts]
    after = {draft.id: needed for draft, needed in zip(drafts, needs, strict=True) if known.get(draft.id) == draft.line}
    for cycle in cycles(after):
        _tell(cycle, known[cycle[0]], faults)
    if faults:
        raise faults.refusal(len(lines))
    return Plan(tuple(_step(draft, after[draft.id]) for draft in drafts), tuple(map(tuple, levels(after))))


def _known(lines: Sequence[Line], drafts: Sequence[Draft], faults: Faults) -> dict[str, int]:
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


def _needed(draft: Draft, known: Mapping[str, int], faults: Faults) -> tuple[str, ...]:
    """What the step waits for: a reference implies it. Unknown steps and the step itself are faults."""
    asked = dict.fromkeys(draft.after, "after")
    for each in draft.references:
        asked.setdefault(each.id, each.text)
    needed: list[str] = []
    for id, place in asked.items():
        field = "after" if place == "after" else "params"
        if id == draft.id:
            faults.add(draft.line, f"The step waits for itself ({shortened(place)}).", id=draft.id, field=field)
        elif id not in known:
            message = f"{shortened(place)} names the step {shortened(id)!r}, which this batch does not have."
            faults.add(draft.line, message, id=draft.id, field=field, nearest=faults.near(id, known))
        else:
            needed.append(id)
    return tuple(needed)


def _step(draft: Draft, after: tuple[str, ...]) -> Step:
    assert draft.entry is not None, "a line without a tool is a fault"
    return Step(
        line=draft.line,
        id=draft.id,
        entry=draft.entry,
        params=draft.params,
        after=after,
        references=draft.references,
        output=draft.output,
        fields=draft.fields,
        time_limit=draft.time_limit,
    )


def _tell(cycle: Sequence[str], line: int, faults: Faults) -> None:
    shown = [*cycle[:_SHOWN], *(["…"] if len(cycle) > _SHOWN else []), cycle[0]]
    message = f"These {len(cycle)} steps wait for each other in a cycle: {' → '.join(shown)}."
    faults.add(line, message, id=cycle[0], field="after", cycle=list(cycle[:100]))
