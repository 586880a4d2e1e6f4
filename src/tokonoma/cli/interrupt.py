"""Ctrl-C: a command says what was saved until then, and ends with the exit code 130."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from types import FrameType

from tokonoma.core.concurrency import CancelToken

EXIT_CODE = 130  # 128 + SIGINT, as shells expect it

_pending = Event()


class Interrupted(Exception):
    """Ctrl-C; `report` says what was saved and what to do."""

    def __init__(self, report: str = "") -> None:
        super().__init__(report)
        self.report = report


@contextmanager
def cancel_on_interrupt() -> Generator[CancelToken]:
    """Ctrl-C cancels this token instead of stopping the command halfway: what was complete is still counted.

    `take_interrupt` tells that it came.
    """
    token = CancelToken()

    def cancel(_number: int, _frame: FrameType | None) -> None:
        _pending.set()
        # In another thread, because this one may hold the lock that `cancel` takes.
        Thread(target=token.cancel, args=("cancelled",), daemon=True).start()

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or current_thread() is not main_thread():
        yield token
        return
    signal.signal(signal.SIGINT, cancel)
    try:
        yield token
    finally:
        signal.signal(signal.SIGINT, before)


def take_interrupt() -> bool:
    """Whether there was one; it is forgotten."""
    was_set = _pending.is_set()
    _pending.clear()
    return was_set


@contextmanager
def report_interrupt(describe: Callable[[], str]) -> Generator[None]:
    """Add a report to a Ctrl-C in this block."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(describe()) from None
