"""The schedule alone: what may start, in which order, and how failures spread."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.module import ToolInfo
from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.results import StepReport
from tokonoma.gateway.schedule import Schedule
from tokonoma.gateway.step_parser import BatchStep


def step(place, module, needs):
    entry = ToolInfo(module, "t", "t", "t", "t", "read", False, False, (), {}, {}, "t()")
    return BatchStep(place + 1, f"s{place}", entry, {}, tuple(f"s{each}" for each in needs), ())


@st.composite
def plans(draw):
    steps = []
    for place in range(draw(st.integers(1, 15))):
        needs = draw(st.lists(st.integers(0, place - 1), unique=True, max_size=3)) if place else []
        steps.append(step(place, draw(st.sampled_from("mn")), needs))
    return BatchPlan(tuple(draw(st.permutations(steps))), ())


@given(plans(), st.integers(1, 4), st.data())
def test_every_step_ends_once_after_what_it_needs_and_within_the_bound(plan, at_once, data):
    board = Schedule(plan, at_once)
    needs = {each.id: set(each.after) for each in plan.steps}
    fine: set[str] = set()
    while not board.is_finished:
        for each in board.take_ready():
            assert needs[each.id] <= fine
        assert board.take_ready() == []
        for module in "mn":
            assert sum(each.tool.module == module for each in board.running.values()) <= at_once
        assert board.running
        id = data.draw(st.sampled_from(sorted(board.running)))
        ok = data.draw(st.integers(0, 4)) > 0
        board.record_end(id, StepReport(id=id, status="ok" if ok else "error"))
        fine |= {id} if ok else set()
    assert board.reports.keys() == needs.keys()
    assert not board.running
    for id, report in board.reports.items():
        if report["status"] == "skipped":
            assert board.reports[report.get("cause", "")]["status"] == "error"
            assert any(board.reports[each]["status"] != "ok" for each in needs[id])
        else:
            assert needs[id] <= fine


def test_steps_start_in_the_order_of_their_lines():
    board = Schedule(BatchPlan(tuple(step(place, "m", []) for place in (3, 1, 2)), ()), at_once=2)
    assert [each.id for each in board.take_ready()] == ["s3", "s1"]
    board.record_end("s1", {"id": "s1", "status": "ok"})
    assert [each.id for each in board.take_ready()] == ["s2"]


def test_when_nothing_more_may_start_the_waiting_are_skipped():
    board = Schedule(BatchPlan((step(0, "m", []), step(1, "m", [0])), ()), at_once=1)
    board.take_ready()
    board.skip_waiting("The time is over.")
    assert board.reports["s1"] == {"id": "s1", "status": "skipped", "message": "The time is over."}
    assert not board.is_finished
    board.record_end("s0", {"id": "s0", "status": "ok"})
    assert board.is_finished
