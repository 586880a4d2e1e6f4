"""From a save to a vector: nothing is lost while the provider is away, and nothing wrong is ever stored."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SOAK
from embed.fixture import EmbedFixture, Open
from embed.server import EmbeddingServer, vector
from store.threads import run_aside

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.query import Query, SearchFilter, SearchScope
from tokonoma.embed import batches, queue
from tokonoma.embed.embedder import ProviderUnavailable, UnusableAnswer
from tokonoma.search.vectors.store import data_column, decode_vectors

pytestmark = pytest.mark.migrated

SAVES = 1_000 if SOAK else 100


def stored(house: EmbedFixture) -> dict[str, np.ndarray]:
    """Every vector by the name of its note."""
    column = data_column(house.database.kind)
    found = house.rows(f"select d.address, {column} from embedding e join document d on d.id = e.document_id")
    return {row[0].removeprefix("tokonoma://notes/"): decode_vectors(house.database.kind, [row[1]])[0] for row in found}


def right(house: EmbedFixture, server: EmbeddingServer, bodies: dict[str, str]) -> None:
    """Each note has exactly the vector of its text."""
    found = stored(house)
    assert found.keys() == bodies.keys()
    for name, body in bodies.items():
        wanted = np.asarray(vector(body, server.dimension, server.seed))
        assert found[name] @ (wanted / np.linalg.norm(wanted)) == pytest.approx(1.0, abs=1e-5)


def test_a_note_is_embedded_and_found(house: EmbedFixture) -> None:
    house.save("cat", "a cat sleeps")
    house.save("law", "articles of a contract")
    house.work()
    assert house.waiting() == 0
    assert [name for name, _ in house.near("the cat sleeps")] == ["cat", "law"]


@pytest.mark.soak
@pytest.mark.parametrize("mood", ["down", "slow", "wide", "nan"])
def test_saves_while_the_provider_fails_are_kept_and_embedded_later(
    house: EmbedFixture, server: EmbeddingServer, mood
) -> None:
    """Down, slow, vectors of another dimension, vectors that are no numbers: the saves do not feel it."""
    bodies = {"first": "was embedded before"}
    house.save("first", bodies["first"])
    house.work()
    server.mood = mood
    for number in range(SAVES):
        name, body = f"n{number}", f"note {number} about thing{number % 7} mark{number}"
        bodies[name] = body
        document = house.save(name, body, wake=True)
        with house.database.reading() as rows:
            hits = house.index.find(
                rows, Query(f"mark{number}", mode="text"), SearchFilter(), SearchScope("/", CLASSIFICATIONS)
            )
        assert house.id(hits.items[0].address.removeprefix("tokonoma://notes/")) == document, "by words, at once"
    _until(lambda: server.failed > 0 or server.reached.is_set())
    assert house.waiting() == SAVES
    right(house, server, {"first": bodies["first"]})
    server.mood = "well"
    server.go_on.set()
    _until(lambda: house.waiting() == 0)
    house.jobs.close(60.0)
    right(house, server, bodies)


@pytest.mark.parametrize(
    "mood",
    ["wide", "ragged", "nan", "zero", "short", "twice", "cut", "words", "empty", "moved", "forbidden", "missing"],
)
def test_no_wrong_vector_is_ever_stored(house: EmbedFixture, server: EmbeddingServer, mood) -> None:
    bodies = {"first": "was embedded before"}
    house.save("first", bodies["first"])
    house.work()
    server.mood = mood
    for number in range(5):
        bodies[f"n{number}"] = f"note number {number}"
        house.save(f"n{number}", bodies[f"n{number}"])
    for _ in range(3):
        with pytest.raises((ProviderUnavailable, UnusableAnswer)):
            house.work()
        house.worker._model = None  # as the thread does after a failure
    assert house.waiting() == 5
    right(house, server, {"first": bodies["first"]})
    server.mood = "well"
    house.work()
    assert house.waiting() == 0
    right(house, server, bodies)


def test_a_text_that_the_provider_refuses_does_not_hold_up_the_others(
    house: EmbedFixture, server: EmbeddingServer
) -> None:
    server.mood = "picky"
    for number in range(12):
        house.save(f"n{number}", "poison" if number in (0, 1, 2, 7) else f"note {number}")
    for _ in range(6):
        try:
            house.work()
        except UnusableAnswer:
            continue
    assert house.embedded() == 8
    assert {row[0] for row in house.rows("select problem <> '' from embedding_queue")} == {1}
    assert all(tries >= 1 for (tries,) in house.rows("select tries from embedding_queue"))


def test_a_record_that_cannot_be_read_does_not_hold_up_the_others(house: EmbedFixture) -> None:
    for number in range(6):
        house.save(f"n{number}", f"note {number}")
    broken = house.id("n2")
    real = house.vectors.read_texts

    def texts(ids):
        if broken in ids:
            with house.database.reading() as rows:
                rows.rows("select * from no_such_table")
        return real(ids)

    house.vectors.read_texts = texts
    house.work()
    assert house.embedded() == 5
    assert "cannot be read" in house.rows("select problem from embedding_queue")[0][0]
    house.vectors.read_texts = real
    with house.database.writing() as statements:
        statements.run("update embedding_queue set due = 0")
    house.work()
    assert house.embedded() == 6


def test_documents_without_a_vector_are_found_again_by_a_refill(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url])
    house.save("a", "a note")
    house.work()
    with house.database.writing() as statements:
        statements.run("delete from embedding")
        statements.run("update embedding_model set filled = 0 where current = 1")
    later = houses([server.url])
    later.worker.resume()
    _until(lambda: later.embedded() == 1)


def test_a_note_that_changes_meanwhile_never_gets_the_old_text_s_vector(
    house: EmbedFixture, server: EmbeddingServer
) -> None:
    house.save("a", "before")
    house.save("b", "stays")
    house.save("c", "goes")
    server.mood = "slow"
    house.worker.wake()
    server.reached.wait()  # the probe
    house.save("a", "after")
    server.go_on.set()
    _until(lambda: house.waiting() == 0)
    server.go_on.clear()
    server.reached.clear()
    house.save("b", "changes now")
    house.worker.wake()
    server.reached.wait()
    house.save("b", "changes again")
    house.drop("c")
    server.mood = "well"
    server.go_on.set()
    _until(lambda: house.waiting() == 0)
    house.jobs.close(60.0)
    right(house, server, {"a": "after", "b": "changes again"})


def test_vectors_are_stored_in_brief_transactions(
    house: EmbedFixture, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who changes a note waits for the transaction that stores its vector, and not for those of the whole batch."""
    notes = {f"n{number}": f"note {number}" for number in range(20)}
    for name, text in notes.items():
        house.save(name, text)
    sizes: list[int] = []
    lock = queue.lock_claims

    def count(statements, claims):
        sizes.append(len(claims))
        return lock(statements, claims)

    monkeypatch.setattr(batches.queue, "lock_claims", count)
    monkeypatch.setattr(batches, "_BRIEF", -1.0)  # every transaction took too long
    house.work()
    assert sizes[:4] == [8, 4, 2, 1]
    right(house, server, notes)


def test_who_drops_a_note_while_its_vector_is_stored_waits_and_no_longer(
    house: EmbedFixture, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL the two could wait for each other: for the place in the queue, and for the document."""
    house.save("goes", "a note")
    house.save("stays", "another note")
    store, dropping = house.vectors.store_vectors, threading.Thread(target=house.drop, args=("goes",))

    def slow(*args: Any, **more: Any) -> None:
        if not dropping.ident:
            dropping.start()
            _until_it_waits_or_ends(house, dropping)
        store(*args, **more)

    monkeypatch.setattr(house.vectors, "store_vectors", slow)
    house.work()
    dropping.join()
    right(house, server, {"stays": "another note"})
    assert house.waiting() == 0


def test_who_drops_notes_does_not_meet_the_worker_that_asks_for_them(houses: Open, server: EmbeddingServer) -> None:
    first = houses([server.url])
    for name in "abc":
        first.save(name, f"note {name}")
    first.work()
    house = houses([server.url], model="another")
    house.switch()
    house.worker.run_batch()  # the model is known, and everything asked for
    with house.database.writing() as statements:
        statements.run("delete from embedding")
        statements.run("delete from embedding_queue")
        statements.run("update embedding_model set filled = 0 where current = 1")
    later = houses([server.url], model="another")
    working = threading.Thread(target=later.work)
    with house.database.writing() as statements:
        house.index.drop(statements, "tokonoma://notes/b")
        working.start()
        _until_it_waits_or_ends(house, working)
        house.index.drop(statements, "tokonoma://notes/a")
    working.join()
    later.work()
    assert later.embedded() == 1


def test_a_changed_note_has_no_vector_until_it_is_embedded_again(house: EmbedFixture) -> None:
    house.save("a", "one text")
    house.work()
    assert house.embedded() == 1
    house.save("a", "one text", space="/elsewhere")
    assert house.embedded() == 1
    assert house.waiting() == 0
    house.save("a", "another text")
    assert house.embedded() == 0
    with house.database.reading() as rows:
        assert house.vectors.get_state(rows, house.id("a")) == "waiting"
        assert house.vectors.count_waiting(rows) == 1


def test_a_blank_note_leaves_the_queue_without_a_vector(house: EmbedFixture) -> None:
    house.save("blank", "  \n ")
    house.work()
    assert house.waiting() == 0
    assert house.embedded() == 0
    with house.database.reading() as rows:
        assert house.vectors.get_state(rows, house.id("blank")) == "none"


def test_an_empty_queue_is_looked_at_for_as_long_as_the_process_lives(house: EmbedFixture) -> None:
    house.save("cat", "a cat sleeps")
    house.work()
    pauses = [house.worker.run_step() for _ in range(1_000)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == pauses[-500] <= 2.0
    house.save("law", "articles of a contract")
    assert house.worker.run_step() == 0.0


def test_two_workers_share_the_queue(houses: Open, server: EmbeddingServer) -> None:
    first, second = houses([server.url]), houses([server.url])
    bodies = {f"n{number}": f"note {number}" for number in range(200)}
    for name, body in bodies.items():
        first.save(name, body)
    first.worker.wake()
    second.worker.wake()
    _until(lambda: first.waiting() == 0)
    first.jobs.close(60.0)
    second.jobs.close(60.0)
    right(first, server, bodies)
    texts = [text for text in server.texts() if text.startswith("note")]
    assert len(texts) == len(set(texts)) == 200  # nothing was done twice


def test_what_a_killed_worker_had_claimed_is_done_by_another(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url])
    for number in range(5):
        house.save(f"n{number}", f"note {number}")
    with house.database.writing() as statements:
        claims = queue.claim(statements, queue.now() + 60_000, 100)  # and then it is killed
    assert len(claims) == 5
    house.work()
    assert house.waiting() == 5
    with house.database.writing() as statements:
        queue.renew(statements, claims, queue.now() - 1)  # its lease is over
    house.work()
    assert house.waiting() == 0
    with house.database.writing() as statements:  # should it come back after all
        assert not queue.lock_claims(statements, claims)
    assert house.embedded() == 5


def test_closing_gives_back_what_was_claimed(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url], batch_size=1)
    for number in range(4):
        house.save(f"n{number}", f"note {number}")
    house.worker.run_batch()  # the first portion is small
    house.save("last", "the last note")
    server.mood = "slow"
    house.worker.wake()
    server.reached.wait()
    closer = threading.Thread(target=house.jobs.close, args=(60.0,))
    closer.start()
    server.go_on.set()
    closer.join()
    assert house.rows("select count(*) from embedding_queue where lease > 0") == [(0,)]


def test_a_long_text_is_embedded_in_pieces_and_its_best_piece_counts(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url], chunk_length=60)
    filler = "many words that say nothing at all. " * 8
    body = filler + "\n\nThe zebra eats grass.\n\n" + filler
    house.save("long", body)
    house.save("short", "a walk in the park")
    house.work()
    assert house.rows("select count(*) from embedding where document_id = :id", id=house.id("long"))[0][0] > 5
    (best, similarity), _ = house.near("the zebra eats grass.")
    assert best == "long"
    asked, whole = (np.asarray(vector(text, server.dimension)) for text in ("the zebra eats grass.", body))
    assert similarity > asked @ whole / np.linalg.norm(asked) / np.linalg.norm(whole) + 0.1


def test_the_worker_goes_on_where_the_last_process_ended(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url])
    house.save("a", "a note")
    later = houses([server.url])
    later.worker.resume()
    _until(lambda: later.rows("select filled from embedding_model") == [(None,)] and later.waiting() == 0)
    assert later.embedded() == 1
    idle = houses([server.url])
    idle.worker.resume()
    assert idle.jobs.status() == {}


def test_without_a_provider_notes_wait_and_nothing_is_said_to_wait(houses: Open) -> None:
    house = houses()
    number = house.save("a", "a note")
    assert house.vectors.embed_query("a note") is None
    with house.database.reading() as rows:
        assert house.vectors.count_waiting(rows) == 0
        assert house.vectors.get_state(rows, number) == "none"
    assert house.waiting() == 1


def _until(met: Callable[[], bool]) -> None:
    """Without a time limit: a test that hangs is seen by whoever runs it."""
    pause = threading.Event()
    while not met():
        pause.wait(0.005)


def _until_it_waits_or_ends(house: EmbedFixture, thread: threading.Thread) -> None:
    """On SQLite, where one writes at a time, there is nothing to be seen."""
    waits = "select 1 from pg_locks where not granted"
    kind = house.database.kind
    _until(lambda: kind == "sqlite" or not thread.is_alive() or bool(run_aside(house.rows, waits)))
