"""MCP over standard input and output: the main thread reads, the front's workers answer, one line a message."""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tokonoma.core.call import Caller
from tokonoma.server.mcp.conversation import StdioSession
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.lines import LineBuffer
from tokonoma.server.mcp.protocol import MAX_BYTES
from tokonoma.server.pipes import CAN_POLL, LineWriter, Waker, read_chunks

GRACE = 1.0
"""Seconds that calls under way may still take after the end of input."""

CANCEL_GRACE = 0.4
"""Seconds more for those that were then told to stop. The house has the rest of two seconds to close."""


def claim_streams() -> tuple[int, int]:
    """Take the process's own streams for the protocol: `(input, output)` descriptors for `serve`.

    What anything else reads from descriptor 0 is empty from now on, and what it prints to 1 goes to stderr.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    taken = (_take_stream(0, nothing), _take_stream(1, _if_open(2, nothing)))
    if nothing > 2:  # otherwise it took the place of a stream that was closed, and stays there
        os.close(nothing)
    return taken


def serve(
    front: Dispatcher,
    stdin_fd: int,
    stdout_fd: int,
    *,
    caller: Caller | None = None,
    after_list: Callable[[], None] | None = None,
    grace: float = GRACE,
    last_call: float = CANCEL_GRACE,
) -> None:
    """Answer until the input ends, the output closes, or SIGTERM or SIGINT comes; then let the calls under way end.

    Returns within `grace` + `last_call` seconds. `after_list` is called once, when the first `tools/list` is flushed.
    """
    with Waker() as waker:
        writer = LineWriter(stdout_fd, waker.wake)
        conversation = StdioSession(front, caller or Caller("stdio"), writer.write, after_list)

        def end(*_: Any) -> None:
            # From here on nobody waits for a client that does not read.
            writer.deadline = writer.deadline or time.monotonic() + grace + last_call

        with _handle_signals(end, waker):
            _read_messages(conversation, stdin_fd, waker)
            end()
            if not conversation.drain(grace):
                conversation.stop()
                conversation.drain(last_call)
        writer.close()


def _read_messages(conversation: StdioSession, stdin_fd: int, waker: Waker) -> None:
    lines = LineBuffer(MAX_BYTES)
    for chunk in read_chunks(stdin_fd, waker):
        for line in lines.feed(chunk):
            conversation.handle_line(line)
    conversation.handle_line(lines.take_rest())


def _take_stream(fd: int, instead: int) -> int:
    """A private copy of a standard stream, which then points elsewhere."""
    private = os.dup(_if_open(fd, instead))
    os.dup2(instead, fd)
    return private


def _if_open(fd: int, nothing: int) -> int:
    try:
        os.fstat(fd)
    except OSError:  # the process was started with this stream closed
        return nothing
    return fd


@contextmanager
def _handle_signals(end: Callable[..., None], waker: Waker) -> Generator[None]:
    """SIGTERM and SIGINT wake the reader. Nothing is raised, so no call is torn in the middle."""
    if not CAN_POLL or threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen to signals
        return

    def handle(number: int, frame: FrameType | None) -> None:
        end()
        waker.wake()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
