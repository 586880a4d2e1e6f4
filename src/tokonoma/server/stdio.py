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
from tokonoma.server.mcp.conversation import Conversation
from tokonoma.server.mcp.interface import Front
from tokonoma.server.mcp.lines import Lines
from tokonoma.server.mcp.protocol import MAX_BYTES
from tokonoma.server.pipes import POLLS, Waker, Writer, chunks

GRACE = 1.0
"""Seconds that calls under way may still take after the end of input."""

LAST_CALL = 0.4
"""Seconds more for those that were then told to stop. The house has the rest of two seconds to close."""


def claim() -> tuple[int, int]:
    """Take the process's own streams for the protocol: `(input, output)` descriptors for `serve`.

    What anything else reads from descriptor 0 is empty from now on, and what it prints to 1 goes to stderr.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    taken = (_take(0, nothing), _take(1, _or_nothing(2, nothing)))
    if nothing > 2:  # otherwise it took the place of a stream that was closed, and stays there
        os.close(nothing)
    return taken


def serve(
    front: Front,
    stdin_fd: int,
    stdout_fd: int,
    *,
    after_list: Callable[[], None] | None = None,
    grace: float = GRACE,
    last_call: float = LAST_CALL,
) -> None:
    """Answer until the input ends, the output closes, or SIGTERM or SIGINT comes; then let the calls under way end.

    Returns within `grace` + `last_call` seconds. `after_list` is called once, when the first `tools/list` is flushed.
    """
    with Waker() as waker:
        writer = Writer(stdout_fd, waker.wake)
        conversation = Conversation(front, Caller("stdio"), writer.write, after_list)

        def end(*_: Any) -> None:
            # From here on nobody waits for a client that does not read.
            writer.deadline = writer.deadline or time.monotonic() + grace + last_call

        with _signals(end, waker):
            _converse(conversation, stdin_fd, waker)
            end()
            if not conversation.drain(grace):
                conversation.stop()
                conversation.drain(last_call)
        writer.close()


def _converse(conversation: Conversation, stdin_fd: int, waker: Waker) -> None:
    lines = Lines(MAX_BYTES)
    for chunk in chunks(stdin_fd, waker):
        for line in lines.feed(chunk):
            conversation.take(line)
    conversation.take(lines.end())


def _take(fd: int, instead: int) -> int:
    """A private copy of a standard stream, which then points elsewhere."""
    private = os.dup(_or_nothing(fd, instead))
    os.dup2(instead, fd)
    return private


def _or_nothing(fd: int, nothing: int) -> int:
    try:
        os.fstat(fd)
    except OSError:  # the process was started with this stream closed
        return nothing
    return fd


@contextmanager
def _signals(end: Callable[..., None], waker: Waker) -> Generator[None]:
    """SIGTERM and SIGINT wake the reader. Nothing is raised, so no call is torn in the middle."""
    if not POLLS or threading.current_thread() is not threading.main_thread():
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
