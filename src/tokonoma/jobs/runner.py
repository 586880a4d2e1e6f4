"""The job runner: all background work of a process, on a few threads that exist only while something is due.

A job is a name and a step. A step does a bounded piece of work and returns the seconds until it wants to run again, or
None when it is done. A step that raises is repeated with growing pauses. At the end of the process no new step starts,
and the steps under way are waited for.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tokonoma.core.concurrency import Job
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.jobs.leases import Leases

_JITTER = random.Random()  # noqa: S311 - not a secret


@dataclass(slots=True, eq=False)
class _Run:
    job: Job
    due: float
    running: bool = False
    woken: bool = False  # while it ran: it runs once more
    failures: int = 0
    problem: str = ""
    lease_until: float = field(default=0.0)

    @property
    def state(self) -> Literal["running", "failed", "waiting"]:
        return "running" if self.running else "failed" if self.failures else "waiting"


class JobRunner:
    """`leases` gives a job to one process at a time; None where no job asks for that."""

    def __init__(self, leases: Leases | None = None) -> None:
        self._leases = leases
        self._runs: dict[str, _Run] = {}
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self.closing = False

    def start(self, job: Job) -> None:
        """Run a job, or wake it if it waits. A pause after a failure is not shortened."""
        with self._changed:
            if self.closing:
                return
            due = time.monotonic()
            run = self._runs.get(job.name)
            if run is None:
                run = self._runs[job.name] = _Run(job, due)
            elif run.running:
                run.woken = True
            elif not run.failures:
                run.due = min(run.due, due)
            self._ensure_thread()

    def start_step(
        self, name: str, step: Callable[[], float | None], on_stop: Callable[[], object] = lambda: None
    ) -> None:
        """Run a step until it returns None, unless a job of this name is already under way."""
        with self._changed:
            if name in self._runs:
                return
        self.start(Job(name, step, on_stop=on_stop))

    def wake(self, name: str) -> bool:
        """Run a job that waits at once, also one that pauses after a failure. False if there is none of this name."""
        with self._changed:
            run = self._runs.get(name)
            if run is None or self.closing:
                return False
            run.due, run.woken = time.monotonic(), run.running
            self._ensure_thread()
            return True

    def status(self) -> dict[str, dict[str, Any]]:
        """Every job that is not done: its state, its failures in a row, and the reason of the last one."""
        with self._changed:
            return {
                name: {"state": run.state, "failures": run.failures, "problem": run.problem}
                for name, run in self._runs.items()
            }

    def close(self, grace: float = 5.0) -> None:
        """Start no further step, and wait at most `grace` seconds for those under way."""
        with self._changed:
            self.closing = True
            self._changed.notify_all()
            threads = list(self._threads)
        until = time.monotonic() + grace
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        with self._changed:
            unfinished = [run.job for run in self._runs.values()]
            self._runs.clear()
        for job in unfinished:
            job.on_stop()
        if self._leases is not None:
            self._leases.release_all()

    def _ensure_thread(self) -> None:
        """One thread more if no idle one can take what is due; an idle one looks again in any case."""
        self._changed.notify()
        waiting = sum(not run.running for run in self._runs.values())
        if self._idle < waiting and len(self._threads) < len(self._runs):
            thread = threading.Thread(target=self._work, name="tokonoma-jobs", daemon=True)
            self._threads.add(thread)
            thread.start()

    def _work(self) -> None:
        while (run := self._take()) is not None:
            try:
                pause = self._run_step(run)
            except Exception as error:
                pause = self._fail(run, error)
            else:
                run.failures, run.problem = 0, ""
            self._put_back(run, pause)

    def _take(self) -> _Run | None:
        """The next run that is due; None ends this thread: nothing is left that it could wait for."""
        with self._changed:
            while not self.closing:
                waiting = [run for run in self._runs.values() if not run.running]
                if not waiting:
                    break
                run = min(waiting, key=lambda each: each.due)
                left = run.due - time.monotonic()
                if left <= 0:
                    run.running, run.woken = True, False
                    return run
                self._idle += 1
                self._changed.wait(left)
                self._idle -= 1
            self._threads.discard(threading.current_thread())
            return None

    def _run_step(self, run: _Run) -> float | None:
        job = run.job
        if job.lease:
            assert self._leases is not None, "a job with a lease needs a runner with leases"
            if time.monotonic() > run.lease_until - job.lease / 2:
                if not self._leases.take(job.name, job.lease):
                    return job.lease / 3  # another process has it; if that one is killed, its lease ends
                run.lease_until = time.monotonic() + job.lease
        return job.step()

    def _fail(self, run: _Run, error: Exception) -> float:
        run.failures += 1
        problem = error.message if isinstance(error, Refusal) else type(error).__name__
        if problem != run.problem:  # logged once, not with every try
            log("warning", "job.failed", job=run.job.name, reason=problem)
        run.problem = problem
        pause = run.job.choose_pause(error)
        if pause is not None:
            return pause
        longest = min(run.job.first_pause * 2 ** min(run.failures - 1, 20), run.job.longest_pause)
        return longest * _JITTER.uniform(0.5, 1.0)

    def _put_back(self, run: _Run, pause: float | None) -> None:
        with self._changed:
            run.running = False
            if run.woken and not run.failures:
                pause = 0.0
            if pause is not None:
                run.due = time.monotonic() + pause
                return
            self._runs.pop(run.job.name, None)
        if run.lease_until and self._leases is not None:
            self._leases.release(run.job.name)
