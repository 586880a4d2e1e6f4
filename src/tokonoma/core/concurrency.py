"""How a call ends early (CancelToken) and how a tool answers without holding a worker (Deferred)."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from tokonoma.core.errors import Unavailable

T = TypeVar("T")

DeferredCallback = Callable[[T | None, BaseException | None], None]
"""value, error: the value counts only where the error is None"""


def do_nothing() -> None:
    pass


class CancelToken:
    """One per call. `cancel` runs the hook of whatever blocks right now (an SQL statement, an outgoing request)."""

    __slots__ = ("_hooks", "_lock", "abandon", "outcome", "reason")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hooks: list[Callable[[], object]] = []
        self.reason = ""
        self.outcome = "nothing was changed"  # if the call ends now; who does something that stays replaces it
        self.abandon: Callable[[], object] = do_nothing  # answers for a call that does not end when it is told to

    def cancel(self, reason: str) -> None:
        """Ask the call to end; `reason` is `cancelled` or `timeout`. Only the first request counts."""
        with self._lock:
            if self.reason:
                return
            self.reason = reason
            # Run under the lock: a hook interrupts a connection, which must still belong to this call.
            for hook in self._hooks:
                hook()

    def check(self) -> None:
        """Raise if the call was cancelled; long loops call this between two steps."""
        if self.reason:
            raise self.to_error()

    def to_error(self) -> Unavailable:
        what = "ran past its time limit and was stopped" if self.reason == "timeout" else "was cancelled"
        return Unavailable(f"The call {what}; {self.outcome}.", reason=self.reason)

    def on_cancel(self, hook: Callable[[], object]) -> None:
        """Call `hook` on cancellation; immediately if the call is already cancelled."""
        with self._lock:
            if not self.reason:
                self._hooks.append(hook)
                return
        hook()

    def attach(self, hook: Callable[[], object]) -> None:
        """Call `hook` on cancellation until `detach`; raise if the call is already cancelled."""
        with self._lock:
            self.check()
            self._hooks.append(hook)

    def detach(self, hook: Callable[[], object]) -> None:
        with self._lock:
            self._hooks.remove(hook)

    def discard(self, hook: Callable[[], object]) -> None:
        """Undo `on_cancel`."""
        with self._lock:
            if hook in self._hooks:
                self._hooks.remove(hook)


class _Running(threading.local):
    token: CancelToken | None = None


_running = _Running()


def check_running_call() -> None:
    """Raise if the call that this thread works for was cancelled: for long loops that do not know their call."""
    if _running.token is not None:
        _running.token.check()


@contextmanager
def work_for(token: CancelToken) -> Generator[None]:
    """What this thread does in the block, it does for the call of this token."""
    before, _running.token = _running.token, token
    try:
        yield
    finally:
        _running.token = before


class Deferred(Generic[T]):
    """A value that arrives later. A tool annotated `-> Deferred[X]` answers with an X."""

    __slots__ = ("_callbacks", "_error", "_lock", "_resolved", "_value")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resolved = False
        self._value: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[DeferredCallback[T]] = []

    def resolve(self, value: T | None = None, error: BaseException | None = None) -> None:
        """Set the value or the error. Only the first call counts: a time-out may race an answer."""
        with self._lock:
            if self._resolved:
                return
            self._resolved, self._value, self._error = True, value, error
            callbacks, self._callbacks = self._callbacks, cast(list[DeferredCallback[T]], [])
        for callback in callbacks:
            callback(value, error)

    def then(self, callback: DeferredCallback[T]) -> None:
        """Call `callback(value, error)` once the value is there; immediately if it already is."""
        with self._lock:
            if not self._resolved:
                self._callbacks.append(callback)
                return
        callback(self._value, self._error)


@dataclass(frozen=True, slots=True)
class Job:
    """Background work, run by the room `jobs`. `step` does a bounded piece of work and returns the seconds until it
    wants to run again, or None when it is done."""

    name: str
    step: Callable[[], float | None]
    first_pause: float = 1.0  # seconds after the first failure; doubled after each further one
    longest_pause: float = 60.0
    lease: float = 0.0  # seconds; above 0 the job runs in one process at a time
    choose_pause: Callable[[Exception], float | None] = lambda error: None  # a pause of its own for this error
    on_stop: Callable[[], object] = lambda: None  # the runner closes before the job is done


class JobStarter(Protocol):
    """The job runner, as far as others need it."""

    def start(self, job: Job) -> None: ...
