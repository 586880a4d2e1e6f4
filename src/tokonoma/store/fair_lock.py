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
        try:
            _wait(waiter, cancel_token, wait)
            if not waiter.served:
                raise store_error("busy")
        except BaseException:
            with self._guard:
                if not waiter.served:
                    self._waiting.remove(waiter)
                    raise
            self.release()  # it got the place at the last moment: pass it on
            raise

    def release(self) -> None:
        with self._guard:
            if not self._waiting:
                self._free += 1
                return
            waiter = self._waiting.popleft()
            waiter.served = True
        waiter.set()


def _wait(waiter: _Waiter, cancel_token: CancelToken | None, wait: float) -> None:
    if cancel_token is None:
        waiter.wait(wait)
        return
    cancel_token.attach(waiter.set)
    try:
        waiter.wait(wait)
    finally:
        cancel_token.detach(waiter.set)
    cancel_token.check()
