"""Consents under way: one answer each, for who holds the state."""

import threading

import pytest

from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Missing, Unavailable
from tokonoma.keyring.sign_ins import begin_sign_in, deliver_answer, end_sign_in, is_awaited, read_draft, take_answer

STATE, ANSWER = "state-canary", "state=state-canary&code=code-canary"


def begin(store, state=STATE, seconds=600.0):
    with store.writing() as statements:
        begin_sign_in(statements, "github", state, seconds)


def deliver(store, state=STATE, answer=ANSWER):
    with store.writing() as statements:
        deliver_answer(statements, state, answer)


def take(store, state=STATE):
    with store.reading() as rows:
        return take_answer(rows, state)


def test_an_answer_reaches_who_waits_for_it_once(store):
    begin(store)
    assert take(store) is None
    deliver(store)
    assert take(store) == ANSWER
    with pytest.raises(Conflict):
        deliver(store)
    with pytest.raises(Conflict), store.reading() as rows:
        is_awaited(rows, STATE)
    with store.writing() as statements:
        end_sign_in(statements, STATE)
    with pytest.raises(Missing):
        take(store)


def test_nothing_readable_of_it_is_stored(store):
    begin(store)
    deliver(store)
    with store.reading() as rows:
        ((id, provider, sealed),) = rows.rows("select id, provider, answer from sign_in")
    assert "canary" not in id + provider
    assert b"canary" not in bytes(sealed)
    begin(store, "another")
    with store.writing() as statements:  # exchanged for another's, it opens for nobody
        statements.run("update sign_in set answer = :sealed where id <> :id", sealed=bytes(sealed), id=id)
    with pytest.raises(Unavailable):
        take(store, "another")


def test_another_state_and_one_that_is_over_are_not_awaited(store):
    begin(store)
    for state in ("other", "", STATE + "x"):
        with pytest.raises(Missing):
            deliver(store, state)
    begin(store, "short", seconds=0)
    with pytest.raises(Missing):
        deliver(store, "short")
    with pytest.raises(Missing):
        take(store, "short")
    begin(store, "late", seconds=100)
    deliver(store, "late")
    with store.writing() as statements:
        statements.run("update sign_in set expires_at = :at", at=now())
    with pytest.raises(Missing):
        take(store, "late")
    begin(store, "next")  # clears what is over
    with store.reading() as rows:
        assert rows.rows("select count(*) from sign_in") == [(1,)]


def test_of_many_deliveries_at_once_one_is_taken(store):
    begin(store)
    outcomes: list[str] = []
    start = threading.Barrier(6)

    def go(number):
        start.wait()
        try:
            deliver(store, answer=f"answer {number}")
            outcomes.append("stored")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=go, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 5 + ["stored"]


def test_the_draft_of_a_page_is_read_with_the_state_alone(store):
    with store.writing() as statements:
        begin_sign_in(statements, "github", "st", 600, "the verifier")
        begin_sign_in(statements, "github", "other", 600)
    with store.reading() as rows:
        assert (read_draft(rows, "st"), read_draft(rows, "other")) == ("the verifier", "")
        stored = rows.rows("select draft from sign_in where draft is not null")
        with pytest.raises(Missing):
            read_draft(rows, "third")
    assert b"verifier" not in bytes(stored[0][0])
