"""Each stage alone, as a function of the call."""

import threading
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.content import ResourceContent, RichResult
from tokonoma.core.errors import Denied, Missing, Unavailable
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import UNRESTRICTED_VIEW
from tokonoma.core.reach import Reach
from tokonoma.pipeline.deadline import DeadlineWatch, deadline
from tokonoma.pipeline.guard import guard
from tokonoma.pipeline.journal import journal
from tokonoma.pipeline.limit import limit
from tokonoma.pipeline.row_filter import expand_visible, find_unfiltered_table
from tokonoma.pipeline.run import run_call
from tokonoma.pipeline.trace import trace
from tokonoma.policy.active import ActivePolicy

SECRET = "sk-ant-api03-Zk3vQ9xWb7Lm2Np8Rt5Yc1Df6Gh4Jk0Sa"
ENTRY = ToolInfo("m", "t", "m_t", "T", "d", "read", False, False, (), {}, {}, "t()")


def made(who=OWNER, **more):
    call = Call("m", "t", {}, Caller("stdio"), **more)
    call.identified, call.tool_info = who, ENTRY
    return call


def test_trace_continues_the_callers_trace():
    call = made(trace_parent="00-" + "a" * 32 + "-" + "b" * 16 + "-01")
    trace(None)(call)
    assert call.trace_id == "a" * 32
    assert call.span_id != "b" * 16
    assert call.request_id


@pytest.mark.parametrize(
    "parent",
    [None, "", "rubbish", "ff-" + "a" * 32 + "-" + "b" * 16 + "-01", "00-" + "0" * 32 + "-" + "b" * 16 + "-01"],
)
def test_trace_begins_one_where_there_is_none_to_continue(parent):
    call = made(trace_parent=parent)
    trace(None)(call)
    assert len(call.trace_id) == 32
    assert call.trace_id not in ("a" * 32, "0" * 32)


def test_without_a_limit_nothing_is_counted():
    stage = limit(None)
    for _ in range(10_000):
        call = made()
        stage(call)
        assert call.quota is None


def test_the_guard_freezes_what_leaves():
    call = made()
    run_call(call, [guard(ActivePolicy, lambda entry: None)], lambda call: {"text": "床の間"}, lambda call, error: None)
    assert call.body == '{"text":"床の間"}'.encode()
    assert call.bytes_out == len(call.body)


@pytest.mark.parametrize(("outside", "said"), [(True, "mine is [masked:anthropic_key]"), (False, f"mine is {SECRET}")])
def test_the_guard_masks_what_was_heard_from_outside(outside, said):
    call = made()
    call.tool_info = replace(ENTRY, outside=outside)
    run_call(
        call,
        [guard(ActivePolicy, lambda entry: None)],
        lambda call: {"text": f"mine is {SECRET}"},
        lambda call, error: None,
    )
    assert call.value == {"text": said}
    assert orjson.loads(call.body) == {"text": said}


def test_the_guard_masks_documents_beside_the_value():
    call = made()
    page = ResourceContent("tokonoma://m/page", f"mine is {SECRET}", "text/plain")
    answer = RichResult({"text": "x"}, [page])
    run_call(call, [guard(ActivePolicy, lambda entry: None)], lambda call: answer, lambda call, error: None)
    assert [block.data for block in call.blocks] == ["mine is [masked:anthropic_key]"]


def test_the_guard_refuses_what_the_policy_denies():
    class Refusing(ActivePolicy):
        def check_allowed(self, who, entry):
            raise Denied("not here")

    ends = []
    run_call(
        made(),
        [guard(Refusing, lambda entry: None)],
        lambda call: ends.append("ran"),
        lambda call, error: ends.append(error),
    )
    assert isinstance(ends[0], Denied)
    assert len(ends) == 1


def test_the_journal_hears_of_every_end_but_not_twice_of_a_write():
    heard = []
    stage = journal(lambda call, outcome, code, spent: heard.append((outcome, code)))

    def committed(call):
        call.journaled = True

    def committed_then_failed(call):
        call.journaled = True
        raise Missing("x", reason="tool")

    for work in (lambda call: 1, committed, committed_then_failed, lambda call: 1 / 0):
        run_call(made(), [stage], work, lambda call, error: None)
    assert heard == [("ok", ""), ("refused", "missing.tool"), ("failed", "internal")]


def test_the_log_of_an_internal_error_names_the_place_and_keeps_the_text(capsys):
    def work(call):
        raise ValueError("what the user wrote")

    run_call(made(), [journal(lambda *told: None)], work, lambda call, error: None)
    line = capsys.readouterr().err
    assert "ValueError at" in line
    assert "what the user wrote" not in line


def test_a_deadline_stops_the_call_that_is_late_and_no_other():
    watch, quick = DeadlineWatch(), made()
    run_call(quick, [deadline(watch, 0.01)], lambda call: 1, lambda call, error: None)
    late, stopped, ends = made(), threading.Event(), []

    def work(call):
        call.cancel_token.attach(stopped.set)
        assert stopped.wait(30)
        call.cancel_token.check()

    run_call(late, [deadline(watch, 0.02)], work, lambda call, error: ends.append(error))
    assert isinstance(ends[0], Unavailable)
    assert ends[0].reason == "timeout"
    assert quick.cancel_token.reason == ""


def test_an_earlier_deadline_is_heard_while_a_later_one_is_waited_for():
    watch, slow, stopped = DeadlineWatch(), made(), threading.Event()
    watch.add(slow.cancel_token, 3600)
    early = made()
    early.cancel_token.on_cancel(stopped.set)
    watch.add(early.cancel_token, 0.01)
    assert stopped.wait(30)
    assert slow.cancel_token.reason == ""


def test_the_owner_sees_everything_for_nothing():
    assert expand_visible("select 1 from memo where {visible}", OWNER, UNRESTRICTED_VIEW.classifications) == (
        "select 1 from memo where 1 = 1",
        {},
    )


def test_a_root_and_classes_become_conditions():
    key = Principal("key:k", "key", Reach(root="/50%_off"))
    sql, params = expand_visible("select 1 from memo m where {visible:m} and x", key, ("public", "internal"))
    assert "(m.space = :visible_root or substr(m.space, 1, cast(:visible_length as integer)) = :visible_below)" in sql
    assert "m.label in ('public', 'internal')" in sql
    assert params == {"visible_root": "/50%_off", "visible_below": "/50%_off/", "visible_length": 9}


def test_no_class_means_no_row():
    assert expand_visible("{visible}", OWNER, ())[0] == "1 = 0"


@given(st.text(alphabet=st.characters(blacklist_characters="{}"), max_size=80))
def test_sql_without_the_token_is_left_as_it_is(sql):
    assert expand_visible(sql, OWNER, ("public",)) == (sql, {})


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("select * from memo", "memo"),
        ("update MEMO set x = 1", "memo"),
        ("select * from memo where {visible}", None),
        ("insert into memo (x) values (1)", None),
        ("select * from memory", None),
    ],
)
def test_sql_on_records_needs_the_filter(sql, table):
    assert find_unfiltered_table(sql, frozenset({"memo"})) == table
