"""Outside tools, deadlines, cancellation and progress, over the wire, on both databases."""

import json
import threading
import time

import pytest
from pipeline import slow
from policy.houses import MASKING, enforce
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.core.concurrency import check_running_call
from tokonoma.policy.scan import Scanner

pytestmark = pytest.mark.migrated


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
    slow.RELEASED.clear()
    make.apps = apps  # type: ignore[attr-defined]
    yield make
    slow.RELEASED.set()
    for app in apps:
        app.close()


TRIES = 50  # on a busy machine a short time may be over before the tool has begun, or before a quick one has ended


def refuse_begun(talk, tool):
    """The error of a call whose time ended while its tool ran."""
    for _ in range(TRIES):
        slow.BEGUN.clear()
        error = talk.refused("slow", tool)
        assert error["code"] == "TIMEOUT"
        if slow.BEGUN.is_set():
            return error
    raise AssertionError("the tool never begins")


def call_in_time(talk, module, tool, **params):
    """The answer of the first call that ends in its time."""
    for _ in range(TRIES):
        result = talk.tool("call", module=module, tool_name=tool, params=params)
        if not result["isError"]:
            return result["structuredContent"]
        assert json.loads(result["content"][0]["text"])["error"]["code"] == "TIMEOUT", result
    raise AssertionError("no call ends in its time")


def test_an_outside_tool_answers_and_refuses_like_any_other(made):
    talk = made()
    assert talk.call("slow", "echo", text="床の間") == {"said": "床の間"}
    assert talk.refused("slow", "broken")["details"]["reason"] == "service"


def test_what_an_outside_tool_says_is_masked(made):
    talk = made()
    assert talk.call("slow", "echo", text="mail a.tanaka@example.co.jp") == {"said": "mail a.tanaka@example.co.jp"}
    enforce(made.apps[-1], MASKING)
    assert talk.call("slow", "echo", text="mail a.tanaka@example.co.jp") == {"said": "mail [masked:email]"}


@pytest.mark.parametrize("tool", ["forever", "compute"])
def test_a_call_past_its_time_limit_is_stopped(made, tool):
    talk = made(time_limit="0.2")
    refuse_begun(talk, tool)
    assert call_in_time(talk, "system", "status")["health"]["database"]["ok"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_time_limit_binds_the_search_for_secrets(made, monkeypatch, moment):
    """Before the tool its arguments are scanned; after it, what it heard from outside."""
    talk = made(time_limit="0.2")
    enforce(made.apps[-1], MASKING)
    find, rounds = Scanner._find_likely, list[str]()

    def find_slowly(scanner, text):
        is_slow = text.endswith("slow 1")
        rounds.extend([text] * is_slow)
        until = time.monotonic() + 20  # without a limit that binds, the call would go on
        while is_slow and len(rounds) > (moment == "after") and time.monotonic() < until:
            check_running_call()
        return find(scanner, text)

    monkeypatch.setattr(Scanner, "_find_likely", find_slowly)
    monkeypatch.setattr(Scanner, "scan", Scanner.scan_uncached)
    for _ in range(TRIES):
        rounds.clear()
        assert talk.refused("slow", "echo", text="slow 1")["code"] == "TIMEOUT"
        if len(rounds) == (1 if moment == "before" else 2):
            return
    raise AssertionError("its time never ends there")


@pytest.mark.parametrize("tool", ["block", "hold"])
def test_a_tool_that_does_not_stop_is_answered_for_at_its_time_limit(made, tool):
    talk = made(time_limit="0.1")
    error = refuse_begun(talk, tool)
    assert not slow.RELEASED.is_set()
    assert "may still take effect" in error["message"]
    assert "nothing was changed" not in error["message"]


def test_tools_that_do_not_stop_take_no_workers_from_others(made):
    talk = made(time_limit="0.1", workers="2")
    for _ in range(5):
        refuse_begun(talk, "block")
    assert call_in_time(talk, "slow", "echo", text="still here") == {"said": "still here"}
    slow.RELEASED.set()
    made.apps[-1].close(30)
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("worker-")]
    assert left == []


def test_what_a_tool_saves_after_it_was_given_up_is_not_kept(made):
    """Its answer said that it may still take effect. A transaction, which can be undone, does not."""
    talk = made(time_limit="0.1")
    refuse_begun(talk, "block")
    slow.RELEASED.set()
    app = made.apps[-1]
    app.pool.close(30)  # the worker has come back
    assert count_notes(app) == 0


def test_a_step_that_does_not_stop_ends_at_its_own_limit(made):
    talk, told = made(), {}
    while not slow.BEGUN.is_set():
        told = talk.batch(
            {"id": "a", "module": "slow", "tool": "block", "time_limit": 0.1},
            {"id": "b", "module": "slow", "tool": "echo", "params": {"text": "x"}, "after": "a"},
            {"id": "c", "module": "slow", "tool": "echo", "params": {"text": "y"}, "output": True},
        )
    assert not slow.RELEASED.is_set()
    assert [step["status"] for step in told["steps"]] == ["timeout", "skipped", "ok"]
    assert "may still take effect" in told["steps"][0]["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("forever", "may have been sent"),  # outside
        ("undo", "may have been sent"),
        ("compute", "nothing was changed"),
    ],
)
def test_a_time_out_says_what_may_have_happened(made, tool, said):
    message = refuse_begun(made(time_limit="0.2"), tool)["message"]
    assert said in message
    assert ("nothing was changed" in message) is (said == "nothing was changed")


@pytest.mark.parametrize("tool", ["forever", "compute"])
def test_a_cancelled_call_ends_without_an_answer_and_the_next_one_is_served(made, tool):
    talk = made()
    talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": f"slow_{tool}", "arguments": {}}})
    assert slow.BEGUN.wait(30)
    talk.tell("notifications/cancelled", requestId=1)
    assert talk.call("slow", "echo", text="next") == {"said": "next"}


def test_a_step_past_its_own_limit_times_out_and_the_rest_goes_on(made):
    talk, told = made(), {}
    while not slow.BEGUN.is_set():
        told = talk.batch(
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


def count_notes(app: App) -> int:
    with app.database.reading() as rows:
        found = rows.row("select count(*) from slow_note")
    return found[0] if found else 0


def test_an_async_tool_reads_and_writes_through_its_desk(made):
    talk = made()
    assert talk.call("slow", "note", text="one") == {"said": "1"}
    assert talk.call("slow", "note", text="two") == {"said": "2"}
    assert talk.call("slow", "prepare", text="ready") == {"said": "ready on worker"}


def test_a_tool_that_waits_for_the_database_holds_no_other_one(made):
    talk = made()
    talk.call("slow", "note", text="first")
    database = made.apps[-1].database
    with database.writing() as statements:
        if database.kind == "postgresql":  # where writers wait for rows and tables, not for each other
            statements.run("lock table slow_note in exclusive mode")
        arguments = {"name": "slow_note", "arguments": {"text": "w"}}
        talk.post({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": arguments})
        assert talk.call("slow", "echo", text="meanwhile") == {"said": "meanwhile"}
    assert talk.wait_for(77)["result"]["structuredContent"] == {"said": "2"}


def test_a_transaction_of_a_cancelled_call_is_rolled_back(made):
    talk = made()
    talk.call("slow", "note", text="kept")
    talk.post({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "slow_undo", "arguments": {}}})
    assert slow.BEGUN.wait(30)
    talk.tell("notifications/cancelled", requestId=50)
    assert talk.call("slow", "note", text="next") == {"said": "2"}
    assert count_notes(made.apps[-1]) == 2


def test_an_outside_write_is_journaled_before_it_leaves_and_after(made):
    talk = made()
    assert talk.call("slow", "send") == {"said": "sent"}
    app = made.apps[-1]
    app.journal.flush()
    with app.database.reading() as rows:
        found = rows.rows("select outcome from journal where module = 'slow' order by at, seq")
    assert [outcome for (outcome,) in found] == ["sent", "ok"]


def test_the_way_back_of_an_outside_call_runs_on_a_worker(made):
    talk = made()
    names: list[str] = []
    made.apps[-1].observers.append(lambda call, outcome, spent: names.append(threading.current_thread().name))
    talk.call("slow", "echo", text="x")
    assert [name.split("-")[0] for name in names] == ["worker"]


def test_images_and_documents_travel_beside_the_value(made):
    result = made().tool("call", module="slow", tool_name="draw", params={})
    assert result["structuredContent"] == {"said": "drawn"}
    text, image, page, data = result["content"]
    assert text["type"] == "text"
    assert image == {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    assert page["resource"] == {"uri": "tokonoma://slow/page", "mimeType": "text/markdown", "text": "a page"}
    assert data["resource"]["blob"] == "AAE="


def test_nothing_is_left_running_when_the_server_closes(made):
    talk = made()
    talk.call("slow", "echo", text="x")
    talk.post({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "slow_forever", "arguments": {}}})
    assert slow.BEGUN.wait(30)
    before = threading.active_count()
    made.apps[-1].close()
    assert slow.CANCELLED.wait(30)
    assert threading.active_count() < before
    left = [thread.name for thread in threading.enumerate() if thread.name in ("async-tools", "tokonoma-jobs")]
    assert left == []


def test_a_tool_with_a_schema_of_its_own(made):
    talk = made(direct="slow")
    listed = next(tool for tool in talk.ask("tools/list")["result"]["tools"] if tool["name"] == "slow_any")
    assert listed["inputSchema"] == slow.SCHEMA
    assert listed["description"] == "Repeat it."
    given = {"name": "a" * 40 + "!", "count": None, "more": [1]}
    assert talk.call("slow", "any", **given) == {"given": given}
    error = talk.refused("slow", "any", count="two", other=1)
    assert {problem["field"] for problem in error["details"]["problems"]} == {"name", "count", "other"}
