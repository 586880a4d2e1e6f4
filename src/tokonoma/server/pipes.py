"""Reading and writing descriptors so that neither a signal nor a client that stopped reading can hold the process."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator

CHUNK_SIZE = 65536
CAN_POLL = hasattr(select, "poll")
"""Not on Windows: there, reads and writes simply block, and a signal ends the process as it always does."""

_WRITE_SIZE = getattr(select, "PIPE_BUF", 512)  # what fits into a pipe that polls as writable
_POLL_MS = 100


class Waker:
    """A pipe to oneself: `wake` from a signal handler or another thread ends a wait in `chunks`."""

    def __enter__(self) -> "Waker":
        self.fd, self._write = os.pipe()
        if CAN_POLL:
            os.set_blocking(self._write, False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)
        os.close(self._write)

    def wake(self) -> None:
        try:
            os.write(self._write, b"!")
        except (BlockingIOError, OSError):
            return  # full: it has been woken already; closed: nobody sleeps any more


def read_chunks(fd: int, waker: Waker) -> Iterator[bytes]:
    """What comes in, until the end of input, an error, or `wake`."""
    poll = select.poll() if CAN_POLL else None
    if poll is not None:
        poll.register(fd, select.POLLIN)
        poll.register(waker.fd, select.POLLIN)
    while True:
        if poll is not None and any(ready == waker.fd for ready, _ in poll.poll()):
            return
        try:
            chunk = os.read(fd, CHUNK_SIZE)
        except OSError:
            return
        if not chunk:
            return
        yield chunk


class LineWriter:
    """Whole lines, one after the other. Once the other side is gone, or `deadline` has passed, it is silent."""

    def __init__(self, fd: int, on_closed: Callable[[], None]) -> None:
        self.deadline: float | None = None  # of the monotonic clock
        self._fd = fd
        self._on_closed = on_closed
        self._closed = False
        self._lock = threading.Lock()
        self._poll = select.poll() if CAN_POLL else None
        if self._poll is not None:
            self._poll.register(fd, select.POLLOUT)

    def write(self, message: bytes) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._write_all(message + b"\n")
            except OSError:  # the other side has closed its end
                self._closed = True
                self._on_closed()

    def close(self) -> None:
        """From now on silent; whoever is writing finishes its line or meets the deadline first."""
        with self._lock:
            self._closed = True

    def _write_all(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            self._wait_for_room()
            rest = rest[os.write(self._fd, rest[:_WRITE_SIZE] if self._poll is not None else rest) :]

    def _wait_for_room(self) -> None:
        # A blocking write could not be ended: wait for room first, and write no more than there is room for.
        if self._poll is None:
            return
        while not self._poll.poll(_POLL_MS):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise BrokenPipeError
