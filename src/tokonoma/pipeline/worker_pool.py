"""A few workers that a call runs on, from parse to envelope. Threads start when needed and die with the process.

Waking a thread costs more than most calls: it has to be given the interpreter. So one worker is woken at a time, the
one that was busy last, and it wakes the next only if it leaves work behind when it takes its own.
"""

import threading
from collections import deque
from collections.abc import Callable

from tokonoma.core.log import log

Work = Callable[[], object]


MAX_LOST = 64
"""Threads that are replaced while their work does not end. Beyond that, the pool has fewer workers."""


class WorkerPool:
    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._queue: deque[Work] = deque()
        self._threads: list[threading.Thread] = []
        self._idle: list[threading.Lock] = []  # the bells of those that wait: to release one is to ring it
        self._lost: set[threading.Thread] = set()  # their work was given up, and has not ended
        self._coming = False  # one was woken and has not looked at the queue yet
        self._closed = False

    def submit(self, work: Work) -> None:
        with self._lock:
            self._queue.append(work)
            self._wake()

    def replace(self, thread: threading.Thread) -> bool:
        """Count a worker as lost until its work ends, and let another one do its part; False if too many are lost."""
        with self._lock:
            if len(self._lost) >= MAX_LOST:
                return False
            if thread in self._threads:
                self._lost.add(thread)
            lost = len(self._lost)
        log("warning", "worker_lost", lost=lost)
        return True

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

    def _wake(self) -> None:
        if self._coming:
            return
        if self._idle:
            self._coming = True
            self._idle.pop().release()
        elif len(self._threads) - len(self._lost) < self._most:
            self._coming = True
            thread = threading.Thread(target=self._run, name=f"worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _is_surplus(self) -> bool:
        """Whether this worker was lost, has come back, and is no longer needed."""
        thread = threading.current_thread()
        if thread not in self._lost:
            return False
        self._lost.discard(thread)
        if len(self._threads) - len(self._lost) <= self._most:
            return False
        self._threads.remove(thread)
        return True

    def _run(self) -> None:
        bell = threading.Lock()
        bell.acquire()
        came = True
        while True:
            with self._lock:
                if came:
                    self._coming = came = False
                if self._is_surplus():
                    return
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
