"""The pool: everything handed in is run once, as many at a time as there are workers."""

import threading

import pytest

from tokonoma.pipeline import worker_pool
from tokonoma.pipeline.worker_pool import WorkerPool


@pytest.fixture
def pool():
    made = WorkerPool(4)
    yield made
    made.close(10)


def test_works_that_wait_for_each_other_all_run(pool):
    meeting = threading.Barrier(4)
    met = threading.Semaphore(0)

    def work():
        meeting.wait()  # nobody leaves before four are here
        met.release()

    for _ in range(12):
        pool.submit(work)
    for _ in range(12):
        assert met.acquire(timeout=30)


def test_a_worker_that_waits_does_not_keep_the_queue_waiting(pool):
    gate, passed = threading.Event(), threading.Semaphore(0)
    for _ in range(3):
        pool.submit(gate.wait)
    for _ in range(50):
        pool.submit(passed.release)
    for _ in range(50):
        assert passed.acquire(timeout=30)
    gate.set()


def test_a_lost_worker_is_replaced_until_its_work_ends():
    pool, gate, ran = WorkerPool(1), threading.Event(), threading.Semaphore(0)
    held: list[threading.Thread] = []

    def hold():
        held.append(threading.current_thread())
        ran.release()
        gate.wait()

    pool.submit(hold)
    assert ran.acquire(timeout=30)
    assert pool.replace(held[0])
    pool.submit(ran.release)
    assert ran.acquire(timeout=30)  # by another
    gate.set()
    held[0].join(30)
    assert not held[0].is_alive()  # one worker is enough
    pool.submit(ran.release)
    assert ran.acquire(timeout=30)
    pool.close(10)


def test_only_so_many_lost_workers_are_replaced(monkeypatch):
    monkeypatch.setattr(worker_pool, "MAX_LOST", 2)
    pool, gate, ran = WorkerPool(1), threading.Event(), threading.Semaphore(0)
    held: list[threading.Thread] = []

    def hold():
        held.append(threading.current_thread())
        ran.release()
        gate.wait()

    for is_replaced in (True, True, False):
        pool.submit(hold)
        assert ran.acquire(timeout=30)
        assert pool.replace(held[-1]) is is_replaced
    gate.set()
    pool.close(10)


def test_no_more_than_its_workers_at_a_time(pool):
    lock, running, most, ended = threading.Lock(), 0, 0, threading.Semaphore(0)

    def work():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1
        ended.release()

    for _ in range(200):
        pool.submit(work)
    for _ in range(200):
        assert ended.acquire(timeout=30)
    assert 1 <= most <= 4


def test_everything_from_many_threads_is_run_once(pool):
    done: list[int] = []
    ended = threading.Semaphore(0)

    def work(number):
        done.append(number)
        ended.release()

    def submit(start):
        for number in range(start, start + 500):
            pool.submit(lambda number=number: work(number))

    threads = [threading.Thread(target=submit, args=(start,)) for start in (0, 500, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(1500):
        assert ended.acquire(timeout=30)
    assert sorted(done) == list(range(1500))


def test_a_work_that_breaks_breaks_no_worker(pool, capsys):
    def broken():
        raise RuntimeError("a secret")

    after = threading.Semaphore(0)
    for _ in range(8):
        pool.submit(broken)
        pool.submit(after.release)
    for _ in range(8):
        assert after.acquire(timeout=30)
    told = capsys.readouterr().err
    assert told.count("RuntimeError") == 8
    assert "secret" not in told


def test_closing_waits_for_what_is_queued():
    pool, done = WorkerPool(2), []
    for number in range(100):
        pool.submit(lambda number=number: done.append(number))
    pool.close(30)
    assert sorted(done) == list(range(100))


def test_writers_that_wait_leave_workers_to_readers(pool):
    gate, written, read = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def write():
        gate.wait()
        written.release()

    for _ in range(20):
        pool.submit(write, writes=True)
    for _ in range(50):
        pool.submit(read.release)
    for _ in range(50):
        assert read.acquire(timeout=30)
    assert not written.acquire(blocking=False)
    gate.set()
    for _ in range(20):
        assert written.acquire(timeout=30)


def test_a_pool_of_one_worker_writes_too():
    pool, done = WorkerPool(1), threading.Semaphore(0)
    pool.submit(done.release, writes=True)
    assert done.acquire(timeout=30)
    pool.close(10)


def test_closing_waits_for_writers_that_are_queued():
    pool, done = WorkerPool(3), []
    for number in range(50):
        pool.submit(lambda number=number: done.append(number), writes=True)
    pool.close(30)
    assert sorted(done) == list(range(50))


def test_a_lost_writer_leaves_its_place_to_the_next_one():
    pool, gate, threads, done = WorkerPool(3), threading.Event(), [], threading.Semaphore(0)
    begun = threading.Semaphore(0)

    def hang():
        threads.append(threading.current_thread())
        begun.release()
        gate.wait()

    pool.submit(hang, writes=True)
    assert begun.acquire(timeout=30)
    pool.submit(done.release, writes=True)  # only one may write at a time
    assert not done.acquire(blocking=False)
    assert pool.replace(threads[0])
    assert done.acquire(timeout=30)
    gate.set()
    pool.close(10)
