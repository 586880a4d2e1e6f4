"""A few workers that a call runs on, from parse to envelope. Threads start when needed and die with the process."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

from tokonoma.core.log import log


class Pool:
    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._idle = 0

    def submit(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._idle > 0:
                self._idle -= 1  # promised to this work: the next one must not count on it
            elif len(self._threads) < self._most:
                self._start()
        self._queue.put(work)

    def close(self, grace: float) -> None:
        """Let the workers finish what is queued, for at most `grace` seconds in all."""
        with self._lock:
            threads = list(self._threads)
        for _ in threads:
            self._queue.put(None)
        share = grace / max(1, len(threads))
        for thread in threads:
            thread.join(share)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=f"worker-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                work()
            except BaseException as error:  # a worker outlives whatever its work did
                log("error", "worker", error=type(error).__name__)
            with self._lock:
                self._idle += 1
