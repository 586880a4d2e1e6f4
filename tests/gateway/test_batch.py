"""The coordinator, with real workers: order, failures, limits, cancellation, and that it holds no worker itself."""

import threading
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokonoma.catalogue import describe_module
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.gateway.results import MAX_ANSWER
from tokonoma.gateway.tools import MODULE

TRIES = 50  # on a busy machine a short time may be over before a step has begun


def echo(id, value=None, **more):
    return {"id": id, "tool": "echo", "params": {"value": value}, **more}


def endings(answer):
    return {step["id"]: step["status"] for step in answer["steps"]}


def test_results_of_asked_steps_come_back_in_the_order_of_the_lines(house):
    answer = house.batch(
        echo("c", "${a.value}", after="b", output=True), echo("a", {"x": [1]}), echo("b", output=True)
    ).value()
    assert answer == {
        "ok": True,
        "steps": [{"id": "c", "status": "ok"}, {"id": "a", "status": "ok"}, {"id": "b", "status": "ok"}],
        "results": {"c": {"value": {"x": [1]}}, "b": {"value": None}},
    }


def test_a_step_is_a_call_of_its_own_within_the_batch(house):
    asked = house.batch(echo("a"), echo("b", "text", after="a", time_limit=7))
    asked.value()
    first, second = house.stage.calls
    assert first.parent == second.parent == asked.call.request_id
    assert first.trace_id == second.trace_id == asked.call.trace_id
    assert first.trace_parent == f"00-{asked.call.trace_id}-{asked.call.span_id}-01"
    assert first.caller is asked.call.caller
    assert len({asked.call.request_id, first.request_id, second.request_id}) == 3
    assert len({id(asked.call.cancel_token), id(first.cancel_token), id(second.cancel_token)}) == 3
    assert (first.time_limit, second.time_limit) == (None, 7)
    assert second.bytes_in == len('{"value":"text"}')


def test_a_failure_skips_what_depends_on_it_and_nothing_else(house):
    answer = house.batch(
        {"id": "bad", "tool": "fail"},
        echo("next", after="bad"),
        echo("after_next", "${next}", output=True),
        echo("free", 1, output=True),
        echo("joined", after=["free", "after_next"]),
    ).value()
    assert not answer["ok"]
    assert endings(answer) == {
        "bad": "error", "next": "skipped", "after_next": "skipped", "free": "ok", "joined": "skipped"
    }  # fmt: skip
    bad, *skipped, _, joined = answer["steps"]
    assert bad["error"] == {"code": "NOT_FOUND", "message": "There is no such thing.", "details": {"thing": "t"}}
    assert bad["request_id"]
    assert [step["cause"] for step in [*skipped, joined]] == ["bad", "bad", "bad"]
    assert answer["results"] == {"free": {"value": 1}}


def test_errors_carry_the_codes_of_their_module_and_no_inner_text(house):
    answer = house.batch(
        {"id": "a", "module": "other", "tool": "fail"},
        {"id": "b", "module": "other", "tool": "fail", "params": {"how": "bare"}},
    ).value()
    assert [step["error"]["code"] for step in answer["steps"]] == [1003, 1999]
    assert "secret" not in str(answer)


def test_expanded_parameters_are_checked_again_before_the_tool_sees_them(house):
    answer = house.batch(
        echo("a", "many"),
        {"id": "b", "tool": "number", "params": {"n": "${a.value}"}},
        echo("n", 5),
        {"id": "c", "tool": "number", "params": {"n": "${n.value}"}, "output": True},
    ).value()
    steps = {step["id"]: step for step in answer["steps"]}
    assert steps["b"]["error"]["code"] == "INVALID_ARGUMENT"
    assert steps["b"]["error"]["details"]["signature"].startswith("number(n: int)")
    assert answer["results"] == {"c": {"value": 5}}
    assert [call.tool for call in house.stage.calls if call.tool == "number"] == ["number"]


def test_a_missing_path_fails_its_step_before_it_runs(house):
    answer = house.batch(echo("a", {"k": 1}), echo("b", "see ${a.value.nowhere}"), echo("c", after="b")).value()
    assert endings(answer) == {"a": "ok", "b": "error", "c": "skipped"}
    problem = answer["steps"][1]["error"]["details"]["errors"][0]
    assert (problem["at"], problem["keys"]) == ("a.value", ["k"])
    assert len(house.stage.calls) == 1


def test_values_are_never_expanded_twice(house):
    answer = house.batch(echo("a", "$${b.value}"), echo("b", "<${a.value}>", output=True)).value()
    assert answer["results"] == {"b": {"value": "<${b.value}>"}}


def test_fields_cut_a_result_but_not_what_references_read(house):
    answer = house.batch(
        echo("a", {"items": [{"id": 1, "text": "t"}], "total": 1}, output=True, fields=["value.items.id", "nope"]),
        echo("b", "${a.value.items[0].text}", output=True),
    ).value()
    assert answer["results"] == {"a": {"value": {"items": [{"id": 1}]}}, "b": {"value": "t"}}
    assert answer["steps"][0] == {"id": "a", "status": "ok", "missing_fields": ["nope"]}


def test_a_result_that_would_be_too_large_is_left_out_by_name(house):
    large = "x" * 300_000
    answer = house.batch(
        echo("a", large, output=True), echo("b", "${a.value}", output=True), echo("c", 1, output=True)
    ).value()
    assert answer["ok"]
    assert answer["results"].keys() == {"a", "c"}
    left_out = answer["steps"][1]
    assert left_out["result_bytes"] > 300_000
    assert "The step ran." in left_out["message"]
    assert "call demo.echo alone" in left_out["message"]


def test_a_batch_of_large_results_stays_under_its_bound_and_fits_its_schema(house):
    lines = [echo(f"s{number}", "x" * 100_000, output=True) for number in range(20)]
    answer = house.batch(*lines).value()
    assert len(orjson.dumps(answer)) <= MAX_ANSWER
    assert len(answer["results"]) == 5
    for step in answer["steps"]:
        assert (step["id"] in answer["results"]) is ("result_bytes" not in step)
    schemas = {entry.name: entry.output for entry in describe_module(MODULE, "").entries}
    jsonschema.validate(answer, schemas["batch"])


def test_nothing_runs_if_any_line_is_wrong(house):
    with pytest.raises(Invalid) as refused:
        house.batch(echo("a"), {"id": "b", "tool": "ecko"}, echo("c", module="gateway", tool="batch")).value()
    assert [fault["line"] for fault in refused.value.details["errors"]] == [2, 3]
    assert house.stage.calls == []


def test_a_dry_run_shows_the_plan(house):
    answer = house.batch(echo("b", "${a.value}", output=True), echo("a"), dry_run=True).value()
    assert answer["steps"] == [
        {
            "id": "b",
            "status": "planned",
            "wave": 2,
            "module": "demo",
            "tool": "echo",
            "after": ["a"],
            "references": ["${a.value}"],
        },
        {"id": "a", "status": "planned", "wave": 1, "module": "demo", "tool": "echo", "after": [], "references": []},
    ]
    assert (answer["ok"], answer["results"], house.stage.calls) == (True, {}, [])


def test_progress_counts_up_to_all_steps(house):
    asked = house.batch(
        *(echo(f"s{number}") for number in range(20)), {"id": "x", "tool": "fail"}, echo("y", after="x")
    )
    asked.value()
    counts = [count for count, _ in asked.progress]
    assert counts == sorted(set(counts))
    assert counts[-1] == 22
    assert {total for _, total in asked.progress} == {22}


def test_steps_run_side_by_side_up_to_the_bound_of_each_module(houses):
    house = houses(at_once=3)
    waits: list[dict[str, Any]] = [
        {"id": f"{module}{number}", "module": module, "tool": "wait", "params": {"gate": f"{module}{number}"}}
        for module in ("demo", "other")
        for number in range(5)
    ]
    asked = house.batch(*waits)
    for module in ("demo", "other"):
        for number in range(3):
            assert house.stage.inside(f"{module}{number}").wait(60)
    for step in waits:
        house.stage.gate(step["params"]["gate"]).set()
    assert asked.value()["ok"]
    assert house.stage.most == {"demo": 3, "other": 3}


def test_a_batch_holds_no_worker(houses):
    house = houses(workers=1)
    answers = [house.batch(echo("a"), echo("b", "${a.value}"), echo("c", after="b", output=True)) for _ in range(5)]
    assert all(asked.value()["results"] == {"c": {"value": None}} for asked in answers)


def test_a_step_past_its_time_is_stopped_and_the_rest_goes_on(house):
    answer = house.batch(
        {"id": "slow", "tool": "wait", "params": {"gate": "never"}, "time_limit": 0.05},
        echo("b", after="slow"),
        echo("c"),
    ).value()
    assert endings(answer) == {"slow": "timeout", "b": "skipped", "c": "ok"}
    assert answer["steps"][0]["error"]["code"] == "TIMEOUT"


def test_a_batch_past_its_time_stops_what_runs_and_skips_the_rest(houses):
    house, answer = houses(at_once=1), {}
    for tries in range(TRIES):
        answer = house.batch(
            {"id": "slow", "tool": "wait", "params": {"gate": f"slow {tries}"}},
            echo("waiting", output=True),
            {"id": "beside", "module": "other", "tool": "wait", "params": {"gate": f"beside {tries}"}},
            echo("needing", after="slow"),
            time_limit=0.1,
        ).value()
        if house.stage.inside(f"slow {tries}").is_set() and house.stage.inside(f"beside {tries}").is_set():
            break
    assert endings(answer) == {"slow": "timeout", "waiting": "skipped", "beside": "timeout", "needing": "skipped"}
    assert "0.1 s" in answer["steps"][1]["message"]
    assert answer["results"] == {}


def test_a_step_that_does_not_listen_cannot_hold_the_answer(house, monkeypatch):
    monkeypatch.setattr("tokonoma.gateway.batch.GRACE", 0.05)
    answer, gate = {}, ""
    for tries in range(TRIES):
        gate = f"d {tries}"
        deaf = {"id": "d", "tool": "deaf", "params": {"gate": gate}}
        answer = house.batch(deaf, echo("e", after="d"), time_limit=0.05).value()
        if house.stage.inside(gate).is_set():
            break
    assert endings(answer) == {"d": "timeout", "e": "skipped"}
    assert "journal" in answer["steps"][0]["error"]["message"]
    assert not house.stage.gate(gate).is_set()
    house.stage.gate(gate).set()  # its late ending changes nothing


def test_cancelling_a_batch_cancels_its_steps_and_starts_no_more(house):
    asked = house.batch(
        echo("a"),
        {"id": "w", "tool": "wait", "params": {"gate": "w"}, "after": "a"},
        {"id": "v", "tool": "wait", "params": {"gate": "v"}, "after": "a"},
        echo("never", after=["w"]),
    )
    assert house.stage.inside("w").wait(60)
    assert house.stage.inside("v").wait(60)
    asked.call.cancel_token.cancel("cancelled")
    with pytest.raises(Unavailable) as refused:
        asked.value()
    assert refused.value.reason == "cancelled"
    steps = {step["id"]: step for step in refused.value.details["steps"]}
    assert {id: step["status"] for id, step in steps.items()} == {
        "a": "ok", "w": "error", "v": "error", "never": "skipped"
    }  # fmt: skip
    assert steps["w"]["error"]["code"] == "CANCELLED"


def test_a_batch_that_is_cancelled_before_it_starts_runs_nothing(houses):
    house = houses(workers=1)
    first = house.start("call", module="demo", tool_name="wait", params={"gate": "first"})
    assert house.stage.inside("first").wait(60)
    asked = house.batch(echo("a"))
    asked.call.cancel_token.cancel("cancelled")
    house.stage.gate("first").set()
    assert first.value() == {"value": "first"}
    with pytest.raises(Unavailable):
        asked.value()
    assert [call.tool for call in house.stage.calls] == ["wait"]


def test_no_thread_outlives_its_batch(house):
    house.batch(echo("a")).value()
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(60)
    assert not [thread for thread in timers if thread.is_alive()]


@st.composite
def runs(draw):
    """Steps that wait for earlier ones; some of them fail."""
    count = draw(st.integers(1, 12))
    needs = [
        draw(st.lists(st.integers(0, place - 1), unique=True, max_size=3)) if place else [] for place in range(count)
    ]
    return needs, draw(st.sets(st.integers(0, count - 1), max_size=3))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(runs())
def test_any_graph_ends_as_its_failures_say(house, drawn):
    needs, failing = drawn
    lost: set[int] = set()
    for place, each in enumerate(needs):
        if place in failing or lost & set(each):
            lost.add(place)
    steps = [
        {
            "id": f"s{place}",
            "tool": "fail" if place in failing else "echo",
            "after": [f"s{one}" for one in each],
            "output": True,
        }
        for place, each in enumerate(needs)
    ]
    answer = house.batch(*steps).value()
    assert [step["id"] for step in answer["steps"]] == [step["id"] for step in steps]
    for place, step in enumerate(answer["steps"]):
        if place not in lost:
            assert step["status"] == "ok"
        elif lost & set(needs[place]):
            assert step["status"] == "skipped"
            assert int(step["cause"][1:]) in failing
        else:
            assert step["status"] == "error"
    assert answer["results"].keys() == {f"s{place}" for place in range(len(needs)) if place not in lost}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(runs(), st.integers(0, 12))
def test_whenever_it_is_cancelled_every_step_is_accounted_for(house, drawn, moment):
    needs, failing = drawn
    steps = [
        {
            "id": f"s{place}",
            "module": "demo" if place % 2 else "other",
            "tool": "fail" if place in failing else "echo",
            "after": [f"s{one}" for one in each],
        }
        for place, each in enumerate(needs)
    ]
    asked = house.batch(*steps, cancel_at=moment)
    if moment > len(steps):
        told = asked.value()["steps"]
    else:
        with pytest.raises(Unavailable) as refused:
            asked.value()
        told = refused.value.details["steps"]
    assert [step["id"] for step in told] == [step["id"] for step in steps]
    assert {step["status"] for step in told} <= {"ok", "error", "skipped"}
