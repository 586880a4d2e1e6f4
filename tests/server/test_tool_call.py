"""Many calls at once: order, cancellation, progress, ids."""

import json
import math
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.hostile import modern, request
from server.memory import Talk

from tokonoma.server.mcp import session
from tokonoma.server.mcp.session import StdioSession
from tokonoma.server.mcp.tool_call import BURST, PER_SECOND, ProgressLimiter


def call(name: str, id: Any = 1, token: Any = None, write: Any = request, **arguments: Any) -> Any:
    params = {"name": name, "arguments": arguments}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return write("tools/call", params, id=id)


def cancelled(id):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}


@pytest.mark.parametrize("write", [request, modern])
def test_a_slow_call_holds_nobody_up(write):
    talk = Talk()
    talk.say(call("wait", id="slow", gate="g", write=write))
    assert talk.ask(request("ping", id=2))["id"] == 2
    assert talk.ask(call("echo", id=3, text="x", write=write))["id"] == 3
    assert talk.ask(call("open", id=4, gate="g", write=write))["id"] in (4, "slow")
    assert talk.hear()["id"] in (4, "slow")
    assert talk.silent()


def test_hundreds_of_calls_each_get_their_own_answer():
    talk = Talk()
    for number in range(300):
        talk.say(call("echo", id=number, text=f"t{number}"))
    answers = [talk.hear() for _ in range(300)]
    assert {answer["id"]: answer["result"]["structuredContent"]["text"] for answer in answers} == {
        number: f"t{number}" for number in range(300)
    }
    assert talk.silent()


@pytest.mark.parametrize("write", [request, modern])
def test_a_cancelled_call_is_stopped_and_never_answered(write):
    talk = Talk()
    talk.say(call("wait", id=7, gate="g", write=write))
    talk.shop.gate("g reached").wait()
    talk.say(cancelled(7))
    assert talk.silent()
    assert talk.shop.stopped == ["cancelled"]


def test_cancelling_before_the_work_has_begun_counts_too():
    talk = Talk()
    for number in range(50):
        talk.say(call("wait", id=number, gate=f"g{number}"))
        talk.say(cancelled(number))
    assert talk.silent()
    assert talk.shop.stopped == ["cancelled"] * 50


def test_an_id_is_free_again_as_soon_as_its_answer_is_written():
    """A client that reads quickly asks again before the worker that answered has done anything more."""
    talk = Talk()
    heard: list[Any] = []

    def write(message: bytes) -> None:
        heard.append(json.loads(message))
        if len(heard) < 3:
            talk.session.handle_line(json.dumps(call("echo", id="same", text="x")).encode())

    talk.session = StdioSession(talk.shop, talk.caller, write)
    talk.say(call("echo", id="same", text="x"))
    assert talk.session.drain(60)
    assert [("result" in answer, answer["id"]) for answer in heard] == [(True, "same")] * 3


@pytest.mark.parametrize("id", [8, "7", True, None, 7.0, {"a": 1}])
def test_cancelling_something_else_changes_nothing(id):
    talk = Talk()
    talk.say(call("wait", id=7, gate="g"))
    talk.say(cancelled(id))
    talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    talk.shop.gate("g").set()
    assert talk.hear()["result"]["content"][0]["text"] == "opened"
    talk.say(cancelled(7))  # too late
    assert talk.silent()


def test_a_cancelled_call_may_end_when_it_likes():
    talk = Talk()
    talk.say(call("stubborn", id=7, gate="g"))
    talk.shop.gate("g reached").wait()
    talk.say(cancelled(7))
    assert not talk.session.drain(0)
    talk.shop.gate("g").set()
    assert talk.silent()


def test_an_id_under_way_cannot_be_used_again():
    talk = Talk()
    talk.say(call("wait", id=7, gate="g"))
    assert talk.ask(call("echo", id=7))["error"]["code"] == -32600
    assert talk.ask(call("echo", id="7"))["id"] == "7"  # another id
    talk.shop.gate("g").set()
    assert talk.hear()["result"]["isError"] is False
    assert talk.session.drain(60)
    assert talk.ask(call("echo", id=7))["result"]["isError"] is False


def test_progress_rises_and_comes_before_the_answer():
    talk = Talk()
    talk.say(call("count", id=1, token="t", to=1000))
    heard = [talk.hear()]
    while "id" not in heard[-1]:
        heard.append(talk.hear())
    *notices, answer = heard
    values = [notice["params"]["progress"] for notice in notices]
    assert all(notice["method"] == "notifications/progress" for notice in notices)
    assert notices[0]["params"] == {"progressToken": "t", "progress": 0, "total": 1000, "message": "step 0"}
    assert values == sorted(set(values)) and values[-1] == 1000 and len(values) < 100
    assert answer["result"]["structuredContent"] == {"to": 1000}
    assert talk.silent()


def test_nobody_is_told_who_did_not_ask():
    talk = Talk()
    assert talk.ask(call("count", to=3))["id"] == 1
    assert talk.silent()


def test_progress_after_the_answer_is_dropped():
    talk = Talk()
    talk.say(call("count", id=1, token=5, to=0))
    assert "id" not in talk.hear()
    assert talk.hear()["id"] == 1
    order = talk.shop.requests[0]
    assert order.progress is not None
    order.progress(99, None, None)
    assert talk.silent()


def test_a_flood_is_slowed_down_and_then_refused(monkeypatch):
    monkeypatch.setattr(session, "MAX_CALLS", 2)
    monkeypatch.setattr(session, "MAX_WAIT", 0)
    talk = Talk()
    for number in (1, 2):
        talk.say(call("wait", id=number, gate="g"))
    assert talk.ask(call("echo", id=3))["error"]["code"] == -32010
    monkeypatch.setattr(session, "MAX_WAIT", 60)
    opener = threading.Thread(target=talk.shop.gate("g").set)
    opener.start()
    talk.say(call("echo", id=4))  # waits for one of the two
    opener.join()
    assert {talk.hear()["id"] for _ in range(3)} == {1, 2, 4}
    assert talk.silent()


def test_at_the_end_calls_are_told_to_stop_and_still_answer():
    talk = Talk()
    talk.say(call("wait", id=1, gate="g"))
    talk.shop.gate("g reached").wait()
    talk.session.stop()
    assert talk.hear()["result"]["content"][0]["text"] == "cancelled"
    assert talk.silent()


def test_a_short_burst_passes_whole():
    limiter = ProgressLimiter()
    assert [limiter.allows(step, 3, now=5.0) for step in range(4)] == [True] * 4


def test_a_flood_is_thinned_and_its_end_passes():
    limiter = ProgressLimiter()
    told = [step for step in range(10_001) if limiter.allows(step, 10_000, now=1.0)]
    assert told == [*range(int(BURST)), 10_000]


def test_it_recovers_with_time():
    limiter = ProgressLimiter()
    told = sum(limiter.allows(step, None, now=step / 1000) for step in range(10_000))  # ten seconds
    assert BURST <= told <= BURST + 10 * PER_SECOND + 1


@given(st.lists(st.floats() | st.integers(-5, 5)))
def test_what_is_told_always_rises(values):
    limiter, told = ProgressLimiter(), []
    for moment, value in enumerate(values):
        if limiter.allows(value, None, now=float(moment)):
            told.append(value)
    assert all(math.isfinite(value) for value in told)
    assert told == sorted(set(told))


def test_large_messages_wait_until_others_have_ended(monkeypatch):
    monkeypatch.setattr(session, "MAX_CALL_BYTES", 6000)
    monkeypatch.setattr(session, "SMALL", 1000)
    monkeypatch.setattr(session, "MAX_WAIT", 0.0)
    talk = Talk()
    talk.say(call("wait", id=1, gate="g", text="x" * 9000))  # alone, any message is taken
    talk.shop.gate("g reached").wait()
    assert talk.ask(call("echo", id=2, text="x" * 2000))["error"]["code"] == -32010
    assert talk.ask(call("echo", id=3, text="x"))["result"]
    talk.shop.gate("g").set()
    assert talk.hear()["id"] == 1
    assert talk.silent()
    assert talk.ask(call("echo", id=4, text="x" * 2000))["result"]["structuredContent"]
