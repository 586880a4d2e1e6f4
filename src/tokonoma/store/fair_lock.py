"""A fair lock: first come, first served; waiting can be cancelled."""

import threading
from collections import deque

from tokonoma.core.concurrency import CancelToken
from tokonoma.store.database import store_error

MAX_WAIT = 30.0
"""Seconds that a write waits for other writers, of this process or another. Long: SQLite's own lock is unfair."""


class _Waiter(threading.Event):
    served = False


class FairLock:
    """Up to `places` holders at a time. `release` hands the place to the first waiter, so that none is overtaken."""

    __slots__ = ("_free", "_guard", "_waiting")

    def __init__(self, places: int = 1) -> None:
        self._guard = threading.Lock()
        self._free = places
        self._waiting: deque[_Waiter] = deque()

    def acquire(self, cancel_token: CancelToken | None = None, wait: float = MAX_WAIT) -> None:
        with self._guard:
            if self._free and not self._waiting:
                self._free -= 1
                return
            waiter = _Waiter()
            self._waiting.append(waiter)
        self._wait(waiter, cancel_token, wait)

    def _wait(self, waiter: _Waiter, cancel_token: CancelToken | None, wait: float) -> None:
        try:
            if cancel_token is None:
                waiter.wait(wait)
            else:
                cancel_token.attach(waiter.set)
                try:
                    waiter.wait(wait)
                finally:
                    cancel_token.detach(waiter.set)
                cancel_token.check()
        except BaseException:
            self._give_up(waiter)
            raise
        with self._guard:
            if waiter.served:
                return
            self._waiting.remove(waiter)
        raise store_error("busy")

    def _give_up(self, waiter: _Waiter) -> None:
        with self._guard:
            if not waiter.served:
                self._waiting.remove(waiter)
                return
        self.release()  # it got the place at the last moment: pass it on

    def release(self) -> None:
        with self._guard:
            if not self._waiting:
                self._free += 1
                return
            waiter = self._waiting.popleft()
            waiter.served = True
        waiter.set()
