"""The job runner: steps, pauses after failures, leases between processes, and an orderly stop."""

import threading
import time

import pytest

from tokonoma.core.errors import Unavailable
from tokonoma.jobs import leases
from tokonoma.jobs.leases import Leases
from tokonoma.jobs.runner import Job, JobRunner
from tokonoma.store.migrate import migrate


@pytest.fixture
def runner():
    runner = JobRunner()
    yield runner
    runner.close()


def wait(event: threading.Event) -> None:
    assert event.wait(30)


def wait_for_state(runner: JobRunner, name: str, state: str) -> None:
    """The runner notes the end of a step after the step itself has returned."""
    until = time.monotonic() + 30
    while runner.status().get(name, {}).get("state") != state:
        assert time.monotonic() < until, runner.status()
        time.sleep(0.001)


def test_a_job_runs_until_its_step_returns_none(runner):
    done, steps = threading.Event(), []

    def step() -> float | None:
        steps.append(1)
        if len(steps) < 3:
            return 0.0
        done.set()
        return None

    runner.start(Job("count", step))
    wait(done)
    runner.close()
    assert len(steps) == 3
    assert runner.status() == {}


def test_a_job_that_is_started_again_while_it_runs_runs_once_more(runner):
    inside, go_on, again = threading.Event(), threading.Event(), threading.Event()

    def step() -> None:
        if inside.is_set():
            again.set()
        inside.set()
        wait(go_on)

    job = Job("woken", step)
    runner.start(job)
    wait(inside)
    runner.start(job)
    assert not again.is_set()
    go_on.set()
    wait(again)


def test_a_waiting_job_is_woken(runner):
    waits, woken, steps = threading.Event(), threading.Event(), []

    def step() -> float | None:
        steps.append(1)
        (woken if len(steps) > 1 else waits).set()
        return 3600.0

    job = Job("sleeper", step)
    runner.start(job)
    wait(waits)
    wait_for_state(runner, "sleeper", "waiting")
    runner.start(job)
    wait(woken)


def test_a_failure_is_followed_by_a_pause_that_a_wake_does_not_shorten(runner):
    failed, steps = threading.Event(), []

    def step() -> None:
        steps.append(1)
        failed.set()
        raise Unavailable("The service does not answer.", reason="service")

    job = Job("failing", step, first_pause=3600.0, longest_pause=3600.0)
    runner.start(job)
    wait(failed)
    wait_for_state(runner, "failing", "failed")
    runner.start(job)
    assert runner.status()["failing"] == {
        "state": "failed",
        "failures": 1,
        "problem": "The service does not answer.",
    }
    runner.close()
    assert len(steps) == 1


def test_a_job_may_choose_its_own_pause_and_recovers(runner):
    done, steps = threading.Event(), []

    def step() -> None:
        steps.append(1)
        if len(steps) < 3:
            raise RuntimeError("not yet")
        done.set()

    runner.start(Job("stubborn", step, first_pause=3600.0, choose_pause=lambda error: 0.0))
    wait(done)


def test_jobs_do_not_wait_for_each_other(runner):
    inside, other, go_on = threading.Event(), threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        wait(go_on)

    runner.start(Job("slow", block))
    wait(inside)
    runner.start(Job("quick", other.set))  # type: ignore[arg-type]
    wait(other)
    go_on.set()


def test_closing_waits_for_the_step_under_way_and_starts_no_other(runner):
    inside, go_on, ended, late = threading.Event(), threading.Event(), threading.Event(), []

    def step() -> float | None:
        inside.set()
        wait(go_on)
        ended.set()
        return 0.0

    runner.start(Job("last", step))
    wait(inside)
    threading.Timer(0.05, go_on.set).start()
    runner.close(30)
    assert ended.is_set()
    runner.start(Job("late", lambda: late.append(1)))  # type: ignore[arg-type, func-returns-value]
    assert not late
    assert not any(thread.name == "tokonoma-jobs" and thread.is_alive() for thread in runner._threads)


def test_of_two_processes_one_runs_a_job_with_a_lease(database):
    migrate(database, "jobs", leases.TABLES, lambda reason: None)
    at = 1_000_000
    one, two = (Leases(database.writing, lambda: at) for _ in range(2))
    assert one.take("refresh", 30.0)
    assert one.take("refresh", 30.0)
    assert not two.take("refresh", 30.0)
    one.release("refresh")
    assert two.take("refresh", 30.0)
    at += 31_000
    assert one.take("refresh", 30.0), "the other process was killed: its lease has ended"
    one.release_all()
    assert two.take("refresh", 30.0)


def test_a_lease_of_a_clock_that_was_set_back_ends_like_any_other(database):
    migrate(database, "jobs", leases.TABLES, lambda reason: None)
    at = 10_000_000
    killed, other = (Leases(database.writing, lambda: at) for _ in range(2))
    assert killed.take("job", 30.0)
    at -= 3_600_000
    assert not other.take("job", 30.0)  # who holds it may still be there
    at += 30_001
    assert other.take("job", 30.0)


def test_a_job_with_a_lease_waits_for_its_turn(database):
    migrate(database, "jobs", leases.TABLES, lambda reason: None)
    other = Leases(database.writing)
    assert other.take("shared", 3600.0)
    runner, ran = JobRunner(Leases(database.writing)), threading.Event()
    try:
        runner.start(Job("shared", ran.set, lease=0.3))  # type: ignore[arg-type]
        wait_for_state(runner, "shared", "waiting")
        assert not ran.is_set()
        other.release("shared")
        wait(ran)
    finally:
        runner.close()
