"""How often a client is told of progress: a short burst at once, then a steady trickle, always upwards."""

import math
import time

BURST = 8.0
PER_SECOND = 10.0


class ProgressLimiter:
    """One a call. A bucket of `BURST` notices that refills with `PER_SECOND`; the last step always passes."""

    __slots__ = ("_at", "_last", "_left")

    def __init__(self) -> None:
        self._left = BURST
        self._at = 0.0
        self._last = -math.inf

    def allows(self, progress: float, total: float | None, now: float | None = None) -> bool:
        """Whether to tell; the protocol wants values that rise, so anything else is dropped."""
        if not progress > self._last or math.isinf(progress) or (total is not None and not math.isfinite(total)):
            return False
        now = time.monotonic() if now is None else now
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND)
        self._at = now
        if self._left < 1.0 and (total is None or progress < total):
            return False
        self._left = max(0.0, self._left - 1.0)
        self._last = progress
        return True
