"""Server processes: when they start, what they get, how they fail and how they end."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from policy.houses import key
from talk import Lines
from upstream.houses import Plan, add, read, tool
from upstream.test_calls import KeyLines

from tokonoma.app import App
from tokonoma.app.servers import ServerSecrets, restart_server, store_account
from tokonoma.upstream.connection import PAUSES, ConnectionParts
from tokonoma.upstream.servers import ServerAccount
from tokonoma.upstream.stdio import KEPT_TEXT, LineReader, TextRing

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
READ: dict[str, Any] = {"readOnlyHint": True}
TOOLS = [
    tool(each, **READ)
    for each in ("echo", "environment", "die", "rubbish", "never", "huge", "deep", "asks", "fork", "progress")
]


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status


def wait_for(done, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def set_pauses(app: App, clock) -> None:
    hub = app.upstreams
    parts = hub._parts
    hub._parts = ConnectionParts(parts.open_transport, parts.open_ring, parts.store_tools, parts.store_problem, clock)


def test_nothing_starts_before_the_first_call(tmp_path):
    plans = [Plan(tmp_path, f"plan{number}", tools=TOOLS) for number in range(10)]
    first = App({"home": str(tmp_path / "home"), "durable": False}, {})
    for number, plan in enumerate(plans):
        add(first, f"odd{number}", plan)
    first.close()
    app = App({"home": str(tmp_path / "home"), "durable": False}, {})
    talk = Lines(app)
    talk.ask("tools/list")
    talk.value("get_module_schema", module="*")
    talk.ask("prompts/list")
    assert [plan.events for plan in plans] == [[]] * 10
    assert talk.call("odd3", "echo", a=1) == {"a": 1}
    assert [len(plan.pids) for plan in plans] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    app.close()


def test_the_environment_has_a_few_variables_and_what_was_given(house, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKONOMA_KEYRING_KEY_FILE", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("LANG", "C.UTF-8")
    secrets = ServerSecrets({"API_TOKEN": "given", "HOME": "/nowhere"}, {}, {}, {})
    add(house, "odd", Plan(tmp_path, tools=TOOLS), secrets)
    found = Lines(house).call("odd", "environment")["names"]
    assert (
        {"API_TOKEN", "HOME", "LANG", "PATH"}
        <= set(found)
        <= {"API_TOKEN", "HOME", "LANG", "PATH", "TMPDIR", "LC_CTYPE"}
    )
    assert (found["HOME"], found["LANG"]) == ("/nowhere", "C.UTF-8")


def test_secrets_are_in_the_keyring_alone(app, tmp_path):
    secrets = ServerSecrets({"API_TOKEN": "sesame-1234567"}, {}, {}, {})
    server = add(app, "odd", Plan(tmp_path, tools=TOOLS), secrets)
    with app.database.reading() as rows:
        for table in ("upstream", "upstream_account", "upstream_tool", "account"):
            assert "sesame" not in repr(rows.rows(f"select * from {table}"))
    assert "sesame" not in (tmp_path / "home" / "upstreams.json").read_text() + repr(server)


def test_one_that_dies_at_its_start_is_tried_four_times_and_is_then_broken(house, tmp_path):
    plan = Plan(tmp_path, tools=TOOLS)
    add(house, "odd", plan)
    other = Plan(tmp_path, "other", tools=TOOLS)
    add(house, "fine", other)
    plan.set(tools=TOOLS, start="dies")
    time_now = [1000.0]
    set_pauses(house, lambda: time_now[0])
    talk = Lines(house)
    for pause in (*PAUSES, 0.0):
        error = talk.refused("odd", "echo")
        assert error["code"] == "UNAVAILABLE"
        assert error["details"]["stderr"][-1] == "cannot find my configuration"
        starts = len(plan.pids)
        if pause:
            time_now[0] += pause / 2
            assert "started again in" in talk.refused("odd", "echo")["message"]
            assert len(plan.pids) == starts
            time_now[0] += pause
    assert len(plan.pids) == 4
    wait_for(lambda: read(house, "odd").state == "broken")
    house.modules.look_now()
    error = talk.refused("odd", "echo")
    assert "servers restart odd" in error["message"]
    assert error["details"]["stderr"][-1] == "cannot find my configuration"
    assert len(plan.pids) == 4
    assert talk.call("fine", "echo", a=1) == {"a": 1}
    plan.set(tools=TOOLS)
    restart_server(house, "odd")
    assert talk.call("odd", "echo", a=1) == {"a": 1}


def test_one_that_dies_in_a_call_says_its_last_words_and_comes_back(house, tmp_path):
    plan = Plan(tmp_path, tools=TOOLS)
    add(house, "odd", plan)
    time_now = [1000.0]
    set_pauses(house, lambda: time_now[0])
    talk = Lines(house)
    error = talk.refused("odd", "die")
    assert "has ended with code 3" in error["message"]
    assert error["details"]["stderr"] == ["about to die: disk on fire"]
    assert "disk on fire" in (tmp_path / "home" / "servers" / "odd-main.log").read_text()
    time_now[0] += 2
    assert talk.call("odd", "echo", a=1) == {"a": 1}
    assert len(plan.pids) == 2


def test_rubbish_on_standard_output_is_passed_over(house, tmp_path):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    talk = Lines(house)
    assert talk.call("odd", "rubbish") == {"text": "after rubbish"}
    assert talk.call("odd", "echo", a=1) == {"a": 1}


def test_a_line_without_end_costs_no_memory_and_no_other_call(house, tmp_path):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    talk = Lines(house)
    error = talk.refused("odd", "huge", megabytes=1000 if SOAK else 20)
    assert "more than 16777216 bytes" in error["message"]
    assert talk.call("odd", "echo", a=1) == {"a": 1}


@pytest.mark.parametrize("levels", [70, 2000])
def test_an_answer_with_too_many_levels_is_refused(house, tmp_path, levels):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    talk = Lines(house)
    assert talk.refused("odd", "deep", levels=levels)["code"] == "EXTERNAL_API_ERROR"
    assert talk.call("odd", "echo", a=1) == {"a": 1}


def test_one_that_never_answers_is_cancelled_at_the_time_limit(tmp_path):
    house = App({"home": str(tmp_path / "home"), "durable": False, "time_limit": 0.5}, {})
    plan = Plan(tmp_path, tools=TOOLS)
    add(house, "odd", plan)
    talk = Lines(house)
    assert talk.call("odd", "echo", a=1) == {"a": 1}
    assert talk.refused("odd", "never")["code"] == "TIMEOUT"
    wait_for(lambda: any(each.startswith("cancelled") for each in plan.events))
    (asked,) = [each.split()[1] for each in plan.events if each.startswith("never")]
    assert f"cancelled {asked}" in plan.events
    assert talk.call("odd", "echo", a=1) == {"a": 1}
    house.close()


@pytest.mark.parametrize("stubborn", [False, True])
def test_the_whole_group_ends_with_us(tmp_path, stubborn):
    house = App({"home": str(tmp_path / "home"), "durable": False}, {})
    plan = Plan(tmp_path, tools=TOOLS, stubborn=stubborn)
    add(house, "odd", plan)
    child = Lines(house).call("odd", "fork")["child"]
    (pid,) = plan.pids
    assert is_alive(pid)
    assert is_alive(child)
    start = time.monotonic()
    house.close()
    wait_for(lambda: not is_alive(pid) and not is_alive(child))
    assert time.monotonic() - start < 3


def test_an_idle_one_is_closed_and_started_again(house, tmp_path):
    plan = Plan(tmp_path, tools=TOOLS)
    add(house, "odd", plan)
    hub = house.upstreams
    parts = hub._parts
    hub._parts = ConnectionParts(
        parts.open_transport, parts.open_ring, parts.store_tools, parts.store_problem, idle=0.2
    )
    talk = Lines(house)
    assert talk.call("odd", "echo", a=1) == {"a": 1}
    (pid,) = plan.pids
    wait_for(lambda: not is_alive(pid))
    assert talk.call("odd", "echo", a=2) == {"a": 2}
    assert len(plan.pids) == 2
    assert read(house, "odd").state == "ready"


def test_two_accounts_are_two_processes(app, tmp_path):
    plan = Plan(tmp_path, tools=TOOLS)
    secrets = [ServerSecrets({"WHO": name}, {}, {}, {}) for name in ("ada", "bob")]
    server = add(app, "odd", plan, secrets[0], namespace="/team/ada", account="ada")
    store_account(app, server, ServerAccount("bob", "/team/bob"), secrets[1])
    key(app, "ada", root="/team/ada")
    key(app, "bob", root="/team/bob")
    key(app, "eve", root="/team")
    ada, bob = (KeyLines(app, name).call("odd", "environment") for name in ("ada", "bob"))
    assert (ada["names"]["WHO"], bob["names"]["WHO"]) == ("ada", "bob")
    assert ada["pid"] != bob["pid"]
    assert KeyLines(app, "ada").call("odd", "environment")["pid"] == ada["pid"]
    assert KeyLines(app, "ada").refused("odd", "environment", account="bob")["code"] == "NOT_FOUND"
    assert KeyLines(app, "eve").refused("odd", "environment")["code"] == "NOT_FOUND"


def test_requests_of_a_server_are_refused(house, tmp_path):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    asked = ["sampling/createMessage", "roots/list", "elicitation/create"]
    found = Lines(house).call("odd", "asks", methods=[*asked, "ping"])
    assert [found[each]["error"]["code"] for each in asked] == [-32601] * 3
    assert found["ping"]["result"] == {}


def test_a_wish_for_input_is_an_error_that_names_it(house, tmp_path):
    add(house, "odd", Plan(tmp_path, era="modern", tools=[tool("input", **READ)]))
    error = Lines(house).refused("odd", "input")
    assert error["details"] == {"reason": "input_required", "asks": ["elicitation/create"]}
    assert "elicitation/create" in error["message"]


def test_progress_is_relayed(house, tmp_path):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    talk = Lines(house)
    params = {"name": "call", "arguments": {"module": "odd", "tool_name": "progress", "params": {}}}
    talk.ask("tools/call", **params, _meta={"progressToken": "mine"})
    told = [each["params"] for each in talk.notices if each.get("method") == "notifications/progress"]
    assert told[0] == {"progressToken": "mine", "progress": 1, "total": 2, "message": "step 1"}


def test_a_hundred_calls_are_under_way_at_once(house, tmp_path):
    add(house, "odd", Plan(tmp_path, tools=TOOLS))
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda n=number: found.append(Lines(house).call("odd", "echo", n=n)["n"]))
        for number in range(100)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == list(range(100))


def test_lines_are_bounded():
    reader = LineReader(limit=10)
    assert list(reader.feed(b"abc\nde")) == [(b"abc", True)]
    assert list(reader.feed(b"f\n" + b"x" * 9)) == [(b"def", True)]
    assert list(reader.feed(b"yyy")) == []
    assert sum(map(len, reader._parts)) <= 12
    assert list(reader.feed(b"z" * 10_000 + b"\nok\n")) == [(b"x" * 9 + b"yyy", False), (b"ok", True)]


def test_the_ring_keeps_the_last_bytes(tmp_path):
    ring = TextRing(tmp_path / "servers" / "a.log")
    for number in range(20_000):
        ring.add(f"line {number}\n".encode())
    assert len(ring.get_text()) == KEPT_TEXT
    assert ring.list_last(1) == ["line 19999"]
    file = tmp_path / "servers" / "a.log"
    assert file.stat().st_size <= 2 * KEPT_TEXT + 100
    assert file.read_text().endswith("line 19999\n")
    assert file.stat().st_mode & 0o077 == 0
    assert json.dumps(ring.get_text())
