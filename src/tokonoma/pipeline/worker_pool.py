"""A few workers that a call runs on, from parse to envelope. Threads start when needed and die with the process.

Waking a thread costs more than most calls: it has to be given the interpreter. So one worker is woken at a time, the
one that was busy last, and it wakes the next only if it leaves work behind when it takes its own.
"""

import threading
from collections import deque
from collections.abc import Callable

from tokonoma.core.log import log

Work = Callable[[], object]


class WorkerPool:
    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._queue: deque[Work] = deque()
        self._threads: list[threading.Thread] = []
        self._idle: list[threading.Lock] = []  # the bells of those that wait: to release one is to ring it
        self._coming = False  # one was woken and has not looked at the queue yet
        self._closed = False

    def submit(self, work: Work) -> None:
        with self._lock:
            self._queue.append(work)
            self._wake()

    def close(self, grace: float) -> None:
        """Let the workers finish what is queued, for at most `grace` seconds in all."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
            while self._idle:
                self._idle.pop().release()
        share = grace / max(1, len(threads))
        for thread in threads:
            thread.join(share)

    @property
    def is_busy(self) -> bool:
        """After `close`: whether a worker has not ended in time."""
        return any(thread.is_alive() for thread in self._threads)

    def _wake(self) -> None:
        if self._coming:
            return
        if self._idle:
            self._coming = True
            self._idle.pop().release()
        elif len(self._threads) < self._most:
            self._coming = True
            thread = threading.Thread(target=self._run, name=f"worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self) -> None:
        bell = threading.Lock()
        bell.acquire()
        came = True
        while True:
            with self._lock:
                if came:
                    self._coming = came = False
                if self._queue:
                    work = self._queue.popleft()
                    if self._queue:
                        self._wake()  # the work in hand may take long, or wait for what is queued behind it
                elif self._closed:
                    return
                else:
                    work = None
                    self._idle.append(bell)
            if work is None:
                bell.acquire()
                came = True
                continue
            try:
                work()
            except BaseException as error:  # a worker outlives whatever its work did
                log("error", "worker", error=type(error).__name__)
