"""Outside tools, deadlines, cancellation and progress, over the wire, on both databases."""

import pytest
from pipeline import slow
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App


@pytest.fixture
def made(database_url, tmp_path):
    source = "pipeline.slow:MODULE"
    (tmp_path / "plugins.json").write_bytes(catalogue.dump_catalogue([catalogue.describe_module(slow.MODULE, source)]))
    apps = []

    def make(**flags):
        apps.append(App({"home": str(tmp_path), "database_url": database_url, "durable": False, **flags}, {}))
        return Lines(apps[-1])

    slow.BEGUN.clear()
    slow.CANCELLED.clear()
    yield make
    for app in apps:
        app.close()


def test_an_outside_tool_answers_and_refuses_like_any_other(made):
    talk = made()
    assert talk.call("slow", "echo", text="床の間") == {"said": "床の間"}
    assert talk.refused("slow", "broken")["details"]["reason"] == "service"


@pytest.mark.parametrize("tool", ["forever", "compute"])
def test_a_call_past_its_time_limit_is_stopped(made, tool):
    talk = made(time_limit="0.2")
    error = talk.refused("slow", tool)
    assert error["code"] == "TIMEOUT"
    assert talk.call("system", "status")["health"]["database"]["ok"]


@pytest.mark.parametrize("tool", ["forever", "compute"])
def test_a_cancelled_call_ends_without_an_answer_and_the_next_one_is_served(made, tool):
    talk = made()
    talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": f"slow_{tool}", "arguments": {}}})
    assert slow.BEGUN.wait(30)
    talk.tell("notifications/cancelled", requestId=1)
    assert talk.call("slow", "echo", text="next") == {"said": "next"}


def test_a_step_past_its_own_limit_times_out_and_the_rest_goes_on(made):
    told = made().batch(
        {"id": "a", "module": "slow", "tool": "forever", "time_limit": 0.1},
        {"id": "b", "module": "slow", "tool": "echo", "params": {"text": "x"}, "after": "a"},
        {"id": "c", "module": "slow", "tool": "echo", "params": {"text": "y"}, "output": True},
    )
    assert [step["status"] for step in told["steps"]] == ["timeout", "skipped", "ok"]
    assert slow.CANCELLED.wait(30)


def test_progress_is_told_to_who_asks_for_it(made):
    talk = made()
    talk.ask("tools/call", name="slow_report", arguments={"steps": 3}, _meta={"progressToken": "p"})
    told = [notice["params"] for notice in talk.notices if notice["method"] == "notifications/progress"]
    assert told
    assert all(each["progressToken"] == "p" for each in told)
    assert [each["progress"] for each in told] == sorted(each["progress"] for each in told)
