"""The coordinator of one batch. It holds no worker: it runs only when a step ends, on the thread of that step.

One thread at a time handles events: the first handles all that come in, the others only append theirs to the list.
So the schedule needs no lock, progress is reported in order, and nothing recurses.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import orjson

from tokonoma.core.call import Call
from tokonoma.core.concurrency import Deferred
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.tracing import format_traceparent
from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.references import ExpansionBudget, expand
from tokonoma.gateway.results import BatchResult, StepReport, build_result, leave_out, shape_result
from tokonoma.gateway.schedule import Schedule
from tokonoma.gateway.step_parser import BatchStep

SubmitCall = Callable[[Call, Callable[[Call, BaseException | None], None]], None]
"""Run a call on a worker, through the whole pipeline; `done(call, error)` is called exactly once"""
DescribeFailure = Callable[[Call, BaseException], Mapping[str, Any]]
"""An error as a single call returns it: `{error: {code, message, details}, request_id, trace_id}`"""

StepEnded = tuple[BatchStep, Call, BaseException | None]
"""An event; None instead of it: check the schedule"""

GRACE = 2.0  # seconds that cancelled steps have to end; then the result is sent without them


def build_inner_call(
    parent: Call, module: str, tool: str, params: Mapping[str, Any], time_limit: float | None = None
) -> Call:
    """A call that a meta-tool makes for its caller. The journal names the meta-tool's own call as its parent."""
    caller = parent.caller
    if caller.token is not None:  # the parent may run for minutes: a key that is revoked meanwhile starts no more calls
        caller = replace(caller, principal=None)
    return Call(
        module,
        tool,
        params,
        caller,
        request_id=uuid7(),
        trace_parent=format_traceparent(parent.trace_id, parent.span_id),
        parent=parent.request_id,
        time_limit=time_limit,
        trace_id=parent.trace_id,
    )


class Batch:
    def __init__(
        self,
        plan: BatchPlan,
        desk: Desk,
        submit: SubmitCall,
        failure: DescribeFailure,
        save: Callable[[BatchResult], None],
        *,
        at_once: int,
        seconds: float,
        most: int,
    ) -> None:
        self.answer: Deferred[BatchResult] = Deferred()
        self._plan, self._desk, self._submit, self._seconds = plan, desk, submit, seconds
        self._describe_failure, self._save_result, self._most = failure, save, most
        self._schedule = Schedule(plan, at_once)
        self._reader_counts = Counter(id for step in plan.steps for id in step.reads)  # steps that will still read it
        self._values: dict[str, Any] = {}
        self._budget = ExpansionBudget()
        self._results: dict[str, bytes] = {}
        self._reported_count = -1
        self._time_limit_reason = ""  # `timeout` once the batch's own time is over
        self._given_up = self._is_resolved = False

        self._lock = threading.Lock()  # guards the attributes below, which other threads use too
        self._events: list[StepEnded | None] = []
        self._is_handling = False
        self._calls: dict[str, Call] = {}
        self._timer: threading.Timer | None = None

    def start(self) -> Deferred[BatchResult]:
        self._desk.call.cancel_token.on_cancel(self._cancel_steps)
        self._handle_event(None)
        self._set_timer(self._seconds, self._on_time_limit, first=True)
        return self.answer

    # From other threads

    def _cancel_steps(self) -> None:
        """Cancel the running steps. Runs under the lock of the batch's own cancel token, so it must be quick."""
        with self._lock:
            calls = list(self._calls.values())
        for call in calls:
            call.cancel_token.cancel(self._stop_reason)
        self._set_timer(GRACE, self._give_up)

    def _on_time_limit(self) -> None:
        self._time_limit_reason = "timeout"
        self._cancel_steps()

    def _give_up(self) -> None:
        self._given_up = True
        self._handle_event(None)

    @property
    def _stop_reason(self) -> str:
        """Why nothing more may start: `cancelled`, `timeout`, or empty."""
        return self._desk.call.cancel_token.reason or self._time_limit_reason

    def _set_timer(self, seconds: float, action: Callable[[], None], first: bool = False) -> None:
        """One timer at a time: a new one replaces the old, but with `first` it replaces none."""
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        with self._lock:
            if self._is_resolved or (first and self._timer is not None):
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = timer
            timer.start()

    # One thread at a time

    def _handle_event(self, event: StepEnded | None) -> None:
        with self._lock:
            self._events.append(event)
            if self._is_handling:
                return
            self._is_handling = True
        try:
            while events := self._next_events():
                for each in events:
                    if each is not None:
                        self._record_end(*each)
                self._advance()
        except BaseException as error:  # a bug here must not leave the caller waiting for ever
            log("error", "batch", request_id=self._desk.call.request_id, error=type(error).__name__)
            self._time_limit_reason = self._time_limit_reason or "cancelled"
            self._resolve(error=error)
            self._cancel_steps()

    def _next_events(self) -> list[StepEnded | None]:
        """New events; an empty list ends the handling, atomically with the check of the next event's thread."""
        with self._lock:
            events, self._events = self._events, []
            self._is_handling = bool(events)
            return events

    def _record_end(self, step: BatchStep, call: Call, error: BaseException | None) -> None:
        if step.id not in self._schedule.running:
            return
        self._desk.call.corrections += [f"{step.id}: {each}" for each in call.corrections]
        with self._lock:
            self._calls.pop(step.id, None)
        self._schedule.record_end(step.id, self._build_report(step, call, error))

    def _build_report(self, step: BatchStep, call: Call, error: BaseException | None) -> StepReport:
        if error is not None:
            status = "timeout" if isinstance(error, Refusal) and error.reason == "timeout" else "error"
            return cast(StepReport, {"id": step.id, "status": status, **self._describe_failure(call, error)})
        report: StepReport = {"id": step.id, "status": "ok"}
        if self._reader_counts[step.id]:
            self._values[step.id] = orjson.loads(call.body)
        if step.output:
            self._desk.call.step_authors[step.id] = call.authors
            result = shape_result(step, call.body, report)
            if len(result) < self._most:
                self._results[step.id] = result
            else:  # it cannot fit: not kept until the end
                leave_out(step, report, len(result), self._most)
        return report

    def _advance(self) -> None:
        """Start what can start, end what must end, report progress."""
        while not self._stop_reason and (steps := self._schedule.take_ready()):
            for step in steps:
                self._start_step(step)
        if self._stop_reason:
            over = (
                f"reached its time limit of {self._seconds:g} s" if self._stop_reason == "timeout" else "was cancelled"
            )
            self._schedule.skip_waiting(f"The batch {over} before this step could start.")
        if self._given_up:
            self._abandon_running()
        count = len(self._schedule.reports)
        if count != self._reported_count:
            self._reported_count = count
            self._desk.report(count, len(self._plan.steps), f"{count} of {len(self._plan.steps)} steps ended")
        if self._schedule.is_finished and not self._is_resolved:
            self._finish()

    def _start_step(self, step: BatchStep) -> None:
        call = build_inner_call(self._desk.call, step.tool.module, step.tool.name, step.params, step.time_limit)
        try:
            call.params = expand(step.params, self._values, budget=self._budget)
        except Refusal as error:
            self._schedule.record_end(step.id, self._build_report(step, call, error))
            return
        finally:
            self._release_values(step)
        call.bytes_in = len(orjson.dumps(call.params))
        with self._lock:
            self._calls[step.id] = call
        if self._stop_reason:  # cancelled meanwhile: _cancel_steps may not have seen this call
            call.cancel_token.cancel(self._stop_reason)
        try:
            self._submit(call, lambda call, error: self._handle_event((step, call, error)))
        except Exception as error:
            self._handle_event((step, call, error))

    def _release_values(self, step: BatchStep) -> None:
        """Drop the values that no later step reads."""
        for id in step.reads:
            self._reader_counts[id] -= 1
            if not self._reader_counts[id]:
                self._values.pop(id, None)

    def _abandon_running(self) -> None:
        message = "The step was cancelled with the batch and has not ended yet; the journal will show its outcome."
        error = Unavailable(message, reason=self._stop_reason)
        with self._lock:
            calls, self._calls = self._calls, {}
        for step in list(self._schedule.running.values()):
            self._schedule.record_end(step.id, self._build_report(step, calls[step.id], error))

    def _finish(self) -> None:
        answer = build_result(self._plan, self._schedule.reports, self._results, self._most)
        self._save_result(answer)
        if self._desk.call.cancel_token.reason == "cancelled":
            count = sum(report["status"] == "ok" for report in answer["steps"])
            message = f"The batch was cancelled; {count} of {len(self._plan.steps)} steps had succeeded."
            self._resolve(error=Unavailable(message, reason="cancelled", steps=answer["steps"]))
        else:
            self._resolve(answer)

    def _resolve(self, answer: BatchResult | None = None, error: BaseException | None = None) -> None:
        with self._lock:
            self._is_resolved = True
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        # The call's token and the timer refer to the batch, which refers to the call: let go of all results at once.
        self._desk.call.cancel_token.discard(self._cancel_steps)
        self.answer.resolve(answer, error)
