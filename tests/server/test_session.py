"""A session in memory: what each method answers, in both eras."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.fixture import TOOLS, Workshop, tool
from server.hostile import modern, request
from server.memory import Talk

from tokonoma.server.mcp.session import LineBuffer

CAPABILITIES = {
    "tools": {}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "completions": {},
}  # fmt: skip
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "2"}}
SERVER = {"name": "workshop", "title": "The Workshop", "version": "1.2.3"}


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_initialize_agrees_on_a_version(asked, agreed):
    talk = Talk()
    result = talk.ask(request("initialize", {**INITIALIZE, "protocolVersion": asked}))["result"]
    assert result == {
        "protocolVersion": agreed,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": "Call echo first.",
    }
    assert talk.caller.client == "test/2"


def test_discover():
    result = Talk().ask(modern("server/discover"))["result"]
    assert result == {
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        "instructions": "Call echo first.",
        "resultType": "complete",
        "ttlMs": 60_000,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER},
    }


def test_ping():
    assert Talk().ask(request("ping", id="p")) == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.parametrize("write", [request, modern])
def test_tools_are_listed_in_one_page(write):
    result = Talk().ask(write("tools/list"))["result"]
    assert result["tools"] == TOOLS
    assert "nextCursor" not in result


@pytest.mark.parametrize("write", [request, modern])
def test_many_tools_come_in_pages(write):
    many = [tool(f"tool_{number}") for number in range(600)]
    talk = Talk(Workshop(tools=many))
    got, cursor = [], None
    while True:
        page = talk.ask(write("tools/list", {"cursor": cursor} if cursor else {}))["result"]
        got += page["tools"]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert got == many


@pytest.mark.parametrize(
    ("method", "field"),
    [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ],
)
def test_what_there_is_none_of_is_an_empty_list(method, field):
    talk = Talk()
    assert talk.ask(request(method))["result"] == {field: []}
    told = talk.ask(modern(method))["result"]
    assert (told[field], told["resultType"], told["cacheScope"], told["ttlMs"]) == ([], "complete", "private", 60_000)
    assert talk.ask(request(method, {"cursor": "x"}))["error"]["code"] == -32602


def test_a_resource_that_is_not_there_in_the_words_of_each_era():
    talk = Talk()
    for answer, code in (
        (talk.ask(request("resources/read", {"uri": "a:b"})), -32002),
        (talk.ask(modern("resources/read", {"uri": "a:b"})), -32602),
    ):
        assert (answer["error"]["code"], answer["error"]["data"]) == (code, {"uri": "a:b"})


def test_unknown_methods_are_not_found_and_unknown_notifications_ignored():
    talk = Talk()
    for write, other in ((request, "subscriptions/listen"), (modern, "resources/subscribe")):
        for method in (other, "logging/setLevel", "tasks/get", "resources/check", "x"):
            assert talk.ask(write(method))["error"] == {"code": -32601, "message": "Method not found", "data": method}
    talk.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    talk.say({"jsonrpc": "2.0", "method": "notifications/anything", "params": {"x": 1}})
    talk.say({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}})  # without an id nobody is asked
    assert talk.silent()
    assert talk.shop.requests == []


def test_a_call_in_the_handshake_era():
    answer = Talk().ask(request("tools/call", {"name": "echo", "arguments": {"text": "床の間"}}))
    assert answer["result"] == {
        "content": [{"type": "text", "text": "床の間"}],
        "structuredContent": {"text": "床の間"},
        "isError": False,
    }


def test_a_modern_call():
    answer = Talk().ask(modern("tools/call", {"name": "echo", "arguments": {"text": "a"}}))
    assert answer["result"] == {
        "content": [{"type": "text", "text": "a"}],
        "structuredContent": {"text": "a"},
        "isError": False,
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER},
    }


def test_arguments_may_be_left_out_or_null():
    talk = Talk()
    assert talk.ask(request("tools/call", {"name": "echo"}))["result"]["structuredContent"] == {"text": ""}
    assert talk.ask(request("tools/call", {"name": "echo", "arguments": None}))["result"]["isError"] is False


def test_a_failure_is_a_result():
    result = Talk().ask(request("tools/call", {"name": "fail"}))["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert json.loads(result["content"][0]["text"])["error"]["code"] == "INVALID_ARGUMENT"


def test_structured_content_may_be_ready_made():
    talk = Talk()
    result = talk.ask(request("tools/call", {"name": "ready_made"}))["result"]
    assert (result["structuredContent"], result["_meta"]) == ({"made": True}, {"from": "bytes"})
    meta = talk.ask(modern("tools/call", {"name": "ready_made"}))["result"]["_meta"]
    assert meta == {"from": "bytes", "io.modelcontextprotocol/serverInfo": SERVER}


def test_what_the_front_learns_of_a_call():
    talk = Talk()
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    talk.ask(request("initialize", INITIALIZE))
    told = talk.ask(request("tools/call", {"name": "who", "_meta": {"traceparent": trace}}))["result"]
    size = len(json.dumps(request("tools/call", {"name": "who", "_meta": {"traceparent": trace}})))
    assert told["structuredContent"] == {"client": "test/2", "transport": "stdio", "trace": trace, "size": size}
    told = talk.ask(modern("tools/call", {"name": "who"}, traceparent="nonsense"))["result"]["structuredContent"]
    assert (told["client"], told["trace"]) == ("test/1", None)


def test_what_the_front_refuses_before_it_begins():
    talk = Talk()
    unknown = talk.ask(request("tools/call", {"name": "nothing"}))["error"]
    assert unknown == {"code": -32602, "message": "Unknown tool: nothing", "data": {"nearest": ["echo"]}}
    busy = talk.ask(request("tools/call", {"name": "busy"}))["error"]
    assert busy == {"code": -32010, "message": "Too many calls.", "data": {"retry_after": 7}}
    missing = talk.ask(modern("tools/call", {"name": "sampler"}))["error"]
    assert (missing["code"], missing["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})


@pytest.mark.parametrize("write", [request, modern])
def test_a_tool_may_turn_out_not_to_be_there(write):
    error = Talk().ask(write("tools/call", {"name": "gone"}))["error"]
    assert error == {"code": -32602, "message": "It is no longer there.", "data": {"nearest": ["echo"]}}


def test_a_fault_of_ours_keeps_its_text(capsys):
    talk = Talk()
    for name in ("crash", "odd"):
        assert talk.ask(request("tools/call", {"name": name}))["error"] == {"code": -32603, "message": "Internal error"}
    assert talk.silent()
    faults = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [fault["kind"] for fault in faults] == ["RuntimeError", "TypeError"]
    assert "secret" not in str(faults)


def test_answers_to_questions_that_no_tool_asks_must_have_their_shape():
    talk = Talk()
    for wrong in ({"inputResponses": [1]}, {"inputResponses": {"name": 5}}, {"requestState": 5}):
        assert talk.ask(modern("tools/call", {"name": "echo", **wrong}))["error"]["code"] == -32602
    right = {"inputResponses": {"name": {"action": "accept"}}, "requestState": "s1"}
    assert talk.ask(modern("tools/call", {"name": "echo", **right}))["result"]["isError"] is False


def test_after_the_first_list_the_house_may_warm_up():
    warmed = []
    talk = Talk(after_list=lambda: warmed.append(talk.written.qsize()))
    talk.ask(request("ping"))
    assert warmed == []
    talk.ask(request("tools/list"))
    talk.ask(request("tools/list"))
    assert warmed == [1]  # once, when the answer was already out


LINE = st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b""))


@given(st.lists(LINE), st.lists(st.integers(1, 9)), LINE)
def test_the_cuts_do_not_matter(lines, cuts, rest):
    stream = b"".join(line + b"\n" for line in lines) + rest
    reader, got = LineBuffer(100), []
    for cut in cuts:
        got += reader.feed(stream[:cut])
        stream = stream[cut:]
    got += reader.feed(stream)
    assert got == lines
    assert reader.take_rest() == rest


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=8), st.integers(1, 50))
def test_a_line_too_long_is_reported_once_in_its_place(plan, size):
    lines = [b"x" * (11 + length) if long else b"y" * (length % 11) for long, length in plan]
    stream = b"".join(line + b"\n" for line in lines)
    reader, got = LineBuffer(10), []
    for start in range(0, len(stream), size):
        got += reader.feed(stream[start : start + size])
    assert got == [None if long else line for (long, _), line in zip(plan, lines, strict=True)]


def test_what_is_thrown_away_is_not_kept():
    reader = LineBuffer(1000)
    told = [line for _ in range(10_000) for line in reader.feed(b"z" * 100)]
    assert told == [None]
    assert reader._parts == []
    assert list(reader.feed(b"\nnext\n")) == [b"next"]
