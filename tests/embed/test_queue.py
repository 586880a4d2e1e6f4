"""The queue: who holds what for how long, by which clock, and that nothing is done twice."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from embed.fixture import QUICK, EmbedFixture, Open
from embed.server import EmbeddingServer
from store.threads import run_aside

from tokonoma.core.embedding import StoredModel
from tokonoma.embed import queue
from tokonoma.embed.active_model import find_active
from tokonoma.embed.worker import WorkerTiming


def until(met: Callable[[], bool]) -> None:
    """Without a time limit: a test that hangs is seen by whoever runs it."""
    pause = threading.Event()
    while not met():
        pause.wait(0.005)


def until_it_waits_or_ends(house: EmbedFixture, thread: threading.Thread) -> None:
    """On SQLite, where one writes at a time, there is nothing to be seen."""
    waits = "select 1 from pg_locks where not granted"
    kind = house.database.kind
    until(lambda: kind == "sqlite" or not thread.is_alive() or bool(run_aside(house.rows, waits)))


def test_a_clock_that_is_set_back_does_not_hold_up_the_queue(houses: Open, server: EmbeddingServer) -> None:
    """What was saved, claimed or refused by the later clock is done now, not when that time comes again."""
    house = houses([server.url])
    for name in ("saved", "claimed", "refused"):
        house.save(name, f"note {name}")
    later = {"later": queue.now() + 7 * 3_600_000}
    claimed_id, refused_id = house.id("claimed"), house.id("refused")
    with house.database.writing() as statements:
        statements.run("update embedding_queue set due = :later", **later)
        claimed = "update embedding_queue set lease = :later where document_id = :id"
        statements.run(claimed, id=claimed_id, **later)
        statements.run("update embedding_queue set tries = 1 where document_id = :id", id=refused_id)
    with house.database.reading() as rows:
        assert queue.has_ready(rows, 3)
    house.work()
    assert house.embedded() == 3


def test_a_claim_is_renewed_while_the_provider_is_slow(houses: Open, server: EmbeddingServer) -> None:
    lease = replace(QUICK, lease=0.3)
    house, other = houses([server.url], pace=lease), houses([server.url], pace=lease)
    house.save("a", "a note")
    house.work()
    house.save("b", "another note")
    server.mood = "slow"
    house.worker.wake()
    server.reached.wait()
    (before,) = house.rows("select lease from embedding_queue")[0]

    def is_renewed() -> bool:
        with other.database.reading() as rows:
            ready = queue.has_ready(rows)
        return house.rows("select lease from embedding_queue")[0][0] > before + 600 and not ready  # twice its length

    until(is_renewed)
    server.go_on.set()
    until(lambda: house.waiting() == 0)
    assert server.texts().count("another note") == 1


def test_what_a_killed_process_had_claimed_is_taken_up_within_ten_seconds() -> None:
    timing = WorkerTiming()
    assert timing.lease + timing.idle < 10


def test_a_refill_does_not_ask_for_what_another_worker_has_just_done(
    houses: Open, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks for documents without a vector: one that was stored a moment ago must be seen."""
    first, second = houses([server.url]), houses([server.url])
    first.save("a", "a note")
    first.switch()
    second.worker._model, second.worker._batches = second.worker._open_model(read_active(second))
    first.worker._model, first.worker._batches = first.worker._open_model(read_active(first))
    real, working = second.vectors.list_missing, threading.Thread(target=first.work)
    server.mood = "slow"
    working.start()
    server.reached.wait()  # its vector is being made

    def list_slowly(*args: Any) -> Sequence[int]:
        found = real(*args)
        server.mood = "well"
        server.go_on.set()
        until_it_waits_or_ends(first, working)
        return found

    monkeypatch.setattr(second.vectors, "list_missing", list_slowly)
    second.worker._enqueue_missing(second.worker._model, 0)
    working.join()
    assert second.waiting() == 0
    assert server.texts().count("a note") == 1


def test_a_claim_leaves_no_lock_on_what_another_worker_has_claimed(house: EmbedFixture) -> None:
    """On PostgreSQL a claim that began before another was committed would lock its rows, and the vectors of the other
    worker would be thrown away: claims wait for each other."""
    house.save("a", "a note")
    house.switch()
    model, waiting = read_active(house), threading.Event()

    def claim() -> None:
        with house.database.writing() as statements:
            waiting.set()
            assert house.vectors.lock_active(statements, model.id, alone=True)
            assert queue.claim(statements, queue.now() + 60_000, 10) == []

    thread = threading.Thread(target=claim)
    with house.database.writing() as statements:
        assert house.vectors.lock_active(statements, model.id, alone=True)
        assert len(queue.claim(statements, queue.now() + 60_000, 10)) == 1
        thread.start()
        until_it_waits_or_ends(house, thread)
        assert thread.is_alive()
    thread.join()
    assert waiting.is_set()


def read_active(house: EmbedFixture) -> StoredModel:
    with house.database.reading() as rows:
        found = find_active(house.vectors, rows)
    assert found is not None
    return found
