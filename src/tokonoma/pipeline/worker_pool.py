"""A few workers that a call runs on, from parse to envelope. Threads start when needed and die with the process.

Waking a thread costs more than most calls: it has to be given the interpreter. So one worker is woken at a time, the
one that was busy last, and it wakes the next only if it leaves work behind when it takes its own.

Writers wait for each other, inside the database. So they never have all workers: a few are left to calls that only
read, and a status is answered however many writers wait.
"""

import threading
from collections import deque
from collections.abc import Callable

from tokonoma.core.log import log

Work = Callable[[], object]
RESERVED = 2
"""Workers that writers leave to readers."""


class WorkerPool:
    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._most_writers = max(1, most - RESERVED)
        self._writers = 0  # workers with a writer's work in hand
        self._lock = threading.Lock()
        self._arrived = 0
        self._readers_queue: deque[tuple[int, Work]] = deque()  # each with its number in the order of arrival
        self._writers_queue: deque[tuple[int, Work]] = deque()
        self._threads: list[threading.Thread] = []
        self._idle: list[threading.Lock] = []  # the bells of those that wait: to release one is to ring it
        self._coming = False  # one was woken and has not looked at the queue yet
        self._closed = False

    def submit(self, work: Work, *, writes: bool = False) -> None:
        """Run it on a worker, in the order of arrival. `writes`: it may wait for other writers."""
        with self._lock:
            self._arrived += 1
            (self._writers_queue if writes else self._readers_queue).append((self._arrived, work))
            if self._find_queue() is not None:
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

    def _find_queue(self) -> "deque[tuple[int, Work]] | None":
        """The queue whose first work is to be taken next; None if there is nothing that may be taken now."""
        readers, writers = self._readers_queue, self._writers_queue
        if not writers or self._writers >= self._most_writers:
            return readers or None
        return readers if readers and readers[0][0] < writers[0][0] else writers

    def _run(self) -> None:
        bell = threading.Lock()
        bell.acquire()
        came = True
        while True:
            with self._lock:
                if came:
                    self._coming = came = False
                queue, work = self._find_queue(), None
                writes = queue is self._writers_queue
                if queue is not None:
                    work = queue.popleft()[1]
                    self._writers += writes
                    if self._find_queue() is not None:
                        self._wake()  # the work in hand may take long, or wait for what is queued behind it
                elif self._closed:
                    return  # writers that are queued are taken by those that write now
                else:
                    self._idle.append(bell)
            if work is None:
                bell.acquire()
                came = True
                continue
            try:
                work()
            except BaseException as error:  # a worker outlives whatever its work did
                log("error", "worker", error=type(error).__name__)
            if writes:
                with self._lock:
                    self._writers -= 1
