"""Idempotency keys: the same batch runs once, whoever asks again, and whatever happened in between."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Conflict, Invalid, Unavailable
from tokonoma.core.reach import Reach
from tokonoma.gateway import idempotency as once
from tokonoma.gateway.idempotency import build_key, claim_key, save_result
from tokonoma.gateway.tools import MODULE
from tokonoma.store.database import open_database
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated


@pytest.fixture
def database(database_url):
    """Both kinds: the claim rests on what they do when two insert the same key."""
    opened = open_database(database_url, durable=False)
    migrate(opened, "gateway", MODULE.tables, lambda reason: None)
    yield opened
    opened.close()


LINE = {"id": "a", "tool": "echo", "params": {"value": 1}, "output": True}
WAIT = {"id": "w", "tool": "wait", "params": {"gate": "w"}}


def test_the_first_answer_comes_back_and_nothing_runs_again(house):
    first = house.batch(LINE, idempotency_key="k").value()
    again = house.batch(LINE, idempotency_key="k").value()
    assert "repeated" not in first
    assert again == {**first, "repeated": True}
    assert len(house.stage.calls) == 1


def test_it_holds_in_another_process_and_after_a_restart(houses):
    houses().batch(LINE, idempotency_key="k").value()
    other = houses()
    assert other.batch(LINE, idempotency_key="k").value()["repeated"] is True
    assert other.stage.calls == []


def test_a_failed_batch_is_not_run_again_either(house):
    first = house.batch({"id": "f", "tool": "fail"}, idempotency_key="k").value()
    assert house.batch({"id": "f", "tool": "fail"}, idempotency_key="k").value() == {**first, "repeated": True}


def test_another_text_is_a_conflict(house):
    house.batch(LINE, idempotency_key="k").value()
    with pytest.raises(Conflict) as refused:
        house.batch({**LINE, "id": "b"}, idempotency_key="k").value()
    assert refused.value.reason == "other_text"
    assert len(house.stage.calls) == 1


def test_one_that_still_runs_is_a_conflict_that_says_so(houses):
    house, other = houses(), houses()
    asked = house.batch(WAIT, idempotency_key="k")
    assert house.stage.inside("w").wait(60)
    for each in (house, other):
        with pytest.raises(Conflict) as refused:
            each.batch(WAIT, idempotency_key="k").value()
        assert refused.value.reason == "running"
        assert refused.value.details["request_id"] == asked.call.request_id
    house.stage.gate("w").set()
    first = asked.value()
    assert other.batch(WAIT, idempotency_key="k").value() == {**first, "repeated": True}


def test_a_cancelled_batch_keeps_its_key_and_tells_how_it_ended(house):
    asked = house.batch(WAIT, idempotency_key="k")
    assert house.stage.inside("w").wait(60)
    asked.call.cancel_token.cancel("cancelled")
    with pytest.raises(Unavailable):
        asked.value()
    again = house.batch(WAIT, idempotency_key="k").value()
    assert again["repeated"] is True
    assert again["steps"][0]["error"]["code"] == "CANCELLED"


def test_what_was_refused_or_only_planned_does_not_use_the_key_up(house):
    with pytest.raises(Invalid):
        house.batch({**LINE, "tool": "ecko"}, idempotency_key="k").value()
    house.batch(LINE, idempotency_key="k", dry_run=True).value()
    assert "repeated" not in house.batch(LINE, idempotency_key="k").value()


def test_keys_of_others_are_others(house):
    house.batch(LINE, idempotency_key="k").value()
    for who in (Principal("p", "key"), Principal("p", "key", Reach(root="/team")), Principal("q", "key")):
        house.who = who
        assert "repeated" not in house.batch(LINE, idempotency_key="k").value()
        assert house.batch(LINE, idempotency_key="k").value()["repeated"] is True


def test_a_masked_tool_is_not_shown_by_an_old_answer(house):
    house.who = Principal("p", "key")
    house.batch(LINE, idempotency_key="k").value()
    house.who = Principal("p", "key", Reach(mask=frozenset({"demo.echo"})))
    with pytest.raises(Invalid, match="no tool in demo called 'echo'"):
        house.batch(LINE, idempotency_key="k").value()


FAIL = {"id": "f", "tool": "fail"}
SKIPPED = {"id": "s", "tool": "echo", "params": {"value": 2}, "after": ["f"]}


def left_out(step):
    return "What it returned is left out" in step.pop("message", "")


@pytest.mark.parametrize(
    "reach",
    [
        Reach(),  # the policy changes instead
        Reach(mask=frozenset({"other.fail"})),
        Reach(modules=frozenset({"demo"})),
        Reach(mask=frozenset({"other.echo"}), extras=frozenset({"*"})),
    ],
    ids=["policy", "mask", "modules", "extras"],
)
def test_after_a_change_of_policy_or_reach_a_repetition_tells_only_how_each_step_ended(house, reach):
    house.who = Principal("p", "key", Reach(mask=frozenset({"other.echo"})))
    first = house.batch(LINE, FAIL, SKIPPED, idempotency_key="k").value()
    assert house.batch(LINE, FAIL, SKIPPED, idempotency_key="k").value() == {**first, "repeated": True}
    house.policy_state = "2" if reach == Reach() else "1"
    house.who = Principal("p", "key", house.who.reach if reach == Reach() else reach)
    again = house.batch(LINE, FAIL, SKIPPED, idempotency_key="k").value()
    echoed, failed, skipped = again.pop("steps")
    assert again == {"ok": False, "results": {}, "repeated": True}
    assert left_out(echoed)
    assert left_out(failed)
    assert echoed == {"id": "a", "status": "ok"}
    assert failed == {"id": "f", "status": "error", "error": {"code": first["steps"][1]["error"]["code"]}}
    assert skipped == {"id": "s", "status": "skipped", "cause": "f"}
    assert len(house.stage.calls) == 1


def test_a_policy_that_changes_while_a_batch_runs_counts_as_a_change(house):
    asked = house.batch(WAIT, {**LINE, "after": ["w"]}, idempotency_key="k")
    assert house.stage.inside("w").wait(60)
    house.policy_state = "2"
    house.stage.gate("w").set()
    assert asked.value()["results"]
    assert house.batch(WAIT, {**LINE, "after": ["w"]}, idempotency_key="k").value()["results"] == {}


def test_after_a_purge_no_stored_answer_holds_a_text(house, database):
    house.batch(LINE, FAIL, idempotency_key="k").value()
    with house.database.writing() as statements:
        once.shorten_answers(statements)
        ((stored,),) = statements.rows("select answer from batch_key where answer is not null")
    again = house.batch(LINE, FAIL, idempotency_key="k").value()
    assert again["results"] == {}
    assert all(left_out(step) for step in again["steps"])
    assert "value" not in stored


def test_a_claim_without_an_answer_outlives_its_process(database, frozen_clock):
    key = build_key(OWNER, "k", "text", "r1", "1")
    assert claim_key(database.writing, key, 10, CancelToken()) is None
    frozen_clock.advance(11_000)
    with pytest.raises(Conflict) as refused:
        claim_key(database.writing, build_key(OWNER, "k", "text", "r2", "1"), 10, CancelToken())
    assert refused.value.reason == "interrupted"
    assert refused.value.details["request_id"] == "r1"


def test_after_a_day_a_key_is_free_again_and_the_late_answer_of_the_first_is_dropped(database, frozen_clock):
    first = build_key(OWNER, "k\0", "text", "r1", "1")
    assert claim_key(database.writing, first, 10, CancelToken()) is None
    frozen_clock.advance(once.RETENTION + 1)
    second = build_key(OWNER, "k\0", "other", "r2", "1")
    assert claim_key(database.writing, second, 10, CancelToken()) is None
    save_result(database.writing, second, {"ok": True, "steps": [], "results": {"new": 1}})
    save_result(database.writing, first, {"ok": True, "steps": [], "results": {"old": 1}})
    assert claim_key(database.writing, second, 10, CancelToken()) == {
        "ok": True,
        "steps": [],
        "results": {"new": 1},
        "repeated": True,
    }


def test_of_many_at_once_exactly_one_claims(database, database_url):
    count = 8
    barrier = threading.Barrier(count)
    other = open_database(database_url, durable=False)  # as another process would open it

    def one(number):
        barrier.wait()
        try:
            writing = (database, other)[number % 2].writing
            return claim_key(writing, build_key(OWNER, "k", "text", f"r{number}", "1"), 10, CancelToken())
        except Conflict as error:
            return error.reason

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(one, range(count)))
    other.close()
    assert sorted(map(str, found)) == ["None", *["running"] * (count - 1)]


def test_an_answer_that_cannot_be_stored_is_still_given_and_the_claim_holds(houses):
    house, other = houses(), houses()
    asked = house.batch(WAIT, idempotency_key="k")
    assert house.stage.inside("w").wait(60)
    tried = threading.Event()

    class Full:
        def writing(self, stop=None):
            tried.set()
            raise Unavailable("The disk is full.", reason="disk_full")

    house.database = Full()
    house.stage.gate("w").set()
    assert asked.value()["ok"]
    assert tried.is_set()
    with pytest.raises(Conflict) as refused:
        other.batch(WAIT, idempotency_key="k").value()
    assert refused.value.reason == "running"
