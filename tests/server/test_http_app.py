"""Requests on a real connection: whole and in pieces, sent ahead, abandoned, and no HTTP at all."""

import contextlib
import json
import socket
import threading
from collections.abc import Generator
from typing import Any

import pytest
from server.fixture import Workshop
from server.hostile import TABLE, modern, request
from server.web import headers_of, served

from tokonoma.core.call import Principal
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.asgi import HttpLimits
from tokonoma.server.http.run import HttpServer, listen

KEYS = {"a": Principal("ann", "key")}


def call(name, id: Any = 1, write=request, **arguments):
    return write("tools/call", {"name": name, "arguments": arguments}, id=id)


class Line:
    """A connection of raw bytes."""

    def __init__(self, url: str) -> None:
        self.host = url.removeprefix("http://")
        name, port = self.host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        self.file = self.socket.makefile("rb")

    def parts(
        self, message: Any, path: str = "/mcp", method: str = "POST", **changed: str | None
    ) -> tuple[bytes, bytes]:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        headers = {"host": self.host, "content-length": str(len(body)), **headers_of(message, **changed)}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode(), body

    def send(self, message: Any, **options: Any) -> None:
        self.socket.sendall(b"".join(self.parts(message, **options)))

    def answer(self) -> tuple[bytes, dict[str, str], bytes]:
        """Status line, headers and body; what differs from one time to the next is left out."""
        status = self.file.readline()
        headers = dict(line.decode().strip().split(": ", 1) for line in iter(self.file.readline, b"\r\n"))
        body = self.file.read(int(headers["content-length"]))
        for name in ("date", "mcp-session-id"):
            headers[name] = "there" if name in headers else "not there"
        return status, headers, body

    def ask(self, message: Any, **options: Any) -> tuple[bytes, dict[str, str], bytes]:
        self.send(message, **options)
        return self.answer()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@contextlib.contextmanager
def line(url: str) -> Generator[Line]:
    made = Line(url)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def entered(monkeypatch):
    """Set when the application has been entered."""
    event = threading.Event()
    application = HttpApp.__call__

    async def entering(self, scope, receive, send):
        event.set()
        await application(self, scope, receive, send)

    monkeypatch.setattr(HttpApp, "__call__", entering)
    return event


CASES: dict[str, tuple[Any, dict[str, str | None]]] = {
    **{f"hostile: {name}": (raw, {}) for name, (raw, _, _) in TABLE.items() if len(raw) < 60_000},
    "initialize": (
        request(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        ),
        {},
    ),
    "list": (request("tools/list"), {}),
    "call": (call("echo", text="いろは"), {}),
    "call with a session": (call("echo", text="x"), {"mcp_session_id": "s"}),
    "call without streams": (call("echo", text="x"), {"accept": "application/json"}),
    "call of a tool that fails": (call("fail"), {}),
    "call of a tool that answers with no JSON": (call("odd"), {}),
    "call of a tool that is gone": (call("gone"), {}),
    "call of no tool": (call("nothing"), {}),
    "call that is refused": (call("busy"), {}),
    "call that breaks": (call("crash"), {}),
    "what the front learns": (call("who"), {"user_agent": "t/1", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}),
    "behind a proxy": (call("who"), {"x_forwarded_for": "203.0.113.9, 10.0.0.1"}),
    "modern discover": (modern("server/discover"), {}),
    "modern call": (call("echo", write=modern, text="x"), {}),
    "modern header that lies": (call("echo", write=modern), {"mcp_name": "fail"}),
    "modern version unknown": (modern("tools/list"), {"mcp_protocol_version": "2031-01-01"}),
    "modern method unknown": (modern("ping"), {}),
    "modern refused": (call("busy", write=modern), {}),
    "notification": ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}),
    "response": ({"jsonrpc": "2.0", "id": 1, "result": {}}, {}),
    "cancels nothing": (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"mcp_session_id": "s"},
    ),
    "events wanted for a list": (request("tools/list"), {"accept": "text/event-stream"}),
    "wrong content type": (request("ping"), {"content_type": "text/plain"}),
    "no content type": (request("ping"), {"content_type": None}),
    "not acceptable": (request("ping"), {"accept": "text/html"}),
    "wrong host": (request("ping"), {"host": "evil.example"}),
    "wrong origin": (request("ping"), {"origin": "https://evil.example"}),
    "an origin that may": (request("ping"), {"origin": "https://good.example"}),
    "a call from an origin that may": (call("echo", text="x"), {"origin": "https://good.example"}),
    "too large": (request("ping", {"x": "y" * 60_000}), {}),
}


def both(url: str, entered: threading.Event, message: Any, changed: Any) -> list[Any]:
    """The answer to a request that comes whole, and to one whose body comes when its head has been read."""
    with line(url) as one:
        whole = one.ask(message, **changed)
    entered.clear()
    with line(url) as two:
        head, body = two.parts(message, **changed)
        two.socket.sendall(head)
        assert entered.wait(30)
        two.socket.sendall(body)
        pieces = two.answer()
    return [whole, pieces]


@pytest.mark.parametrize("name", CASES)
def test_a_body_that_comes_later_is_answered_alike(entered, name):
    message, changed = CASES[name]
    with served(limits=HttpLimits(body=50_000), origins=["https://good.example"]) as (url, _):
        whole, pieces = both(url, entered, message, changed)
        assert whole == pieces


@pytest.mark.parametrize("key", [None, "Bearer wrong", "Bearer a", "Basic a"])
def test_the_key_is_asked_for(entered, key):
    with served(Workshop(KEYS)) as (url, _):
        whole, pieces = both(url, entered, call("echo", text="x"), {"authorization": key})
        assert whole == pieces
        assert whole[0].startswith(b"HTTP/1.1 200" if key == "Bearer a" else b"HTTP/1.1 401")


@pytest.mark.parametrize(
    ("odd", "status"),
    [
        ({"path": "/mcp?x=1"}, 200),
        ({"path": "/mcp/"}, 200),
        ({"path": "/mcp/x"}, 404),
        ({"path": "/nowhere"}, 404),
        ({"path": "/health"}, 405),
        ({"method": "PUT"}, 405),
        ({"connection": "close"}, 200),
        ({"expect": "100-continue"}, 200),
    ],
)
def test_other_paths_and_ways_to_ask(odd, status):
    with served() as (url, _), line(url) as one:
        one.send(request("ping"), **odd)
        if "expect" in odd:
            assert [one.file.readline(), one.file.readline()] == [b"HTTP/1.1 100 Continue\r\n", b"\r\n"]
        assert one.answer()[0].startswith(b"HTTP/1.1 %d" % status)


def test_unknown_paths_and_methods_are_answered_in_our_own_shape():
    with served() as (url, _), line(url) as one:
        _, headers, body = one.ask(b"", path="/nothing", method="GET")
        assert headers["content-type"] == "application/json"
        message = "Not found. The MCP endpoint is /mcp."
        assert json.loads(body) == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
        _, headers, body = one.ask(b"", path="/ready", method="DELETE")
        assert headers["allow"] == "GET, HEAD"
        assert json.loads(body)["error"] == {"code": -32600, "message": "Method not allowed. Use GET."}


def test_no_request_object_is_built(monkeypatch):
    monkeypatch.setattr("starlette.requests.HTTPConnection.__init__", None)
    with served(metrics=lambda _: b"x 1\n") as (url, _), line(url) as one:
        assert json.loads(one.ask(call("echo", text="x"))[2])["result"]["isError"] is False
        for path in ("/health", "/ready", "/metrics"):
            assert one.ask(b"", path=path, method="GET")[0].startswith(b"HTTP/1.1 200")
        assert one.ask(b"", path="/nothing", method="GET")[0].startswith(b"HTTP/1.1 404")


def test_a_connection_serves_calls_and_pages_in_turn():
    with served() as (url, _), line(url) as one:
        for number in range(3):
            assert json.loads(one.ask(call("echo", id=number, text="x"))[2])["id"] == number
            assert one.ask(b"", path="/health", method="GET")[2] == b'{"status":"ok"}'


def test_requests_sent_ahead_are_answered_in_their_order():
    with served() as (url, shop), line(url) as one:
        messages = [call("wait", id=1, gate="g"), *(call("echo", id=number, text="x") for number in range(2, 6))]
        one.socket.sendall(b"".join(b"".join(one.parts(message)) for message in messages))
        shop.gate("g reached").wait()
        shop.gate("g").set()
        assert [json.loads(one.answer()[2])["id"] for _ in messages] == [1, 2, 3, 4, 5]


def test_what_comes_while_a_call_is_under_way_waits_for_it():
    with served() as (url, shop), line(url) as one:
        one.send(call("wait", id=1, gate="g"), accept="application/json")
        shop.gate("g reached").wait()
        one.send(call("echo", id=2, text="x"))
        shop.gate("g").set()
        assert [json.loads(one.answer()[2])["id"] for _ in range(2)] == [1, 2]


def test_an_answer_that_the_socket_does_not_take_whole_arrives_whole():
    with served() as (url, _), line(url) as one:
        for number in range(3):
            one.send(call("large", id=number, size=20_000_000))
            answer = json.loads(one.answer()[2])
            assert (answer["id"], len(answer["result"]["content"][0]["text"])) == (number, 20_000_000)


def test_clients_that_leave_take_nobody_elses_answer():
    with served() as (url, shop), line(url) as staying:
        for number in range(150):
            leaving = [Line(url) for _ in range(3)]
            for each in leaving:
                each.send(call("echo", id="leaving", write=modern, text="not yours"))
            staying.send(call("echo", id=number, text=str(number)))
            for each in leaving:
                each.close()
            answer = json.loads(staying.answer()[2])
            assert (answer["id"], answer["result"]["structuredContent"]["text"]) == (number, str(number))
        assert len(shop.requests) <= 600


def test_in_the_handshake_era_a_call_is_carried_out_though_its_client_has_left():
    with served() as (url, shop):
        for number in range(20):
            leaving = Line(url)
            leaving.send(call("open", gate=str(number)))
            leaving.close()
        for number in range(20):
            assert shop.gate(str(number)).wait(timeout=60)


def test_what_is_no_http_gets_a_400_and_others_are_served():
    with served() as (url, _):
        for rubbish in (
            b"\x00\x01\x02\r\n\r\n",
            b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ):
            with line(url) as one:
                one.socket.sendall(rubbish)
                assert b" 400 " in one.file.readline()
        with line(url) as two:
            assert json.loads(two.ask(request("ping"))[2])["result"] == {}


def test_a_fault_of_ours_says_nothing_of_itself(monkeypatch, capsys):
    def broken(self, *given):
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr("tokonoma.server.http.mcp.McpEndpoint._serve_post", broken)
    with served() as (url, _), line(url) as one:
        status, _, body = one.ask(request("ping"))
    assert status.startswith(b"HTTP/1.1 500")
    assert json.loads(body)["error"]["code"] == -32603
    told = capsys.readouterr().err
    assert "RuntimeError" in told
    assert "secret" not in told


def test_a_connection_on_which_nothing_comes_is_closed():
    listener, started = listen("127.0.0.1", 0), threading.Event()
    running = HttpServer(HttpApp(Workshop()), on_started=started.set, grace=0.0)
    running.config.timeout_keep_alive = 0
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    with line(f"http://127.0.0.1:{listener.getsockname()[1]}") as one:
        assert json.loads(one.ask(request("ping"))[2])["result"] == {}
        assert one.file.read() == b""
    running.should_exit = True
    thread.join()


def test_at_the_end_a_call_under_way_is_answered_and_its_connection_closed():
    listener, started = listen("127.0.0.1", 0), threading.Event()
    shop = Workshop()
    running = HttpServer(HttpApp(shop), on_started=started.set, grace=0.0)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    with line(f"http://127.0.0.1:{listener.getsockname()[1]}") as one:
        one.send(call("wait", gate="g"), accept="application/json")
        shop.gate("g reached").wait()
        running.should_exit = True
        _, headers, body = one.answer()
        assert headers["connection"] == "close"
        assert json.loads(body)["result"]["content"][0]["text"] == "cancelled"
        assert one.file.read() == b""
    thread.join()
