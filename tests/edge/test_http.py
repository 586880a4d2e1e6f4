"""`POST /mcp` in memory: headers, statuses, both eras."""

import gzip
import json

import pytest
from edge.fixture import Workshop
from edge.hostile import MODERN, TABLE, modern, request
from edge.web import events, post, send

from tokonoma.core.call import Principal
from tokonoma.edge.http import asgi
from tokonoma.edge.http_guard import accepts, host_name, is_loopback
from tokonoma.edge.http_post import Limits

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "2"}}


@pytest.fixture
def app():
    return asgi(Workshop())


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
    app = asgi(Workshop(), limits=Limits(body=100))
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


@pytest.mark.parametrize(
    ("header", "both"),
    [
        (None, (True, True)),
        (b"*/*", (True, True)),
        (b"application/json, text/event-stream", (True, True)),
        (b"Application/JSON;q=0.5", (True, False)),
        (b"text/event-stream; charset=utf-8", (False, True)),
        (b"application/*", (True, False)),
        (b"text/*;q=0.1", (False, True)),
        (b"application/json;q=0, text/event-stream", (False, True)),
        (b"application/json; q=0.0", (False, False)),
        (b"text/html", (False, False)),
        (b"", (False, False)),
    ],
)
def test_what_is_acceptable(header, both):
    assert accepts(header) == both


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


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_read(app, kind):
    assert post(app, request("ping"), content_type=kind).status_code == 415


def test_a_compressed_body_is_not_json(app):
    assert post(app, gzip.compress(json.dumps(request("ping")).encode())).json()["error"]["code"] == -32700


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
def test_other_verbs_are_told_what_to_use(app, method):
    response = send(app, method, "/mcp", headers={"accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("host", ["127.0.0.1:8722", "localhost", "LocalHost:1", "[::1]:8722"])
def test_our_own_names_are_answered(app, host):
    assert post(app, request("ping"), host=host).status_code == 200
    assert post(app, request("ping"), host=host, origin=f"http://{host}").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example.com", "localhost.evil.com:8722", "127.0.0.1.evil.com", "", "[::1", "[::2]"]
)
def test_other_names_are_not(app, host):
    assert post(app, request("ping"), host=host).status_code == 421
    for path in ("/ready", "/metrics", "/"):
        assert send(app, "GET", path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example.com", "null", "http://127.0.0.1:8723", "file://", "http://127.0.0.1:8722.evil.com"]
)
def test_pages_of_other_sites_are_refused(app, origin):
    assert post(app, request("ping"), origin=origin).status_code == 403


def test_pages_of_chosen_sites_are_served_with_what_browsers_want():
    app = asgi(Workshop(), origins=["https://app.example.com/"], host_names=None)
    origin = "https://app.example.com"
    asked = {"origin": origin, "access-control-request-method": "POST", "host": "anything"}
    preflight = send(app, "OPTIONS", "/mcp", headers=asked)
    assert preflight.status_code == 200
    assert "mcp-session-id" in preflight.headers["access-control-allow-headers"]
    answered = post(app, request("initialize", INITIALIZE), origin=origin)
    assert answered.headers["access-control-allow-origin"] == origin
    assert "mcp-session-id" in answered.headers["access-control-expose-headers"]
    assert send(app, "OPTIONS", "/mcp", headers={"host": "x"}).status_code == 405


def test_a_header_that_decides_must_not_come_twice(app):
    doubled = [("content-type", "application/json"), ("mcp-session-id", "a"), ("mcp-session-id", "b")]
    response = send(app, "POST", "/mcp", content=b"{}", headers=doubled)
    assert (response.status_code, "mcp-session-id" in response.json()["error"]["message"]) == (400, True)


def test_keys():
    app = asgi(Workshop(keys={"k1": Principal("ann", "key")}), metrics=lambda: b"x 1\n")
    nobody = post(app, request("ping"))
    assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, 'Bearer realm="tokonoma"')
    assert nobody.json()["error"]["message"] == "This server needs a key."
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
    app = asgi(Workshop(), ready=lambda: reasons, metrics=lambda: b"calls_total 5\n")
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
    assert send(asgi(Workshop()), "GET", "/metrics").status_code == 404


def test_a_page_that_fails_says_so_and_no_more(capsys):
    def broken():
        raise RuntimeError("password=hunter2")

    app = asgi(Workshop(), ready=broken, metrics=broken)
    assert send(app, "GET", "/ready").status_code == 503
    assert send(app, "GET", "/metrics").status_code == 500
    assert "hunter2" not in send(app, "GET", "/ready").text + send(app, "GET", "/metrics").text
    assert "hunter2" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "name"), [(b"a:1", b"a"), (b"a", b"a"), (b"[::1]:1", b"[::1]"), (b"[::1]", b"[::1]"), (b"", b"")]
)
def test_names_without_ports(host, name):
    assert host_name(host) == name


def test_loopback():
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "localhost", "::1"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.1", "127.example.com", ""))
