"""The breaker of one service: after several failures in a row nothing is sent for a while."""

from collections.abc import Callable

from tokonoma.core.errors import Unavailable

MOST_FAILURES = 5
"""Calls that fail in a row before it opens."""

OPEN_SECONDS = 30.0


class Breaker:
    """Every `enter` is followed by one `leave`. After the pause one call goes ahead, and its outcome decides."""

    def __init__(self, service: str, clock: Callable[[], float]) -> None:
        self._service, self._clock = service, clock
        self._failures = 0
        self._open_until = 0.0
        self._tries_again = False

    def enter(self) -> None:
        """Unavailable while it is open."""
        if self._failures < MOST_FAILURES:
            return
        left = self._open_until - self._clock()
        if left > 0 or self._tries_again:
            message = f"{self._service} has failed {self._failures} times in a row. It is left alone for a while."
            details = {"service": self._service, "retry_after": max(1, round(left))}
            raise Unavailable(f"{message} Try again later.", reason="external", **details)
        self._tries_again = True

    def leave(self, works: bool | None) -> None:
        """Whether the service works; None if the call has not shown it."""
        self._tries_again = False
        if works:
            self._failures = 0
        elif works is False:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                self._open_until = self._clock() + OPEN_SECONDS
