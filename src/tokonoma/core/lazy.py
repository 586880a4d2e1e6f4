"""Lazy: a value that is made when it is first needed."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calling it gives the value, made once, also when several threads ask at the same time."""

    __slots__ = ("_lock", "_make", "_value")

    def __init__(self, make: Callable[[], T], lock: "threading.RLock | None" = None) -> None:
        self._make = make
        # One lock for values that need each other: two threads that make them in another order would deadlock.
        self._lock = lock or threading.RLock()
        self._value: T | None = None

    def __call__(self) -> T:
        if self._value is None:
            with self._lock:
                if self._value is None:
                    self._value = self._make()
        return self._value

    @property
    def current(self) -> T | None:
        """The value if there is one already."""
        return self._value
