"""deadline: no call runs for ever. One thread watches all of them, and sleeps until the first is due.

A call that is due is told to end. One that has not ended soon after, because its tool does not listen, is abandoned: it
is answered without its tool, whose thread goes on.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.concurrency import CancelToken

GRACE = 0.5
"""Seconds between telling a call to end and abandoning it."""


class DeadlineWatch:
    """The running calls and when each is due. Adding and removing one costs a dictionary entry and wakes no thread."""

    def __init__(self) -> None:
        self._due: dict[CancelToken, float] = {}
        self._told: dict[CancelToken, float] = {}  # when those that were told to end are abandoned
        self._lock = threading.Lock()  # taken as it is by every call: through the condition it would cost thrice that
        self._changed = threading.Condition(self._lock)
        self._wakes = math.inf  # when the thread will look next
        self._thread: threading.Thread | None = None
        self._closing = False

    def close(self) -> None:
        with self._changed:
            self._closing, thread = True, self._thread
            self._changed.notify()
        if thread is not None:
            thread.join()

    def add(self, stop: CancelToken, seconds: float) -> float:
        """When it is due, by `time.monotonic`."""
        due = time.monotonic() + seconds
        with self._lock:
            self._due[stop] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif due < self._wakes:  # rare: most deadlines are later than the one already waited for
                self._wakes = due
                self._changed.notify()
        return due

    def remove(self, stop: CancelToken) -> None:
        with self._lock:
            self._due.pop(stop, None)
            self._told.pop(stop, None)

    def _run(self) -> None:
        while not self._closing:
            late, lost = self._take_overdue()
            for stop in late:
                stop.cancel("timeout")
            for stop in lost:
                stop.abandon()

    def _take_overdue(self) -> tuple[list[CancelToken], list[CancelToken]]:
        """Wait until a deadline has passed. Return the calls to tell, and those to abandon."""
        with self._changed:
            self._wakes = min((*self._due.values(), *self._told.values()), default=math.inf)
            wait = self._wakes - time.monotonic()
            if wait > 0 and not self._closing:
                self._changed.wait(None if wait == math.inf else wait)
            at = time.monotonic()
            late = [stop for stop, due in self._due.items() if due <= at]
            lost = [stop for stop, due in self._told.items() if due <= at]
            for stop in late:
                self._told[stop] = self._due.pop(stop) + GRACE
            for stop in lost:
                del self._told[stop]
            return late, lost


def deadline(watch: DeadlineWatch, seconds: float) -> Callable[[Call], Iterator[None]]:
    def stage(call: Call) -> Iterator[None]:
        call.cancel_token.check()
        call.due = watch.add(call.cancel_token, call.time_limit or call.chosen_tool.time_limit or seconds)
        try:
            yield
        finally:
            watch.remove(call.cancel_token)

    return stage
