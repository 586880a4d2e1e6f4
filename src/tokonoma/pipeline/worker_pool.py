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

MAX_LOST = 64
"""Threads that are replaced while their work does not end. Beyond that, the pool has fewer workers."""


class WorkerPool:
    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._most_writers = max(1, most - RESERVED)
        self._writers: set[threading.Thread] = set()  # those with a writer's work in hand
        self._lock = threading.Lock()
        self._arrived = 0
        self._readers_queue: deque[tuple[int, Work]] = deque()  # each with its number in the order of arrival
        self._writers_queue: deque[tuple[int, Work]] = deque()
        self._threads: list[threading.Thread] = []
        self._idle: list[threading.Lock] = []  # the bells of those that wait: to release one is to ring it
        self._lost: set[threading.Thread] = set()  # their work was given up, and has not ended
        self._coming = False  # one was woken and has not looked at the queue yet
        self._closed = False

    def submit(self, work: Work, *, writes: bool = False) -> None:
        """Run it on a worker, in the order of arrival. `writes`: it may wait for other writers."""
        with self._lock:
            self._arrived += 1
            (self._writers_queue if writes else self._readers_queue).append((self._arrived, work))
            if self._find_queue() is not None:
                self._wake()

    def replace(self, thread: threading.Thread) -> bool:
        """Count a worker as lost until its work ends, and let another one do its part; False if too many are lost."""
        with self._lock:
            if len(self._lost) >= MAX_LOST:
                return False
            if thread in self._threads:
                self._lost.add(thread)
                self._writers.discard(thread)
            lost = len(self._lost)
            if self._find_queue() is not None:
                self._wake()
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
        elif len(self._threads) - len(self._lost) < self._most:
            self._coming = True
            thread = threading.Thread(target=self._run, name=f"worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _is_surplus(self, thread: threading.Thread) -> bool:
        """Whether this worker was lost, has come back, and is no longer needed."""
        if thread not in self._lost:
            return False
        self._lost.discard(thread)
        if len(self._threads) - len(self._lost) <= self._most:
            return False
        self._threads.remove(thread)
        return True

    def _find_queue(self) -> "deque[tuple[int, Work]] | None":
        """The queue whose first work is to be taken next; None if there is nothing that may be taken now."""
        readers, writers = self._readers_queue, self._writers_queue
        if not writers or len(self._writers) >= self._most_writers:
            return readers or None
        return readers if readers and readers[0][0] < writers[0][0] else writers

    def _run(self) -> None:
        bell, me = threading.Lock(), threading.current_thread()
        bell.acquire()
        came = True
        while True:
            with self._lock:
                if came:
                    self._coming = came = False
                self._writers.discard(me)
                if self._is_surplus(me):
                    return
                queue, work = self._find_queue(), None
                if queue is not None:
                    work = queue.popleft()[1]
                    if queue is self._writers_queue:
                        self._writers.add(me)
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
