"""The fair lock: first come, first served, and nobody is lost."""

import threading

import pytest

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Unavailable
from tokonoma.store import fair_lock
from tokonoma.store.fair_lock import FairLock


def queued(turn: FairLock, served: list[int], number: int, stop: CancelToken | None = None) -> threading.Thread:
    """A thread that stands in the queue when this returns."""
    before = len(turn._waiting)

    def stand() -> None:
        try:
            turn.acquire(stop)
        except Unavailable as refused:
            served.append(-number)
            assert refused.reason == "cancelled"
            return
        served.append(number)
        turn.release()

    thread = threading.Thread(target=stand)
    thread.start()
    while len(turn._waiting) == before:
        threading.Event().wait(0)
    return thread


def test_turns_are_taken_in_the_order_of_asking():
    turn, served = FairLock(), []
    turn.acquire()
    threads = [queued(turn, served, number) for number in range(1, 9)]
    turn.release()
    for each in threads:
        each.join()
    assert served == list(range(1, 9))


def test_who_is_told_to_stop_leaves_the_queue_and_the_others_move_up():
    turn, served, stop = FairLock(), [], CancelToken()
    turn.acquire()
    threads = [queued(turn, served, 1), queued(turn, served, 2, stop), queued(turn, served, 3)]
    stop.cancel("cancelled")
    threads[1].join()
    turn.release()
    for each in threads:
        each.join()
    assert served == [-2, 1, 3]
    turn.acquire(wait=0)  # and it is free again
    turn.release()


def test_who_waits_too_long_is_told_that_the_database_is_busy():
    turn = FairLock()
    turn.acquire()
    with pytest.raises(Unavailable) as refused:
        turn.acquire(wait=0)
    assert refused.value.reason == "busy"
    turn.release()
    turn.acquire(wait=0)


def test_a_place_that_came_at_the_last_moment_is_passed_on(monkeypatch):
    turn = FairLock()
    turn.acquire()

    def serve_and_stop(*told: object) -> None:
        turn.release()
        raise InterruptedError

    monkeypatch.setattr(fair_lock, "_wait", serve_and_stop)
    with pytest.raises(InterruptedError):
        turn.acquire()
    turn.acquire(wait=0)


def test_as_many_places_as_there_are():
    turn = FairLock(3)
    for _ in range(3):
        turn.acquire(wait=0)
    with pytest.raises(Unavailable):
        turn.acquire(wait=0)
    turn.release()
    turn.acquire(wait=0)


def test_stops_and_turns_that_race_leave_the_lock_whole():
    turn = FairLock()
    inside, most = [0], [0]

    def work(number: int) -> None:
        for each in range(40):
            stop = CancelToken()
            if (each + number) % 3 == 0:
                threading.Timer(0, stop.cancel, ["cancelled"]).start()
            try:
                turn.acquire(stop)
            except Unavailable:
                continue
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            inside[0] -= 1
            turn.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most[0] == 1
    turn.acquire(wait=0)
