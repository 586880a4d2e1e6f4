"""The coordinator of one batch. It holds no worker: it moves only when a step ends, on the thread that ended it.

Every event goes through one pump: whichever thread brings an event works off all that have come in, one after another,
while the others leave theirs and go. So the board needs no lock, progress is told in order, and nothing recurses.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from tokonoma.core.call import Call
from tokonoma.core.deferred import Later
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.tracing import traceparent
from tokonoma.gateway.expand import expand
from tokonoma.gateway.plan import Plan, Step
from tokonoma.gateway.results import BatchAnswer, Report, failed, finished, shaped
from tokonoma.gateway.schedule import Board

Submit = Callable[[Call, Callable[[Call, BaseException | None], None]], None]
"""Put a call on a worker, where it walks the whole pipeline; `done(call, error)` is called exactly once"""
Failure = Callable[[Call, BaseException], Mapping[str, Any]]
"""An error as a single call would tell it: `{error: {code, message, details}, request_id, trace_id}`"""

GRACE = 2.0  # seconds that steps have to end after they were told to; then the answer goes without them


@dataclass(frozen=True, slots=True)
class Ended:
    """An event: a step has ended. Without a step: look at the board."""

    step: Step | None = None
    call: Call | None = None
    error: BaseException | None = None


class Batch:
    def __init__(
        self,
        plan: Plan,
        desk: Desk,
        submit: Submit,
        failure: Failure,
        keep: Callable[[BatchAnswer], None],
        *,
        at_once: int,
        seconds: float,
    ) -> None:
        self.answer: Later[BatchAnswer] = Later()
        self._plan, self._desk, self._submit, self._failure, self._keep = plan, desk, submit, failure, keep
        self._seconds = seconds
        self._board = Board(plan, at_once)
        self._readers = {step.id: 0 for step in plan.steps}  # how many steps will still read its value
        for step in plan.steps:
            for id in {reference.id for reference in step.references}:
                self._readers[id] += 1
        self._values: dict[str, Any] = {}
        self._results: dict[str, bytes] = {}
        self._told = -1
        self._late = ""  # `timeout` once the batch's own time is over
        self._given_up = self._ended = False

        self._lock = threading.Lock()  # guards what is below, which other threads touch too
        self._events: list[Ended] = []
        self._pumping = False
        self._calls: dict[str, Call] = {}
        self._timer: threading.Timer | None = None

    def start(self) -> Later[BatchAnswer]:
        self._desk.call.stop.hook(self._halt)
        self._pump(Ended())
        self._ring_after(self._seconds, self._time_over, first=True)
        return self.answer

    # From other threads

    def _halt(self) -> None:
        """Tell the running steps to end. Runs under the lock of the batch's own Stop, so it only passes the word on."""
        with self._lock:
            calls = list(self._calls.values())
        for call in calls:
            call.stop.set(self._over)
        self._ring_after(GRACE, self._give_up)

    def _time_over(self) -> None:
        self._late = "timeout"
        self._halt()

    def _give_up(self) -> None:
        self._given_up = True
        self._pump(Ended())

    def _done(self, step: Step, call: Call, error: BaseException | None) -> None:
        self._pump(Ended(step, call, error))

    @property
    def _over(self) -> str:
        """Why nothing more may start: `cancelled`, `timeout`, or empty."""
        return self._desk.call.stop.reason or self._late

    def _ring_after(self, seconds: float, ring: Callable[[], None], first: bool = False) -> None:
        """One timer at a time: a new one takes the place of the old, but the first never that of another."""
        timer = threading.Timer(seconds, ring)
        timer.daemon = True
        with self._lock:
            if self._ended or (first and self._timer is not None):
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = timer
            timer.start()

    # The pump

    def _pump(self, event: Ended) -> None:
        with self._lock:
            self._events.append(event)
            if self._pumping:
                return
            self._pumping = True
        try:
            while events := self._next_events():
                for each in events:
                    self._take_in(each)
                self._go_on()
        except BaseException as error:  # a fault of ours must not leave the caller waiting for ever
            log("error", "batch", request_id=self._desk.call.request_id, error=type(error).__name__)
            self._late = self._late or "cancelled"
            self._settle(error=error)
            self._halt()

    def _next_events(self) -> list[Ended]:
        """What has come in since; an empty list ends the pumping, in one move with the next arrival's look."""
        with self._lock:
            events, self._events = self._events, []
            self._pumping = bool(events)
            return events

    def _take_in(self, event: Ended) -> None:
        step, call = event.step, event.call
        if step is None or call is None or step.id not in self._board.running:
            return
        with self._lock:
            self._calls.pop(step.id, None)
        self._board.settle(step.id, self._report(step, call, event.error))

    def _report(self, step: Step, call: Call, error: BaseException | None) -> Report:
        if error is not None:
            timeout = isinstance(error, Refusal) and error.reason == "timeout"
            return failed(step, self._failure(call, error), timeout)
        report: Report = {"id": step.id, "status": "ok"}
        if self._readers[step.id]:
            self._values[step.id] = orjson.loads(call.body)
        if step.output:
            self._results[step.id] = shaped(step, call.body, report)
        return report

    def _go_on(self) -> None:
        """Start what can start, end what must end, tell how far it is."""
        while not self._over and (steps := self._board.take()):
            for step in steps:
                self._launch(step)
        if self._over:
            words = {"timeout": f"The batch's time limit of {self._seconds:g} s was over before this step could start."}
            self._board.skip_waiting(words.get(self._over, "The batch was cancelled before this step could start."))
        if self._given_up:
            self._leave_running()
        count = len(self._board.reports)
        if count != self._told:
            self._told = count
            self._desk.report(count, len(self._plan.steps), f"{count} of {len(self._plan.steps)} steps ended")
        if self._board.finished and not self._ended:
            self._finish()

    def _launch(self, step: Step) -> None:
        call = self._call(step)
        try:
            call.params = expand(step.params, self._values)
        except Refusal as error:
            self._board.settle(step.id, failed(step, self._failure(call, error), timeout=False))
            return
        finally:
            self._release(step)
        call.bytes_in = len(orjson.dumps(call.params))
        with self._lock:
            self._calls[step.id] = call
        if self._over:  # asked to end between the look at the board and now: _halt may not have seen this call
            call.stop.set(self._over)
        try:
            self._submit(call, partial(self._done, step))
        except Exception as error:
            self._done(step, call, error)

    def _call(self, step: Step) -> Call:
        parent = self._desk.call
        return Call(
            step.entry.module,
            step.entry.name,
            step.params,
            parent.caller,
            request_id=uuid7(),
            trace_parent=traceparent(parent.trace_id, parent.span_id),
            parent=parent.request_id,
            time_limit=step.time_limit,
            trace_id=parent.trace_id,
        )

    def _release(self, step: Step) -> None:
        """A value is kept only as long as somebody will read it."""
        for id in {reference.id for reference in step.references}:
            self._readers[id] -= 1
            if not self._readers[id]:
                self._values.pop(id, None)

    def _leave_running(self) -> None:
        message = "The step was told to end with the batch and has not ended yet; the journal will tell how it ended."
        error = Unavailable(message, reason=self._over)
        with self._lock:
            calls, self._calls = self._calls, {}
        for step in list(self._board.running.values()):
            self._board.settle(step.id, failed(step, self._failure(calls[step.id], error), self._over == "timeout"))

    def _finish(self) -> None:
        answer = finished(self._plan, self._board.reports, self._results)
        self._keep(answer)
        if self._desk.call.stop.reason == "cancelled":
            count = sum(report["status"] == "ok" for report in answer["steps"])
            message = f"The batch was cancelled; {count} of {len(self._plan.steps)} steps had succeeded."
            self._settle(error=Unavailable(message, reason="cancelled", steps=answer["steps"]))
        else:
            self._settle(answer)

    def _settle(self, answer: BatchAnswer | None = None, error: BaseException | None = None) -> None:
        with self._lock:
            self._ended = True
            if self._timer is not None:
                self._timer.cancel()
        self.answer.settle(answer, error)
