"""How often a caller may use a tool. All processes on one database count together.

A caller's bucket holds `calls` and refills evenly. The store holds one number per bucket: the time at which it will be
full again. Small limits are counted call by call; of large ones a process reserves a hundredth at a time, so that not
every call is a transaction. What it has reserved and not used is lost to others until it has refilled.
"""

import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.core.call import Quota
from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.core.errors import Unavailable, is_storage_error
from tokonoma.core.module import Migration

TABLES = (
    Migration("001_rate", ("create table rate (name {text} not null primary key, full_at {big} not null)",)),
)  # fmt: skip

_MAX_BUCKETS = 10_000  # reservations that a process remembers
_READ = "select full_at from rate where name = :name {for_update}"
_INSERT = "insert into rate (name, full_at) values (:name, :full_at) on conflict (name) do nothing"
_UPDATE = "update rate set full_at = :full_at where name = :name"
_FORGET = "delete from rate where full_at < :at"
_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
OpenWrite = Callable[[], AbstractContextManager[Statements]]


def create_rate_limit(setting: str, open_write: OpenWrite) -> Callable[[str], Quota] | None:
    """Build the limit of a setting like `120/minute`; None where none is set."""
    calls, _, unit = setting.partition("/")
    return RateLimiter(open_write, int(calls), _SECONDS[unit]).take if setting else None


class RateLimiter:
    """Allows `calls` in `seconds`, for each name. One per process."""

    def __init__(self, open_write: OpenWrite, calls: int, seconds: float, clock: Callable[[], int] = now) -> None:
        self._open_write, self._clock = open_write, clock
        self._calls, self._step = calls, seconds * 1000 / calls  # milliseconds in which one call refills
        self._portion = max(1, calls // 100)
        self._lock = threading.Lock()
        self._unstored: dict[str, int] = {}  # name → when its bucket is full, while nothing can be stored
        self._reserved: dict[str, tuple[int, int]] = {}  # name → calls reserved and not used, and until when

    def take(self, name: str) -> Quota:
        """Take one call, if one is left."""
        at = self._clock()
        with self._lock:
            left, until = self._reserved.get(name, (0, 0))
            if left and at < until:
                self._reserved[name] = (left - 1, until)
                return self._build_quota(until, at, left - 1, True)
        try:
            full_at, taken = self._take_from_store(name, at)
        except Unavailable as error:
            if not is_storage_error(error):
                raise
            full_at, taken = self._take_from_memory(name, at)
        with self._lock:
            if len(self._reserved) > _MAX_BUCKETS:
                self._reserved.clear()
            if taken > 1:
                self._reserved[name] = (taken - 1, full_at)
        return self._build_quota(full_at, at, max(0, taken - 1), taken > 0)

    def _take_from_store(self, name: str, at: int) -> tuple[int, int]:
        """Return when the bucket will be full again, and how many calls this process got."""
        with self._open_write() as tx:
            row = tx.row(_READ, name=name)
            if row is None:
                tx.run(_INSERT, name=name, full_at=at)
                row = tx.row(_READ, name=name)
                tx.run(_FORGET, at=at - 86_400_000)
            assert row is not None
            full_at, taken = self._advance(row[0], at)
            if taken or full_at < row[0]:
                tx.run(_UPDATE, name=name, full_at=full_at)
            return full_at, taken

    def _take_from_memory(self, name: str, at: int) -> tuple[int, int]:
        """The same on a full or read-only disk: reads must go on there, and each process counts for itself."""
        with self._lock:
            if len(self._unstored) > _MAX_BUCKETS:
                self._unstored.clear()
            full_at, taken = self._advance(self._unstored.get(name, at), at)
            self._unstored[name] = full_at
            return full_at, taken

    def _advance(self, full_at: int, at: int) -> tuple[int, int]:
        # More than a whole bucket ahead: another clock has written it, and nobody must wait for that one's time.
        full_at = min(max(full_at, at), at + round(self._calls * self._step))
        taken = max(0, min(self._portion, self._calls - self._count_used(full_at, at)))
        return full_at + round(taken * self._step), taken

    def _count_used(self, full_at: int, at: int) -> int:
        return math.ceil((full_at - at) / self._step - 1e-9)

    def _build_quota(self, full_at: int, at: int, reserved: int, allowed: bool) -> Quota:
        remaining = max(0, min(self._calls, self._calls - self._count_used(full_at, at) + reserved))
        wait = 0 if allowed else max(1, math.ceil((full_at - at - (self._calls - 1) * self._step) / 1000))
        return Quota(allowed, self._calls, remaining, max(0, math.ceil((full_at - at) / 1000)), wait)
