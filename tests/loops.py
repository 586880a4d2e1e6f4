"""An event loop in a thread of its own, for servers that tests talk to. Its end leaves nothing behind: a task or a
connection that is still open when the loop closes is reported later, in the middle of some other test."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()  # a loop holds its tasks weakly: one that waits for ever may vanish
        self._loop.set_task_factory(self._start_task)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call_soon(self, what: Any) -> None:
        self._loop.call_soon_threadsafe(what)

    def close(self) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _start_task(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **options)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _end(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A connection that was closed may still wait to send, or for the last word of its peer: it is broken off.
        await _run_what_is_scheduled()
        for transport in _list_open(self._loop):
            transport._conn_lost = 0  # or `abort` believes that the end is scheduled
            transport.abort()
        await _run_what_is_scheduled()


async def _run_what_is_scheduled() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def _list_open(loop: Any) -> list[Any]:
    """The loop knows all of its connections; those that have ended hold no socket."""
    return [each for each in list(loop._transports.values()) if each._sock is not None]
