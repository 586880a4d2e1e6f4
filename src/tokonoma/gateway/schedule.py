"""The schedule of a running batch: which steps may start, which run, how the others ended. Pure, without threads."""

from collections import Counter

from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.results import StepReport, report_skip
from tokonoma.gateway.step_parser import BatchStep


class Schedule:
    def __init__(self, plan: BatchPlan, at_once: int) -> None:
        self._at_once = at_once
        self._steps = {step.id: step for step in plan.steps}
        self._waiting = {step.id: set(step.after) for step in plan.steps}  # step → what it still waits for
        self._dependents: dict[str, list[str]] = {step.id: [] for step in plan.steps}
        for step in plan.steps:
            for id in step.after:
                self._dependents[id].append(step.id)
        self._busy: Counter[str] = Counter()  # module → steps that run
        self.running: dict[str, BatchStep] = {}
        self.reports: dict[str, StepReport] = {}

    @property
    def is_finished(self) -> bool:
        return len(self.reports) == len(self._steps)

    def take_ready(self) -> list[BatchStep]:
        """The steps to start now, in the order of their lines; they count as running from here on."""
        taken: list[BatchStep] = []
        for id, needs in self._waiting.items():
            step = self._steps[id]
            if not needs and self._busy[step.tool.module] < self._at_once:
                self._busy[step.tool.module] += 1
                taken.append(step)
        for step in taken:
            del self._waiting[step.id]
            self.running[step.id] = step
        return taken

    def record_end(self, id: str, report: StepReport) -> None:
        """Record the end of a running step. Steps that depend on a failed one are skipped, directly or not."""
        step = self.running.pop(id)
        self._busy[step.tool.module] -= 1
        self.reports[id] = report
        if report["status"] == "ok":
            for each in self._dependents[id]:
                if each in self._waiting:
                    self._waiting[each].discard(id)
            return
        why = f"The step {id!r}, on which this one depends, did not succeed."
        affected = list(self._dependents[id])
        while affected:
            each = affected.pop()
            if self._waiting.pop(each, None) is not None:
                self.reports[each] = report_skip(each, why, cause=id)
                affected.extend(self._dependents[each])

    def skip_waiting(self, why: str) -> None:
        """Skip all steps that have not started."""
        for id in self._waiting:
            self.reports[id] = report_skip(id, why)
        self._waiting.clear()
