"""Callers that were turned away before any call: a log line, a journal entry and a count for each, without their
credential.

A flood must not fill the journal. Each address gets a few entries a minute, and all addresses together some hundreds;
what comes beyond is counted, and the count is written when the minute is over.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tokonoma.core.call import Caller
from tokonoma.core.clock import now
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.network import parse_ip
from tokonoma.journal.chain import JournalEntry, shorten_name

SECONDS = 60.0
ENTRIES_PER_ADDRESS = 5
ENTRIES = 300  # of all addresses together; as many addresses are remembered
OTHERS = "other addresses"


@dataclass(slots=True)
class _Minute:
    """What was written for one address since its first refusal, and how many were only counted."""

    until: float
    caller: Caller
    written: int = 0
    suppressed: int = 0


class RefusalRecorder:
    """`write` queues a journal entry. `observers` see the code of every refusal, such as metrics."""

    def __init__(self, write: Callable[[JournalEntry], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.observers: list[Callable[[str], None]] = []
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._minutes: dict[str, _Minute] = {}  # by address, the oldest first
        self._all = _Minute(0.0, Caller("http", remote=OTHERS))
        self._timer: threading.Timer | None = None
        self._closed = False

    def record(self, caller: Caller, code: str, place: str) -> None:
        """`code`: kind and reason, like `unauthenticated.no_key`. `place`: what the caller wanted, like `/mcp`."""
        for observe in self.observers:
            observe(code)
        self.flush()
        with self._lock:
            written = self._take(caller)
            if not written:
                self._start_timer()
        if written:
            log("warning", "refused", code=code, remote=caller.remote, transport=caller.transport, place=place)
            self._write(_build_entry(caller, code, place))

    def flush(self, *, everything: bool = False) -> None:
        """Write the counts of the minutes that are over."""
        with self._lock:
            at = self._clock()
            over = [key for key, minute in self._minutes.items() if everything or minute.until <= at]
            counted = [self._minutes.pop(key) for key in over]
            if everything or self._all.until <= at:
                counted.append(self._all)
                self._all = _Minute(at + SECONDS, Caller("http", remote=OTHERS))
        for minute in counted:
            if minute.suppressed:
                caller = minute.caller
                log("warning", "refused", suppressed=minute.suppressed, remote=caller.remote)
                self._write(_build_entry(caller, f"suppressed.{minute.suppressed}", "*"))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self.flush(everything=True)

    def _take(self, caller: Caller) -> bool:
        """Whether this refusal may still be written; if not, it is counted."""
        key, everyone = _find_sender(caller.remote), self._all
        minute = self._minutes.get(key)
        if minute is None:
            if everyone.written >= ENTRIES:  # addresses may come without end, too
                everyone.suppressed += 1
                return False
            # Of one sender's addresses the first one stands for all.
            known = Caller(caller.transport, remote=caller.remote)
            minute = self._minutes[key] = _Minute(self._clock() + SECONDS, known)
        if minute.written >= ENTRIES_PER_ADDRESS or everyone.written >= ENTRIES:
            minute.suppressed += 1
            return False
        minute.written += 1
        everyone.written += 1
        return True

    def _start_timer(self) -> None:
        """A flood that just ends leaves a count that no later refusal would write."""
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(SECONDS, self._on_timer)
            self._timer.daemon = True
            self._timer.start()

    def _on_timer(self) -> None:
        with self._lock:
            self._timer = None
        self.flush()
        with self._lock:
            if self._all.suppressed or any(minute.suppressed for minute in self._minutes.values()):
                self._start_timer()


def _find_sender(remote: str | None) -> str:
    """One sender owns at least a /64 of IPv6, which is more addresses than could be counted."""
    address = None if remote is None else parse_ip(remote)
    if address is None or address.version == 4:
        return str(address or remote)
    return address.exploded[:19]


def _build_entry(caller: Caller, code: str, place: str) -> JournalEntry:
    return JournalEntry(
        now(),
        "call",
        request_id=uuid7(),
        principal="nobody",
        transport=caller.transport,
        remote=caller.remote,
        module="access",
        tool=shorten_name(place),
        outcome="refused",
        code=code,
    )
