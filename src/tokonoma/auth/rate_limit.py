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

_MOST = 10_000  # buckets remembered by a process, and rows kept; past that full ones are forgotten
_READ = "select full_at from rate where name = :name {for_update}"
_NEW = "insert into rate (name, full_at) values (:name, :full_at) on conflict (name) do nothing"
_KEEP = "update rate set full_at = :full_at where name = :name"
_FORGET = "delete from rate where full_at < :at"


_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
Writing = Callable[[], AbstractContextManager[Statements]]


def rates(told: str, writing: Writing) -> Callable[[str], Quota] | None:
    """From a setting like `120/minute`; None where none is set."""
    calls, _, unit = told.partition("/")
    return Rates(writing, int(calls), _SECONDS[unit]).take if told else None


class Rates:
    """One a process. `calls` in `seconds`, for each name."""

    def __init__(
        self,
        writing: Writing,
        calls: int,
        seconds: float,
        clock: Callable[[], int] = now,
    ) -> None:
        self._writing, self._clock = writing, clock
        self._calls, self._step = calls, seconds * 1000 / calls  # milliseconds that one call takes to refill
        self._portion = max(1, calls // 100)
        self._lock = threading.Lock()
        self._held: dict[str, tuple[int, int]] = {}  # name → calls taken and not used, and until when they count

    def take(self, name: str) -> Quota:
        """One call, if there is one left."""
        at = self._clock()
        with self._lock:
            left, until = self._held.get(name, (0, 0))
            if left and at < until:
                self._held[name] = (left - 1, until)
                return self._quota(until, at, left - 1, True)
        full_at, got = self._taken(name, at)
        with self._lock:
            if len(self._held) > _MOST:
                self._held.clear()
            if got > 1:
                self._held[name] = (got - 1, full_at)
        return self._quota(full_at, at, max(0, got - 1), got > 0)

    def _taken(self, name: str, at: int) -> tuple[int, int]:
        """When the bucket is full again, and how many calls this process got."""
        with self._writing() as tx:
            row = tx.row(_READ, name=name)
            if row is None:
                tx.run(_NEW, name=name, full_at=at)
                row = tx.row(_READ, name=name)
                tx.run(_FORGET, at=at - 86_400_000)
            assert row is not None
            full_at = max(row[0], at)
            room = self._calls - math.ceil((full_at - at) / self._step - 1e-9)
            got = min(self._portion, room)
            if got > 0:
                full_at += round(got * self._step)
                tx.run(_KEEP, name=name, full_at=full_at)
            return full_at, max(0, got)

    def _quota(self, full_at: int, at: int, held: int, allowed: bool) -> Quota:
        used = math.ceil((full_at - at) / self._step - 1e-9)
        remaining = max(0, min(self._calls, self._calls - used + held))
        wait = 0 if allowed else max(1, math.ceil((full_at - at - (self._calls - 1) * self._step) / 1000))
        return Quota(allowed, self._calls, remaining, max(0, math.ceil((full_at - at) / 1000)), wait)
