"""The board of a running batch: which steps may start, which run, how the others ended. Pure: it knows no threads."""

from collections import Counter

from tokonoma.gateway.plan import Plan, Step
from tokonoma.gateway.results import Report, skipped


class Board:
    def __init__(self, plan: Plan, at_once: int) -> None:
        self._at_once = at_once
        self._steps = {step.id: step for step in plan.steps}
        self._waiting = {step.id: set(step.after) for step in plan.steps}  # step → what it still waits for
        self._needed: dict[str, list[str]] = {step.id: [] for step in plan.steps}
        for step in plan.steps:
            for id in step.after:
                self._needed[id].append(step.id)
        self._busy: Counter[str] = Counter()  # module → steps that run
        self.running: dict[str, Step] = {}
        self.reports: dict[str, Report] = {}

    @property
    def finished(self) -> bool:
        return len(self.reports) == len(self._steps)

    def take(self) -> list[Step]:
        """The steps to start now, in the order of their lines; they count as running from here on."""
        taken: list[Step] = []
        for id, needs in self._waiting.items():
            step = self._steps[id]
            if not needs and self._busy[step.entry.module] < self._at_once:
                self._busy[step.entry.module] += 1
                taken.append(step)
        for step in taken:
            del self._waiting[step.id]
            self.running[step.id] = step
        return taken

    def settle(self, id: str, report: Report) -> None:
        """A running step has ended. What waits for a failed one is skipped, and so is what waits for that."""
        step = self.running.pop(id)
        self._busy[step.entry.module] -= 1
        self.reports[id] = report
        if report["status"] == "ok":
            for each in self._needed[id]:
                if each in self._waiting:
                    self._waiting[each].discard(id)
            return
        why = f"The step {id!r}, on which this one depends, did not succeed."
        affected = list(self._needed[id])
        while affected:
            each = affected.pop()
            if self._waiting.pop(each, None) is not None:
                self.reports[each] = skipped(each, why, cause=id)
                affected.extend(self._needed[each])

    def skip_waiting(self, why: str) -> None:
        """Nothing more is started."""
        for id in self._waiting:
            self.reports[id] = skipped(id, why)
        self._waiting.clear()
