"""Requests that come in one turn of the event loop are begun together, after all of them have been read.

To read from a socket is to let go of the interpreter. Were the first call begun at once, its worker would take the
interpreter away from the loop between two reads, and for every call the two would hand it to and fro.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary


class Turn:
    """One an event loop; used on its thread alone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._soon = loop.call_soon
        self._begins: list[Callable[[], None]] = []

    def end_with(self, begin: Callable[[], None]) -> None:
        if not self._begins:
            self._soon(self._end)
        self._begins.append(begin)

    def _end(self) -> None:
        begins, self._begins = iter(self._begins), []
        try:
            for begin in begins:
                begin()
        finally:
            for begin in begins:  # what one of them breaks is not the others' fault
                self._soon(begin)


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turn] = WeakKeyDictionary()


def turn_of(loop: asyncio.AbstractEventLoop) -> Turn:
    found = _turns.get(loop)
    if found is None:
        found = _turns[loop] = Turn(loop)
    return found
