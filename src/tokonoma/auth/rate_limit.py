"""How often a caller may use a tool, counted in the store: all processes on one database count together.

A caller's bucket holds `calls` and refills evenly. What is kept is one number a bucket: the moment at which it would be
full again. Small limits are counted call by call; of large ones a process takes a hundredth at a time, so that not
every call is a transaction. What it has taken and not used is lost to others until it has refilled.
"""

import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.core.call import Quota
from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.core.module import Migration

TABLES = (
    Migration("001_rate", ("create table rate (name {text} not null primary key, full_at {big} not null)",)),
)  # fmt: skip

_MAX_BUCKETS = 10_000  # buckets remembered by a process, and rows kept; past that full ones are forgotten
_READ = "select full_at from rate where name = :name {for_update}"
_INSERT = "insert into rate (name, full_at) values (:name, :full_at) on conflict (name) do nothing"
_UPDATE = "update rate set full_at = :full_at where name = :name"
_FORGET = "delete from rate where full_at < :at"


_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
OpenWrite = Callable[[], AbstractContextManager[Statements]]


def create_rate_limit(told: str, writing: OpenWrite) -> Callable[[str], Quota] | None:
    """From a setting like `120/minute`; None where none is set."""
    calls, _, unit = told.partition("/")
    return RateLimiter(writing, int(calls), _SECONDS[unit]).take if told else None


class RateLimiter:
    """One a process. `calls` in `seconds`, for each name."""

    def __init__(
        self,
        writing: OpenWrite,
        calls: int,
        seconds: float,
        clock: Callable[[], int] = now,
    ) -> None:
        self._open_write, self._clock = writing, clock
        self._calls, self._step = calls, seconds * 1000 / calls  # milliseconds that one call takes to refill
        self._portion = max(1, calls // 100)
        self._lock = threading.Lock()
        self._reserved: dict[str, tuple[int, int]] = {}  # name → calls taken and not used, and until when they count

    def take(self, name: str) -> Quota:
        """One call, if there is one left."""
        at = self._clock()
        with self._lock:
            left, until = self._reserved.get(name, (0, 0))
            if left and at < until:
                self._reserved[name] = (left - 1, until)
                return self._build_quota(until, at, left - 1, True)
        full_at, got = self._take_from_store(name, at)
        with self._lock:
            if len(self._reserved) > _MAX_BUCKETS:
                self._reserved.clear()
            if got > 1:
                self._reserved[name] = (got - 1, full_at)
        return self._build_quota(full_at, at, max(0, got - 1), got > 0)

    def _take_from_store(self, name: str, at: int) -> tuple[int, int]:
        """When the bucket is full again, and how many calls this process got."""
        with self._open_write() as tx:
            row = tx.row(_READ, name=name)
            if row is None:
                tx.run(_INSERT, name=name, full_at=at)
                row = tx.row(_READ, name=name)
                tx.run(_FORGET, at=at - 86_400_000)
            assert row is not None
            full_at = max(row[0], at)
            room = self._calls - math.ceil((full_at - at) / self._step - 1e-9)
            got = min(self._portion, room)
            if got > 0:
                full_at += round(got * self._step)
                tx.run(_UPDATE, name=name, full_at=full_at)
            return full_at, max(0, got)

    def _build_quota(self, full_at: int, at: int, held: int, allowed: bool) -> Quota:
        used = math.ceil((full_at - at) / self._step - 1e-9)
        remaining = max(0, min(self._calls, self._calls - used + held))
        wait = 0 if allowed else max(1, math.ceil((full_at - at - (self._calls - 1) * self._step) / 1000))
        return Quota(allowed, self._calls, remaining, max(0, math.ceil((full_at - at) / 1000)), wait)
