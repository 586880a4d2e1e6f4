"""limit: how often one principal may call. Without a setting there is no limit, and this stage costs nothing."""

import math
import threading
import time
from collections.abc import Callable

from tokonoma.core.call import Call
from tokonoma.core.errors import Limited

_KEPT = 10_000  # principals remembered; past that all are forgotten, which only forgives


def limit(calls: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> Callable[[Call], None]:
    """A token bucket per principal: `calls` at once, refilled evenly over `seconds`."""
    if calls <= 0:
        return lambda call: None
    rate = calls / seconds
    buckets: dict[str, tuple[float, float]] = {}  # principal → tokens left, when
    lock = threading.Lock()

    def stage(call: Call) -> None:
        at, name = clock(), call.who.name
        with lock:
            tokens, then = buckets.get(name, (float(calls), at))
            tokens = min(float(calls), tokens + (at - then) * rate)
            if tokens >= 1:
                if len(buckets) >= _KEPT:
                    buckets.clear()
                buckets[name] = (tokens - 1, at)
                return
            buckets[name] = (tokens, at)
        wait = math.ceil((1 - tokens) / rate)
        raise Limited(
            f"More than {calls} calls in {seconds:g} seconds. Try again in {wait} s.", retry_after=wait, limit=calls
        )

    return stage
