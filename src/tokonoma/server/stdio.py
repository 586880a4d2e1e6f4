"""MCP over standard input and output: the main thread reads, worker threads answer, one message per line.

Neither a signal nor a client that has stopped reading can block the process.
"""

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType

from tokonoma.core.call import Caller
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import MAX_BYTES
from tokonoma.server.mcp.session import LineBuffer, StdioSession

GRACE = 1.0
"""Seconds without any call ending, after the end of input, before those that still run are cancelled."""

MOST_GRACE = 10.0
"""Seconds in all before that, however many calls were accepted. A client that wants it sooner sends a signal."""

CANCEL_GRACE = 0.4
"""Seconds more for calls that were then cancelled. The rest of two seconds is left for closing the database."""

_CAN_POLL = hasattr(select, "poll")  # not on Windows: reads and writes block there, and a signal ends the process
_CHUNK_SIZE = 65536
_WRITE_SIZE = getattr(select, "PIPE_BUF", 512)  # fits into a pipe that polls as writable
_POLL_MS = 100


def claim_streams() -> tuple[int, int]:
    """Take the process's own streams for the protocol: `(input, output)` descriptors for `serve`.

    From now on, other code reads nothing from descriptor 0, and what it prints to 1 goes to stderr.
    """
    null = os.open(os.devnull, os.O_RDWR)
    streams = (_take_stream(0, null), _take_stream(1, 2 if _is_open(2) else null))
    if null > 2:  # otherwise it replaces a stream that was closed, and stays there
        os.close(null)
    return streams


def _take_stream(fd: int, replacement: int) -> int:
    """Return a private copy of a standard stream, which then points elsewhere."""
    private = os.dup(fd if _is_open(fd) else replacement)
    os.dup2(replacement, fd)
    return private


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:  # the process was started with this stream closed
        return False
    return True


def serve(
    dispatcher: Dispatcher,
    stdin_fd: int,
    stdout_fd: int,
    *,
    caller: Caller | None = None,
    after_list: Callable[[], None] | None = None,
    grace: float = GRACE,
    cancel_grace: float = CANCEL_GRACE,
) -> bool:
    """Answer until the input ends, the output closes, or SIGTERM or SIGINT arrives; then let the running calls end.

    Returns whether all that was accepted has been answered, none of it cancelled by the end of input: within `grace` +
    `cancel_grace` seconds after a signal, or after the last call has ended. `after_list` is called once, after the
    first `tools/list`.
    """
    with _Waker() as waker:
        writer = _LineWriter(stdout_fd, waker.wake)
        session = StdioSession(dispatcher, caller or Caller("stdio"), writer.write, after_list)

        def set_deadline() -> None:
            # From here on, a client that does not read is not waited for.
            writer.deadline = writer.deadline or time.monotonic() + grace + cancel_grace

        with _handle_signals(set_deadline, waker):
            lines = LineBuffer(MAX_BYTES)
            for chunk in _read_chunks(stdin_fd, waker):
                for line in lines.feed(chunk):
                    session.handle_line(line)
            session.handle_line(lines.take_rest())
            most = time.monotonic() + MOST_GRACE

            def is_over() -> bool:
                signalled = writer.deadline is not None and time.monotonic() >= writer.deadline - cancel_grace
                return signalled or writer.is_closed or time.monotonic() >= most

            session.end()
            answered = session.drain(grace, is_over)
            if not answered:
                signalled = writer.deadline is not None
                writer.deadline = writer.deadline or time.monotonic() + cancel_grace
                session.stop()
                answered = session.drain(cancel_grace) and signalled  # a signal asks for just that
        return not writer.close() and answered


@contextmanager
def _handle_signals(on_signal: Callable[[], None], waker: "_Waker") -> Generator[None]:
    """Let SIGTERM and SIGINT wake the reader. Nothing is raised, so no call is interrupted halfway."""
    if not _CAN_POLL or threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return

    def handle(number: int, frame: FrameType | None) -> None:
        on_signal()
        waker.wake()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Waker:
    """A pipe to oneself: `wake`, from a signal handler or another thread, ends the wait in `_read_chunks`."""

    def __enter__(self) -> "_Waker":
        self.fd, self._write_fd = os.pipe()
        if _CAN_POLL:
            os.set_blocking(self._write_fd, False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)
        os.close(self._write_fd)

    def wake(self) -> None:
        try:
            os.write(self._write_fd, b"!")
        except OSError:
            return  # full: already woken; closed: no reader left


def _read_chunks(fd: int, waker: _Waker) -> Iterator[bytes]:
    """Yield what arrives, until the end of input, an error, or `wake`."""
    poll = select.poll() if _CAN_POLL else None
    if poll is not None:
        poll.register(fd, select.POLLIN)
        poll.register(waker.fd, select.POLLIN)
    while True:
        if poll is not None and any(ready == waker.fd for ready, _ in poll.poll()):
            return
        try:
            chunk = os.read(fd, _CHUNK_SIZE)
        except OSError:
            return
        if not chunk:
            return
        yield chunk


class _LineWriter:
    """Writes whole lines, one after the other. Discards them once the client has gone or `deadline` has passed."""

    def __init__(self, fd: int, on_closed: Callable[[], None]) -> None:
        self.deadline: float | None = None  # of the monotonic clock
        self._fd = fd
        self._on_closed = on_closed
        self.is_closed = False
        self._lost = False  # a line could not be written
        self._lock = threading.Lock()
        self._poll = select.poll() if _CAN_POLL else None
        if self._poll is not None:
            self._poll.register(fd, select.POLLOUT)

    def write(self, message: bytes) -> None:
        with self._lock:
            if self.is_closed:
                self._lost = True
                return
            try:
                rest = memoryview(message + b"\n")
                while rest:
                    self._wait_for_room()
                    rest = rest[os.write(self._fd, rest[:_WRITE_SIZE] if self._poll is not None else rest) :]
            except OSError:  # the client has closed its end
                self.is_closed = self._lost = True
                self._on_closed()

    def close(self) -> bool:
        """Discard all further lines; return whether one was lost by then. A line that is being written is finished
        first, or meets the deadline."""
        with self._lock:
            self.is_closed = True
            return self._lost

    def _wait_for_room(self) -> None:
        # A blocking write could not be ended: wait for room first, and write no more than there is room for.
        if self._poll is None:
            return
        while not self._poll.poll(_POLL_MS):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise BrokenPipeError
