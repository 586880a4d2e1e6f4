"""Time limits that hardly ever come due. A timer of asyncio's own for each costs more than all the rest of reading a
body; here setting one is an entry in a dictionary, and a single timer looks through them while there are any."""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

TICK = 0.025
"""Seconds between two looks, and so how late an alarm may be."""


class Alarm:
    __slots__ = ("due", "rang", "ring")

    def __init__(self, due: float, ring: Callable[[], object]) -> None:
        self.due = due
        self.ring = ring
        self.rang = False


class Alarms:
    """Those of one event loop; used on its thread alone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._now = loop.time
        self._later = loop.call_later
        self._set: dict[Alarm, None] = {}
        self._looking = False

    def set(self, seconds: float, ring: Callable[[], object]) -> Alarm:
        alarm = Alarm(self._now() + seconds, ring)
        self._set[alarm] = None
        if not self._looking:
            self._looking = True
            self._later(TICK, self._look)
        return alarm

    def drop(self, alarm: Alarm) -> None:
        self._set.pop(alarm, None)

    def _look(self) -> None:
        at = self._now()
        for alarm in [each for each in self._set if each.due <= at]:
            del self._set[alarm]
            alarm.rang = True
            alarm.ring()
        self._looking = bool(self._set)
        if self._looking:
            self._later(TICK, self._look)


_alarms: WeakKeyDictionary[asyncio.AbstractEventLoop, Alarms] = WeakKeyDictionary()


def alarms() -> Alarms:
    """The running loop's."""
    loop = asyncio.get_running_loop()
    found = _alarms.get(loop)
    if found is None:
        found = _alarms[loop] = Alarms(loop)
    return found
