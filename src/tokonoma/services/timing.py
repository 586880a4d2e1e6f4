"""The clocks and pauses of outgoing requests, in one place: tests have others."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_CHANCE = random.Random()  # noqa: S311 - not a secret


@dataclass(frozen=True, slots=True)
class Timing:
    clock: Callable[[], float] = time.monotonic  # seconds
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = lambda: _CHANCE.uniform(0.5, 1.5)
