"""`POST /mcp` in memory: headers, statuses, both eras."""

import asyncio
import threading

import httpx
import pytest
from server.fixture import Workshop
from server.hostile import MODERN, TABLE, modern, request
from server.web import events, headers_of, post, send

from tokonoma.core.call import Principal
from tokonoma.core.errors import Denied, Limited, Unavailable
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.asgi import HttpLimits

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "2"}}


@pytest.fixture
def app():
    return HttpApp(Workshop())


def call(name, id=1, write=request, **arguments):
    return write("tools/call", {"name": name, "arguments": arguments}, id=id)


@pytest.mark.parametrize("name", TABLE)
def test_hostile_bodies_get_an_error_and_the_next_one_its_answer(app, name):
    raw, code, id = TABLE[name]
    response = post(app, raw)
    answer = response.json()
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert response.status_code == (400 if code in (-32700, -32600) else 200)
    assert post(app, request("ping")).json()["result"] == {}


def test_a_hundred_megabytes_are_refused_by_their_own_word(app):
    response = post(app, b"{}", content_length="100000000")
    assert (response.status_code, response.headers["connection"]) == (413, "close")


def test_a_hundred_megabytes_are_refused_as_they_come(app):
    taken = 0

    async def body():
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b"x" * 1_000_000

    response = send(app, "POST", "/mcp", content=body(), headers={"content-type": "application/json"})
    assert response.status_code == 413
    assert response.json()["error"]["code"] == -32600
    assert taken == 17  # as much as it takes to pass 16 MiB, and no more


def test_the_limit_can_be_set():
    app = HttpApp(Workshop(), limits=HttpLimits(body=100))
    assert post(app, request("ping")).status_code == 200
    assert post(app, request("ping", {"x": "y" * 100})).status_code == 413


def test_a_session_in_the_handshake_era(app):
    first = post(app, request("initialize", INITIALIZE))
    assert (first.status_code, first.headers["content-type"]) == (200, "application/json")
    session = first.headers["mcp-session-id"]
    assert session.isascii() and session.isprintable() and " " not in session
    told = {"mcp_session_id": session, "mcp_protocol_version": "2025-11-25"}
    notified = post(app, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **told)
    assert (notified.status_code, notified.content) == (202, b"")
    listed = post(app, request("tools/list", id=2), **told)
    assert len(listed.json()["result"]["tools"]) > 5
    assert "mcp-session-id" not in listed.headers
    answered = post(app, call("echo", text="x", id=3), **told)
    assert answered.json()["result"]["structuredContent"] == {"text": "x"}


@pytest.mark.parametrize("session", [None, "from-before-the-restart", "x" * 500])
def test_any_session_is_welcome(app, session):
    assert post(app, call("echo", text="x"), mcp_session_id=session).json()["result"]["isError"] is False


def test_a_modern_session(app):
    discovered = post(app, modern("server/discover"))
    assert discovered.json()["result"]["supportedVersions"] == ["2026-07-28"]
    assert "mcp-session-id" not in discovered.headers
    answered = post(app, call("echo", write=modern, text="x"))
    assert answered.json()["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("message", "changed", "status", "code"),
    [
        (modern("tools/list"), {"mcp_protocol_version": None}, 400, -32020),
        (modern("tools/list"), {"mcp_protocol_version": "2025-11-25"}, 400, -32020),
        (modern("tools/list"), {"mcp_protocol_version": "2031-01-01"}, 400, -32020),
        (modern("tools/list"), {"mcp_method": None}, 400, -32020),
        (modern("tools/list"), {"mcp_method": "TOOLS/LIST"}, 400, -32020),
        (modern("tools/list"), {"mcp_method": "prompts/list"}, 400, -32020),
        (call("echo", write=modern), {"mcp_name": None}, 400, -32020),
        (call("echo", write=modern), {"mcp_name": "fail"}, 400, -32020),
        (call("echo", write=modern), {"mcp_name": "=?base64?ZWNobw?="}, 400, -32020),
        (call("echo", write=modern), {"mcp_name": "  echo\t"}, 200, None),
        (call("echo", write=modern), {"mcp_name": "=?base64?ZWNobw==?="}, 200, None),
        (request("tools/list"), {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/list"}, 400, -32602),
        (request("tools/list"), {"mcp_protocol_version": "2031-01-01"}, 400, -32022),
        (request("tools/list", {"_meta": MODERN | {"io.modelcontextprotocol/protocolVersion": "v9"}}), {}, 400, -32022),
        (modern("ping"), {}, 404, -32601),
        (modern("initialize"), {}, 404, -32601),
        (modern("tools/unknown"), {}, 404, -32601),
        (call("nothing", write=modern), {}, 400, -32602),
        (call("sampler", write=modern), {}, 400, -32021),
        (call("crash", write=modern), {}, 200, -32603),
        (call("busy", write=modern), {}, 429, -32010),
        (call("busy"), {}, 429, -32010),
        (request("tools/unknown"), {}, 200, -32601),
        (call("nothing"), {}, 200, -32602),
    ],
)
def test_headers_and_statuses(app, message, changed, status, code):
    response = post(app, message, **changed)
    answer = response.json()
    assert (response.status_code, answer["id"]) == (status, 1)
    assert answer.get("error", {}).get("code") == code


def test_a_limit_says_when_to_come_back(app):
    assert post(app, call("busy")).headers["retry-after"] == "7"


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18", None])
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/unknown"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_notifications_and_responses_are_accepted(app, message, version):
    response = post(app, message, mcp_protocol_version=version)
    assert (response.status_code, response.content) == (202, b"")


def test_a_notification_in_an_unknown_version_is_refused(app):
    response = post(app, {"jsonrpc": "2.0", "method": "notifications/x"}, mcp_protocol_version="2031-01-01")
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32022)


def test_neither_json_nor_events_is_not_acceptable(app):
    assert post(app, request("ping"), accept="text/html").status_code == 406


@pytest.mark.parametrize("message", [request("ping"), call("echo"), call("echo", write=modern)])
def test_a_client_that_wants_events_gets_events(app, message):
    (answer,) = events(post(app, message, accept="text/event-stream"))
    assert "result" in answer


def test_progress_makes_a_stream(app):
    message = request("tools/call", {"name": "count", "arguments": {"to": 3}, "_meta": {"progressToken": "t"}})
    *notices, answer = events(post(app, message))
    assert [notice["params"]["progress"] for notice in notices] == [0, 1, 2, 3]
    assert answer["result"]["structuredContent"] == {"to": 3}


def test_progress_is_kept_from_a_client_that_wants_one_body(app):
    message = request("tools/call", {"name": "count", "arguments": {"to": 3}, "_meta": {"progressToken": "t"}})
    response = post(app, message, accept="application/json")
    assert response.json()["result"]["structuredContent"] == {"to": 3}


def test_keys():
    app = HttpApp(Workshop(keys={"k1": Principal("ann", "key")}), metrics=lambda _: b"x 1\n")
    nobody = post(app, request("ping"))
    assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, 'Bearer realm="tokonoma"')
    assert nobody.json()["error"] == {"code": -32011, "message": "This server needs a key."}
    wrong = post(app, request("ping"), authorization="Bearer nope")
    assert wrong.headers["www-authenticate"] == 'Bearer realm="tokonoma", error="invalid_token"'
    assert post(app, request("ping"), authorization="Basic k1").status_code == 401
    assert post(app, request("ping"), authorization="bearer k1").status_code == 200
    assert send(app, "GET", "/metrics").status_code == 401
    assert send(app, "GET", "/metrics", headers={"authorization": "Bearer k1"}).text == "x 1\n"


def test_what_the_front_learns_of_a_call(app):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    told = post(app, call("who"), traceparent=trace, user_agent="tester/3").json()["result"]["structuredContent"]
    assert (told["transport"], told["client"], told["trace"]) == ("http", "tester/3", trace)
    other = trace.replace("0af", "0ff")
    told = post(app, modern("tools/call", {"name": "who"}, traceparent=other), traceparent=trace).json()["result"]
    assert (told["structuredContent"]["client"], told["structuredContent"]["trace"]) == ("test/1", other)


def test_the_pages_for_machines():
    reasons = []
    app = HttpApp(Workshop(), ready=lambda: reasons, metrics=lambda _: b"calls_total 5\n")
    assert send(app, "GET", "/health").json() == {"status": "ok"}
    assert send(app, "HEAD", "/health").status_code == 200
    assert send(app, "GET", "/health", headers={"host": "10.0.0.1"}).status_code == 200
    assert send(app, "POST", "/health").status_code == 405
    assert (send(app, "GET", "/ready").status_code, send(app, "GET", "/ready").json()["ready"]) == (200, True)
    reasons.append("database: does not answer")
    response = send(app, "GET", "/ready")
    assert (response.status_code, response.json()) == (503, {"ready": False, "reasons": ["database: does not answer"]})
    measured = send(app, "GET", "/metrics")
    assert (measured.text, measured.headers["content-type"].split(";")[0]) == ("calls_total 5\n", "text/plain")
    assert send(app, "GET", "/nothing").status_code == 404
    assert send(HttpApp(Workshop()), "GET", "/metrics").status_code == 404


def test_a_page_that_fails_says_so_and_no_more(capsys):
    def broken():
        raise RuntimeError("password=hunter2")

    app = HttpApp(Workshop(), ready=broken, metrics=lambda _: broken())
    assert send(app, "GET", "/ready").status_code == 503
    assert send(app, "GET", "/metrics").status_code == 500
    assert "hunter2" not in send(app, "GET", "/ready").text + send(app, "GET", "/metrics").text
    assert "hunter2" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Limited("Slow down.", retry_after=2.5), 429, -32010),
        (Denied("Not you."), 403, -32000),
        (Unavailable("The keys cannot be read."), 503, -32000),
        (RuntimeError("password=hunter2"), 500, -32603),
    ],
)
def test_who_calls_may_be_turned_away_for_other_reasons(error, status, code, capsys):
    class Closed(Workshop):
        def identify(self, caller):
            raise error

    response = post(HttpApp(Closed()), request("ping"))
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.headers.get("retry-after") == ("3" if status == 429 else None)
    assert "hunter2" not in response.text + capsys.readouterr().err


def test_a_slow_look_up_of_one_caller_keeps_no_other_request_waiting():
    """The look-up asks a database, which may not answer for a while."""
    asked, go_on = threading.Event(), threading.Event()

    class Slow(Workshop):
        def identify(self, caller):
            asked.set()
            assert go_on.wait(20), "no other request was served meanwhile"
            return super().identify(caller)

    async def ask() -> None:
        transport = httpx.ASGITransport(app=HttpApp(Slow()), client=("127.0.0.1", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
            message = request("ping")
            calling = asyncio.create_task(client.post("/mcp", json=message, headers=headers_of(message)))
            while not asked.is_set():
                await asyncio.sleep(0)
            assert (await client.get("/health")).status_code == 200
            go_on.set()
            assert (await calling).status_code == 200

    asyncio.run(ask())


def test_a_resource_that_is_not_there_has_the_status_of_its_era():
    app = HttpApp(Workshop())
    for message, status, code in (
        (request("resources/read", {"uri": "a:b"}), 200, -32002),
        (modern("resources/read", {"uri": "a:b"}), 400, -32602),
    ):
        response = post(app, message)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
