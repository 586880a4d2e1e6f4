"""A real server: streams, cancellation, clients that go away, and the end."""

import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from server.fixture import Workshop
from server.hostile import modern, request
from server.web import Stream, call, headers_of, served

from tokonoma.core.call import Principal
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.asgi import HttpLimits
from tokonoma.server.http.run import HttpServer, listen

SLOW = HttpLimits(stream_after=0.0, beat=0.01)
CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}


def data(response: Any) -> Any:
    """The next message in a stream of events; comments in between are skipped."""
    return json.loads(next(line for line in response if line.startswith(b"data: "))[6:])


def tell(url, message, **changed):
    return httpx.post(f"{url}/mcp", content=json.dumps(message), headers=headers_of(message, **changed))


def test_a_quick_answer_is_one_body():
    with served() as (url, _):
        for message in (call("echo", text="x"), call("echo", write=modern, text="x")):
            response = tell(url, message)
            assert response.headers["content-type"] == "application/json"
            assert response.json()["result"]["structuredContent"] == {"text": "x"}


@pytest.mark.parametrize("write", [request, modern])
def test_a_slow_answer_becomes_a_stream_that_is_kept_alive(write):
    with served(limits=SLOW) as (url, shop), Stream(url, call("wait", write=write, gate="g")) as stream:
        response = stream.response()
        assert response.headers["content-type"] == "text/event-stream"
        assert [response.readline(), response.readline()] == [b": still working\n", b"\n"]
        shop.gate("g").set()
        assert data(response)["result"]["content"][0]["text"] == "opened"
        assert response.read().strip() == b""


def test_a_client_that_takes_no_streams_waits():
    with served(limits=SLOW) as (url, shop), Stream(url, call("wait", gate="g"), accept="application/json") as stream:
        shop.gate("g reached").wait()
        shop.gate("g").set()
        response = stream.response()
        assert response.headers["content-type"] == "application/json"
        assert json.loads(response.read())["result"]["content"][0]["text"] == "opened"


def test_progress_is_seen_while_the_call_runs():
    with served() as (url, shop):
        message = request("tools/call", {"name": "wait", "arguments": {"gate": "g"}, "_meta": {"progressToken": 1}})
        with Stream(url, message) as stream:
            shop.gate("g reached").wait()
            progress = shop.requests[0].progress
            progress(1, 2, "half")
            response = stream.response()
            assert data(response)["params"] == {"progressToken": 1, "progress": 1, "total": 2, "message": "half"}
            shop.gate("g").set()
            assert "result" in data(response)


def test_a_client_cancels_its_own_call_by_its_session():
    keys = {"a": Principal("ann", "key"), "b": Principal("bob", "key")}
    with served(Workshop(keys)) as (url, shop):
        ann = {"mcp_session_id": "s1", "authorization": "Bearer a"}
        with Stream(url, call("wait", gate="g"), **ann) as stream:
            shop.gate("g reached").wait()
            for other in ({**ann, "mcp_session_id": "s2"}, {**ann, "authorization": "Bearer b"}):
                assert tell(url, CANCELLED, **other).status_code == 202
            assert tell(url, CANCELLED, authorization="Bearer a").status_code == 202
            assert shop.stopped == []
            tell(url, CANCELLED, **ann)
            assert stream.response().read() == b": cancelled\n\n"  # and no answer
            shop.gate("g left").wait()
    assert shop.stopped == ["cancelled"]


def test_a_cancelled_client_that_takes_no_streams_gets_an_error():
    with (
        served() as (url, shop),
        Stream(url, call("wait", gate="g"), mcp_session_id="s", accept="application/json") as stream,
    ):
        shop.gate("g reached").wait()
        tell(url, CANCELLED, mcp_session_id="s")
        answer = json.loads(stream.response().read())
    assert (answer["id"], answer["error"]["code"]) == (7, -32800)


def test_a_modern_client_cancels_by_going_away():
    with served() as (url, shop):
        with Stream(url, call("wait", write=modern, gate="g")):
            shop.gate("g reached").wait()
        shop.gate("g left").wait()
    assert shop.stopped == ["cancelled"]


def test_a_modern_client_cannot_cancel_by_a_notification():
    with served() as (url, shop), Stream(url, call("wait", write=modern, gate="g"), mcp_session_id="s") as stream:
        shop.gate("g reached").wait()
        tell(url, CANCELLED, mcp_session_id="s", mcp_protocol_version="2026-07-28")
        tell(url, CANCELLED, mcp_session_id="s")
        assert shop.stopped == []
        shop.gate("g").set()
        assert json.loads(stream.response().read())["result"]["isError"] is False


def test_in_the_handshake_era_a_lost_connection_cancels_nothing():
    with served(limits=SLOW) as (url, shop):
        with Stream(url, call("wait", gate="g")) as stream:
            shop.gate("g reached").wait()
            stream.response().readline()
        assert tell(url, request("ping")).status_code == 200
        assert shop.stopped == []
        tell(url, call("open", gate="g"))
        shop.gate("g left").wait()
    assert shop.stopped == [""]


def test_calls_run_side_by_side_on_many_connections():
    with served() as (url, shop):
        answers = []

        def one(number):
            answers.append(tell(url, call("echo", id=number, text=str(number))).json())

        with Stream(url, call("wait", gate="g")) as stream:
            threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            shop.gate("g").set()
            assert stream.response().status == 200
    assert {answer["id"]: answer["result"]["structuredContent"]["text"] for answer in answers} == {
        number: str(number) for number in range(16)
    }


def test_a_body_that_does_not_come_is_not_waited_for():
    with served(limits=HttpLimits(body_seconds=0.0)) as (url, _):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as line:
            head = f"POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n"
            line.sendall(head.encode() + b"{")
            assert line.recv(12) == b"HTTP/1.1 408"


def test_a_body_in_pieces_is_put_together():
    def pieces():
        for byte in json.dumps(request("ping")).encode():
            yield bytes([byte])

    with served() as (url, _):
        response = httpx.post(f"{url}/mcp", content=pieces(), headers={"content-type": "application/json"})
        assert response.json()["result"] == {}


def test_at_the_end_open_streams_are_answered():
    shop = Workshop()
    listener, started = listen("127.0.0.1", 0), threading.Event()
    running = HttpServer(HttpApp(shop, limits=SLOW), on_started=started.set, grace=0.0)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    with Stream(f"http://127.0.0.1:{listener.getsockname()[1]}", call("wait", gate="g")) as stream:
        shop.gate("g reached").wait()
        response = stream.response()
        running.should_exit = True
        assert data(response)["result"]["content"][0]["text"] == "cancelled"
        thread.join()
    assert shop.stopped == ["cancelled"]


def test_a_call_that_hears_nothing_is_cut_off_at_the_end(monkeypatch):
    monkeypatch.setattr("tokonoma.server.http.run.CANCEL_GRACE", 0)
    with served(limits=SLOW) as (url, shop):
        stream = Stream(url, call("stubborn", gate="g"))
        shop.gate("g reached").wait()
        stream.response().readline()
    stream.connection.close()
    shop.gate("g").set()


def test_answers_are_not_held_back_to_be_sent_together():
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # or asyncio leaves Nagle's delay on


def test_a_port_that_is_taken_is_an_error():
    with listen("127.0.0.1", 0) as first, pytest.raises(OSError, match=r"[Aa]ddress"):
        listen("127.0.0.1", first.getsockname()[1])


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from server.fixture import Workshop
from tokonoma.core.log import log, set_level
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.run import HttpServer, listen
set_level("debug")
listener = listen("127.0.0.1", 0)
port = listener.getsockname()[1]
HttpServer(HttpApp(Workshop()), on_started=lambda: log("info", "started", port=port)).run(sockets=[listener])
log("info", "closed")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_the_house_is_closed(number):
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        lines: list[Any] = []
        assert process.stderr is not None
        while not any(line["event"] == "started" for line in lines):
            lines.append(json.loads(process.stderr.readline()))
        assert tell(f"http://127.0.0.1:{lines[-1]['port']}", call("speak")).status_code == 200
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == 0
    assert out == b"not a message\n"  # what the tool printed: the server itself prints nothing
    assert json.loads(err.splitlines()[-1])["event"] == "closed"
    assert all(json.loads(line)["level"] for line in err.splitlines())
