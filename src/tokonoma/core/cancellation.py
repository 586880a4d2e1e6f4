"""Stop: how a call is told to end early, by its client or by its deadline."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tokonoma.core.errors import Unavailable


class CancelToken:
    """One per call. `set` runs the hook of whatever is blocking right now (an SQL statement, an outgoing request)."""

    __slots__ = ("_hooks", "_lock", "reason")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hooks: list[Callable[[], object]] = []
        self.reason = ""

    def cancel(self, reason: str) -> None:
        """Ask the call to end; `reason` is `cancelled` or `timeout`. Only the first asking counts."""
        with self._lock:
            if self.reason:
                return
            self.reason = reason
            # Run under the lock: a hook interrupts a connection, which must still belong to this call.
            for hook in self._hooks:
                hook()

    def check(self) -> None:
        """Raise if the call was asked to end; long loops call this between two steps."""
        if self.reason:
            raise self.to_error()

    def to_error(self) -> Unavailable:
        words = {"timeout": "The call ran past its time limit and was stopped; nothing was changed."}
        return Unavailable(words.get(self.reason, "The call was cancelled; nothing was changed."), reason=self.reason)

    def on_cancel(self, hook: Callable[[], object]) -> None:
        """From now on `set` also calls `hook`; at once, if the call was already asked to end."""
        with self._lock:
            if not self.reason:
                self._hooks.append(hook)
                return
        hook()

    @contextmanager
    def attach_during(self, hook: Callable[[], object]) -> Generator[None]:
        """While the block runs, `set` also calls `hook`."""
        self.attach(hook)
        try:
            yield
        finally:
            self.detach(hook)

    def attach(self, hook: Callable[[], object]) -> None:
        """From now on `set` also calls `hook`. What `hooked` does, for those who count microseconds."""
        with self._lock:
            self.check()
            self._hooks.append(hook)

    def detach(self, hook: Callable[[], object]) -> None:
        with self._lock:
            self._hooks.remove(hook)
