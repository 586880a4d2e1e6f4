"""Turns: a fair lock. Whoever asked first goes first; somebody who waits can be told to stop."""

import threading
from collections import deque

from tokonoma.core.cancellation import CancelToken
from tokonoma.store import errors as refusals

MAX_WAIT = 30.0
"""Seconds that a write waits for other writers, in this process or another. SQLite's own lock is unfair: be patient."""


class _Waiter:
    __slots__ = ("event", "served")

    def __init__(self) -> None:
        self.event = threading.Event()
        self.served = False


class FairLock:
    """`places` callers may be inside at once. The place is handed over, so nobody who comes later slips in between."""

    __slots__ = ("_free", "_guard", "_waiting")

    def __init__(self, places: int = 1) -> None:
        self._guard = threading.Lock()
        self._free = places
        self._waiting: deque[_Waiter] = deque()

    def acquire(self, stop: CancelToken | None = None, wait: float = MAX_WAIT) -> None:
        with self._guard:
            if self._free and not self._waiting:
                self._free -= 1
                return
            waiter = _Waiter()
            self._waiting.append(waiter)
        self._wait(waiter, stop, wait)

    def _wait(self, waiter: _Waiter, stop: CancelToken | None, wait: float) -> None:
        try:
            if stop is None:
                waiter.event.wait(wait)
            else:
                with stop.attach_during(waiter.event.set):
                    waiter.event.wait(wait)
                stop.check()
        except BaseException:
            self._give_up(waiter)
            raise
        with self._guard:
            if waiter.served:
                return
            self._waiting.remove(waiter)
        raise refusals.busy_error()

    def _give_up(self, waiter: _Waiter) -> None:
        with self._guard:
            if not waiter.served:
                self._waiting.remove(waiter)
                return
        self.release()  # it was handed over at the last moment: pass it on

    def release(self) -> None:
        with self._guard:
            if not self._waiting:
                self._free += 1
                return
            waiter = self._waiting.popleft()
            waiter.served = True
        waiter.event.set()
