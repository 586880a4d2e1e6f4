"""The board alone: what may start, in which order, and how failures spread."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.module import Entry
from tokonoma.gateway.plan import Plan, Step
from tokonoma.gateway.results import Report
from tokonoma.gateway.schedule import Board


def step(place, module, needs):
    entry = Entry(module, "t", "t", "t", "t", "read", False, False, (), {}, {}, "t()")
    return Step(place + 1, f"s{place}", entry, {}, tuple(f"s{each}" for each in needs), ())


@st.composite
def plans(draw):
    steps = []
    for place in range(draw(st.integers(1, 15))):
        needs = draw(st.lists(st.integers(0, place - 1), unique=True, max_size=3)) if place else []
        steps.append(step(place, draw(st.sampled_from("mn")), needs))
    return Plan(tuple(draw(st.permutations(steps))), ())


@given(plans(), st.integers(1, 4), st.data())
def test_every_step_ends_once_after_what_it_needs_and_within_the_bound(plan, at_once, data):
    board = Board(plan, at_once)
    needs = {each.id: set(each.after) for each in plan.steps}
    fine: set[str] = set()
    while not board.finished:
        for each in board.take():
            assert needs[each.id] <= fine
        assert board.take() == []
        for module in "mn":
            assert sum(each.entry.module == module for each in board.running.values()) <= at_once
        assert board.running
        id = data.draw(st.sampled_from(sorted(board.running)))
        ok = data.draw(st.integers(0, 4)) > 0
        board.settle(id, Report(id=id, status="ok" if ok else "error"))
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
    board = Board(Plan(tuple(step(place, "m", []) for place in (3, 1, 2)), ()), at_once=2)
    assert [each.id for each in board.take()] == ["s3", "s1"]
    board.settle("s1", {"id": "s1", "status": "ok"})
    assert [each.id for each in board.take()] == ["s2"]


def test_when_nothing_more_may_start_the_waiting_are_skipped():
    board = Board(Plan((step(0, "m", []), step(1, "m", [0])), ()), at_once=1)
    board.take()
    board.skip_waiting("The time is over.")
    assert board.reports["s1"] == {"id": "s1", "status": "skipped", "message": "The time is over."}
    assert not board.finished
    board.settle("s0", {"id": "s0", "status": "ok"})
    assert board.finished
