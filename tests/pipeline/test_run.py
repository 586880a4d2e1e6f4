"""The row itself: order, way back, errors, promises."""

import pytest

from tokonoma.core.call import Call, Caller
from tokonoma.core.concurrency import Deferred
from tokonoma.core.errors import Denied, Missing
from tokonoma.pipeline.run import run_call


def made():
    return Call("m", "t", {}, Caller("stdio"))


def stage(name, heard):
    def enter(call):
        heard.append(f"{name} in")
        try:
            yield
        except BaseException as error:
            heard.append(f"{name} {type(error).__name__}")
            raise
        heard.append(f"{name} out")

    return enter


def run(stages, work):
    ends = []
    run_call(made(), stages, work, lambda call, error: ends.append((call.value, error)))
    return ends


def test_stages_are_entered_in_order_and_left_in_reverse():
    heard = []
    ends = run([stage("a", heard), lambda call: heard.append("plain"), stage("b", heard)], lambda call: 7)
    assert heard == ["a in", "plain", "b in", "b out", "a out"]
    assert ends == [(7, None)]


def test_a_refusal_goes_back_through_those_that_were_entered_and_no_others():
    heard = []

    def refuse(call):
        raise Missing("no")

    ((value, error),) = run([stage("a", heard), refuse, stage("b", heard)], lambda call: heard.append("work"))
    assert heard == ["a in", "a Missing"]
    assert isinstance(error, Missing)
    assert value is None


def test_an_error_of_the_tool_can_be_replaced_but_not_swallowed():
    def swallow(call):
        try:
            yield
        except ZeroDivisionError:
            return

    def replace(call):
        try:
            yield
        except ZeroDivisionError:
            raise Denied("hidden") from None

    assert isinstance(run([swallow], lambda call: 1 / 0)[0][1], ZeroDivisionError)
    assert isinstance(run([replace], lambda call: 1 / 0)[0][1], Denied)


def test_a_stage_can_replace_the_value_on_the_way_back():
    def double(call):
        yield
        call.value *= 2

    assert run([double], lambda call: 21) == [(42, None)]


@pytest.mark.parametrize("error", [None, Missing("gone")])
def test_a_promised_value_walks_back_when_it_settles(error):
    heard, later = [], Deferred()
    ends = run([stage("a", heard)], lambda call: later)
    assert (ends, heard) == ([], ["a in"])
    later.resolve("value", error)
    assert heard[1:] == ["a Missing" if error else "a out"]
    assert ends[0][1] is error


def test_a_refusal_leaves_without_the_frames_that_hold_the_call():
    def work(call):
        try:
            raise KeyError(call)
        except KeyError as error:
            raise Denied("no") from error

    ((_, error),) = run([stage("a", [])], work)
    assert isinstance(error, Denied)
    assert isinstance(error.__cause__, KeyError)
    assert [each.__traceback__ for each in (error, error.__cause__)] == [None, None]
