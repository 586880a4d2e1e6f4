"""Later: a value that a tool promises instead of holding a worker while it waits (a batch, an outside service)."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")

DeferredCallback = Callable[[T | None, BaseException | None], None]
"""value, error: the value counts only where the error is None"""


class Deferred(Generic[T]):
    """A tool annotated `-> Later[X]` answers with an X."""

    __slots__ = ("_error", "_lock", "_settled", "_value", "_waiting")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = False
        self._value: T | None = None
        self._error: BaseException | None = None
        self._waiting: list[DeferredCallback[T]] = []

    def resolve(self, value: T | None = None, error: BaseException | None = None) -> None:
        """Give the value or the error, once; a second settling is ignored (a time-out may race an answer)."""
        with self._lock:
            if self._settled:
                return
            self._settled, self._value, self._error = True, value, error
            waiting, self._waiting = self._waiting, cast(list[DeferredCallback[T]], [])
        for each in waiting:
            each(value, error)

    def then(self, settled: DeferredCallback[T]) -> None:
        """Call `settled(value, error)` once there is one: now, if it is already there."""
        with self._lock:
            if not self._settled:
                self._waiting.append(settled)
                return
        settled(self._value, self._error)
