"""Slow, idle and oversized connections, on real sockets: each ends, and others are served meanwhile."""

import contextlib
import json
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import SOAK
from server.fixture import Workshop
from server.hostile import modern, request
from server.web import Stream, call, create_pair, headers_of, served

from tokonoma.core.call import Principal
from tokonoma.server.http import connections as limits
from tokonoma.server.http.asgi import HttpLimits
from tokonoma.server.http.connections import ConnectionLimits, bound_connections
from tokonoma.server.http.run import load_tls

HURRIED = ConnectionLimits(header_seconds=0.2, idle_seconds=0.2, stalled_seconds=0.2)
PATIENT = ConnectionLimits(header_seconds=600, idle_seconds=600, stalled_seconds=600)
TIMES = (0.2, 2.0, 20.0)  # seconds; the longer ones if a busy machine lets a client wait who is in time


def connect(url: str, *sent: bytes) -> socket.socket:
    host, port = url.rpartition("/")[2].split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    for part in sent:
        connection.sendall(part)
    return connection


def read_all(connection: socket.socket) -> bytes:
    """What comes until the server closes; a reset ends it too."""
    heard = b""
    with connection, contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            heard += part
    return heard


def post(message: Any, *, extra: str = "", length: int | None = None) -> bytes:
    body = json.dumps(message).encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers_of(message).items()) + extra
    size = len(body) if length is None else length
    return f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n{lines}content-length: {size}\r\n\r\n".encode() + body


def is_healthy(url: str) -> bool:
    return httpx.get(f"{url}/health", timeout=60).json() == {"status": "ok"}


STARTS = {
    "nothing": b"",
    "half a line": b"POST /m",
    "half the headers": b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n",
    "empty lines": b"\r\n\r\n",
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_headers_that_do_not_come_are_not_waited_for(start):
    with served(connections=HURRIED) as (url, _):
        heard = read_all(connect(url, start))
    assert heard.startswith(b"HTTP/1.1 408") if start.startswith(b"POST") else heard == b""


def test_headers_that_come_byte_by_byte_do_not_get_more_time():
    with served(connections=HURRIED) as (url, _), connect(url, b"GET /health HTTP/1.1\r\nx: ") as connection:
        connection.settimeout(0.01)
        heard = b""
        with contextlib.suppress(ConnectionError):
            while not heard:
                connection.sendall(b"a")
                with contextlib.suppress(TimeoutError):
                    heard = connection.recv(100)
    assert heard.startswith(b"HTTP/1.1 408") or heard == b""


def test_an_idle_connection_is_closed_after_its_answer():
    with served(connections=ConnectionLimits(header_seconds=600, idle_seconds=0.2)) as (url, _):
        heard = read_all(connect(url, b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"))
    assert heard.startswith(b"HTTP/1.1 200")
    assert heard.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_the_next_request_has_its_own_time_too(at_once):
    first, second = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n", b"GET /health HTTP/1.1\r\nx: y"
    heard = b""
    for seconds in TIMES:
        with served(connections=ConnectionLimits(header_seconds=seconds, idle_seconds=600)) as (url, _):
            connection = connect(url, first + second if at_once else first)
            heard = connection.recv(65536)
            if not at_once:
                with contextlib.suppress(ConnectionError):
                    connection.sendall(second)
            heard += read_all(connection)
        if heard.startswith(b"HTTP/1.1 200"):
            break
    assert heard.count(b"HTTP/1.1 200") == 1
    assert heard.count(b"HTTP/1.1 408") == 1


def test_a_body_that_nobody_reads_is_not_waited_for_either():
    """The answer has been sent before the body has come; the rest of the body is only thrown away."""
    head = b"POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"
    heard = b""
    for seconds in TIMES:
        with served(connections=ConnectionLimits(header_seconds=seconds, idle_seconds=600)) as (url, _):
            heard = read_all(connect(url, head, b"x" * 10))
        if heard.startswith(b"HTTP/1.1 405"):
            break
    assert heard.startswith(b"HTTP/1.1 405")
    assert heard.count(b"HTTP/1.1") == 1


def test_a_client_that_does_not_read_its_answer_is_cut_off():
    only = ConnectionLimits(connections=1, stalled_seconds=0.2)
    with served(connections=only) as (url, _), connect(url, post(call("large", size=30_000_000))) as connection:
        connection.recv(1)
        statuses = {503}
        while statuses == {503}:  # its place is taken until the server gives it up
            statuses = {httpx.post(f"{url}/mcp", **httpx_options(request("ping"))).status_code}
        assert statuses == {200}
        assert len(read_all(connection)) < 30_000_000


@pytest.mark.parametrize("extra", ["", "connection: close\r\n"])
def test_a_client_that_reads_slowly_gets_its_whole_answer(extra):
    """For longer than a client may take that does not read at all, or that sends nothing."""
    assert any(read_slowly(seconds, extra) >= SLOW_SIZE for seconds in (0.5, 5.0))


SLOW_SIZE = 12_000_000


def read_slowly(seconds: float, extra: str) -> int:
    """How much comes if a client reads for twice the time that it may stand still, and never stands still."""
    limited = ConnectionLimits(header_seconds=seconds, idle_seconds=seconds, stalled_seconds=seconds)
    with served(connections=limited) as (url, _), socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        host, port = url.rpartition("/")[2].split(":")
        connection.connect((host, int(port)))
        connection.sendall(post(call("large", size=SLOW_SIZE), extra=extra))
        size, pace = 0, threading.Event()
        with contextlib.suppress(ConnectionError):
            while size < SLOW_SIZE and (part := connection.recv(65536)):
                size += len(part)
                pace.wait(seconds / 100)
        return size


@pytest.mark.parametrize("size", [65_336, 65_537, 5_000_000])
@pytest.mark.parametrize("many", [False, True])
def test_headers_have_64_kib(size, many):
    line = b"x: " + b"y" * 95 + b"\r\n" if many else b"x: " + b"y" * size + b"\r\n"
    padding = line * (size // len(line)) if many else line
    with served(connections=PATIENT) as (url, _), connect(url) as connection:
        with contextlib.suppress(ConnectionError):  # it may be refused before all is sent
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n" + padding + b"connection: close\r\n\r\n")
        assert connection.recv(12) == (b"HTTP/1.1 200" if size < 65_536 else b"HTTP/1.1 431")
        assert is_healthy(url)


def test_a_trailer_is_limited_like_headers():
    head = post(request("ping"), length=0).replace(b"content-length: 0", b"transfer-encoding: chunked")
    start = head[: head.index(b"\r\n\r\n") + 4] + b"0\r\nx: "
    with served(connections=PATIENT) as (url, _), connect(url, start) as connection:
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"y" * 10_000)
        assert read_all(connection) == b""
        assert is_healthy(url)


TRAILERS = {
    "a credential": (b"Authorization: Bearer a", 401),
    "a version": (b"Mcp-Protocol-Version: 1999-01-01", 401),
    "an origin": (b"Origin: http://evil.example", 401),
    "another host": (b"Host: evil.example", 401),
}


@pytest.mark.parametrize(("trailer", "status"), TRAILERS.values(), ids=TRAILERS)
def test_trailers_are_not_headers(trailer, status):
    """Sent at once with the rest, so that the server has parsed them before it looks at the headers."""
    body = json.dumps(request("ping")).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in headers_of(request("ping")).items())
    chunks = b"%x\r\n%s\r\n0\r\n%s\r\n\r\n" % (len(body), body, trailer)
    start = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{head}transfer-encoding: chunked\r\n\r\n"
    with served(Workshop({"a": Principal("ann", "key")}), connections=PATIENT) as (url, _):
        heard = read_all(connect(url, start.encode() + chunks))
    assert heard.startswith(b"HTTP/1.1 %d" % status), heard[:200]


def test_a_forwarding_trailer_does_not_change_the_caller():
    body = json.dumps(call("echo", text="x")).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in headers_of(call("echo", text="x")).items())
    chunks = b"%x\r\n%s\r\n0\r\nX-Forwarded-For: 203.0.113.5\r\n\r\n" % (len(body), body)
    start = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{head}transfer-encoding: chunked\r\n\r\n"
    with served(connections=PATIENT) as (url, shop):
        assert read_all(connect(url, start.encode() + chunks)).startswith(b"HTTP/1.1 200")
    assert [asked.caller.remote for asked in shop.requests] == ["127.0.0.1"]


def test_the_one_that_waits_longest_makes_room():
    few = ConnectionLimits(connections=2, header_seconds=600, idle_seconds=600)
    with served(connections=few) as (url, _):
        idle = [connect(url), connect(url, b"GET /h")]
        assert is_healthy(url)  # and takes the place of the first
        assert is_healthy(url)  # or of its own idle connection
        assert read_all(idle[0]) == b""
        assert httpx.post(f"{url}/mcp", **httpx_options(request("ping"))).status_code == 200
        idle[1].close()


def httpx_options(message: Any) -> dict[str, Any]:
    return {"content": json.dumps(message), "headers": headers_of(message), "timeout": 60}


def test_when_all_are_busy_probes_are_answered_and_others_told_to_come_back():
    few = ConnectionLimits(connections=2, header_seconds=600, idle_seconds=600)
    with served(connections=few) as (url, shop), contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Stream(url, call("wait", gate=f"g{number}"))) for number in range(2)]
        for number in range(2):
            assert shop.gate(f"g{number} reached").wait(60)
        for _ in range(limits.RESERVED + 2):
            refused = httpx.post(f"{url}/mcp", **httpx_options(request("ping")))
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert refused.json()["error"]["code"] == -32010
            assert is_healthy(url)
        assert httpx.get(f"{url}/ready", timeout=60).status_code == 200
        for number, stream in enumerate(streams):
            shop.gate(f"g{number}").set()
            assert stream.response().status == 200
        assert httpx.post(f"{url}/mcp", **httpx_options(request("ping"))).status_code == 200


def test_handshakes_that_never_end_count_and_make_room(tmp_path):
    pair = create_pair(tmp_path, "own")
    few = ConnectionLimits(connections=2, header_seconds=600)
    with served(tls=load_tls(str(pair.cert), str(pair.key)), connections=few) as (url, _):
        silent = [connect(url) for _ in range(2 + limits.RESERVED)]
        assert httpx.get(f"{url}/health", verify=False, timeout=60).status_code == 200
        assert read_all(silent[0]) == b""
        for connection in silent:
            connection.close()


def test_a_handshake_has_the_time_of_headers(tmp_path):
    pair = create_pair(tmp_path, "own")
    with served(tls=load_tls(str(pair.cert), str(pair.key)), connections=HURRIED) as (url, _):
        assert read_all(connect(url)) == b""


def test_the_bound_leaves_files_for_everything_else(monkeypatch):
    for most, wanted, bound in ((1024, 500, 500), (1024, 2000, 888), (256, 500, 120), (20, 500, 2), (4, 500, 1)):
        monkeypatch.setattr(resource, "getrlimit", lambda which, most=most: (most, most))
        assert bound_connections(wanted) == bound
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert bound_connections(500) == 500


@pytest.mark.parametrize("write", [request, modern])
def test_large_bodies_wait_for_room_or_are_told_to_come_back(write):
    tight = HttpLimits(bodies=3 * 2**20, bodies_seconds=0.05)
    large = "x" * 2**20
    with served(limits=tight, connections=PATIENT) as (url, shop):
        with Stream(url, call("wait", write=write, gate="g", text=large)) as stream:
            assert shop.gate("g reached").wait(60)
            refused = httpx.post(f"{url}/mcp", **httpx_options(call("echo", write=write, text=large)))
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            small = httpx.post(f"{url}/mcp", **httpx_options(call("echo", write=write, text="x")))
            assert small.status_code == 200
            shop.gate("g").set()
            assert stream.response().read()
        # What the first has held is free again.
        assert httpx.post(f"{url}/mcp", **httpx_options(call("echo", write=write, text=large))).status_code == 200


def test_a_body_of_unknown_length_is_counted_as_it_comes():
    tight = HttpLimits(bodies=3 * 2**20, bodies_seconds=0.05)

    def send_pieces(size: int):
        yield b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'
        for _ in range(size // 65536):
            yield b"y" * 65536
        yield b'"}}'

    with served(limits=tight, connections=PATIENT) as (url, shop):
        headers = {"content-type": "application/json"}
        with Stream(url, call("wait", gate="g", text="x" * 2**20)) as stream:
            assert shop.gate("g reached").wait(60)
            assert httpx.post(f"{url}/mcp", content=send_pieces(2**19), headers=headers).status_code == 200
            with contextlib.suppress(httpx.TransportError):  # it may be refused before all is sent
                refused = httpx.post(f"{url}/mcp", content=send_pieces(3 * 2**20), headers=headers)
                assert refused.status_code == 503
            shop.gate("g").set()
            stream.response().read()


full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]


@contextlib.contextmanager
def spawn_server(home: Path, before: str, **settings: str) -> Generator[str]:
    """The URL of `tokonoma serve` in a process of its own, started by a shell after the command `before`."""
    environ = {f"TOKONOMA_{name}": value for name, value in settings.items()}
    environ |= {"TOKONOMA_HOME": str(home), "TOKONOMA_DURABLE": "false", "HOME": str(home)}
    program = f"{before}; exec {sys.executable} -m tokonoma serve --port 0"
    process = subprocess.Popen(["/bin/sh", "-c", program], env=environ, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        told = next(told for told in map(json.loads, process.stderr) if told["event"] == "serving")
        yield told["url"].removesuffix("/mcp")
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def many_files():
    """This process may open as many files as the system lets it: the clients are here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("count", "files"), [(200, 150), pytest.param(2000, 1024, marks=full)])
def test_a_server_with_few_files_outlives_many_idle_connections(tmp_path, many_files, count, files):
    with spawn_server(tmp_path, f"ulimit -n {files}") as url:
        kept = [connect(url, (b"", b"POST /mcp HTTP/1.1\r\nhost: ")[number % 2]) for number in range(count)]
        for _ in range(3):
            assert is_healthy(url)
            answer = httpx.post(f"{url}/mcp", **httpx_options(call("system_status"))).json()
            assert answer["result"]["isError"] is False
        for connection in kept:
            connection.close()


def test_the_limits_are_settings(tmp_path):
    settings = {"HEADER_TIMEOUT": "0.2", "IDLE_TIMEOUT": "0.3", "BODY_TIMEOUT": "0.2", "MAX_CONNECTIONS": "1"}
    with spawn_server(tmp_path, ":", **settings) as url:
        assert read_all(connect(url, b"GET /health HTTP/1.1\r\n")).startswith(b"HTTP/1.1 408")
        heard = b""
        for _ in range(20):  # a busy machine may let it wait longer than it has time
            heard = heard or read_all(connect(url, b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"))
        assert heard.startswith(b"HTTP/1.1 200")
        assert read_all(connect(url, post(request("ping"), length=99))).startswith(b"HTTP/1.1 408")
        first = connect(url)
        assert is_healthy(url)
        assert read_all(first) == b""


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=full)])
def test_connections_that_send_headers_slowly_all_end(count):
    with served(connections=ConnectionLimits(connections=1000, header_seconds=1.0)) as (url, _):
        slow = [connect(url, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n") for _ in range(count)]
        assert is_healthy(url)
        assert all(read_all(each).startswith(b"HTTP/1.1 408") for each in slow)
