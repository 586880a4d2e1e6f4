"""Several servers on one database behind a load balancer, and clients that talk to whichever answers.

Each server is a process with a home of its own, as on machines of their own.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from faults.balancer import Balancer

VERSION = "2025-11-25"


class BrokenCall(Exception):
    """The connection ended before the answer: nobody knows whether the call was carried out."""


class RefusedCall(Exception):
    """The answer is an error."""


class ServerProcess:
    """One `tokonoma serve`, on the same port each time it is started."""

    def __init__(self, home: Path, database_url: str) -> None:
        self.home, self.port = home, _find_port()
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("TOKONOMA_", "PYTEST_"))}
        self.env = {**kept, "TOKONOMA_HOME": str(home), "TOKONOMA_DATABASE_URL": database_url}
        self.env["TOKONOMA_LOG_LEVEL"] = "warning"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        argv = [sys.executable, "-m", "tokonoma", "serve", "--port", str(self.port)]
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(argv, env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        while not self._answers():
            if self._process.poll() is not None:
                raise RuntimeError((self.home / "log").read_text())

    def kill(self) -> None:
        """At once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def run(self, *words: str) -> str:
        """A command of the program on this machine."""
        argv = [sys.executable, "-m", "tokonoma", *words]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _end(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port)) as line:
                line.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                return line.recv(15).startswith(b"HTTP/1.1 200")
        except OSError:
            return False


class ServerCluster:
    """So many servers, and the address at which they are one."""

    def __init__(self, folder: Path, database_url: str, size: int) -> None:
        self.servers = [ServerProcess(folder / f"home-{number}", database_url) for number in range(size)]
        for each in self.servers:
            each.start()
        self._balancer = Balancer([each.port for each in self.servers])
        self.port = self._balancer.port

    def connect(self, key: str | None = None) -> "ClusterClient":
        return ClusterClient(self.port, key)

    def connect_to(self, number: int, key: str | None = None) -> "ClusterClient":
        """A client of one of the servers alone."""
        return ClusterClient(self.servers[number].port, key)

    def close(self) -> None:
        self._balancer.close()
        for each in self.servers:
            each.stop()


class ClusterClient:
    """Each request has a connection of its own, so each goes to another server. One session for all of them."""

    def __init__(self, port: int, key: str | None = None) -> None:
        self._port, self._numbers = port, count(1)
        self._headers = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json"}
        self._headers |= {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    def open_session(self) -> None:
        client = {"name": "cluster", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        answer, headers = self._post({"id": next(self._numbers), "method": "initialize", "params": params})
        assert "result" in answer, answer
        self._headers["Mcp-Session-Id"] = headers["Mcp-Session-Id"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        answer, _ = self._post({"id": next(self._numbers), "method": method, "params": params})
        if "error" in answer:
            raise RefusedCall(json.dumps(answer["error"]))
        return answer["result"]

    def call(self, module: str, tool: str, **params: Any) -> dict[str, Any]:
        arguments = {"module": module, "tool_name": tool, "params": params}
        result = self.ask("tools/call", name="call", arguments=arguments)
        if result.get("isError"):
            raise RefusedCall(result["content"][0]["text"])
        return result["structuredContent"]

    def end_session(self) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self._port)
        line.request("DELETE", "/mcp", headers=self._headers)
        assert line.getresponse().status == 200
        line.close()

    def open_stream(self) -> "EventStream":
        return EventStream(self._port, {**self._headers, "Accept": "text/event-stream"})

    def _post(self, message: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        line = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            body = json.dumps({"jsonrpc": "2.0", **message})
            line.request("POST", "/mcp", body, {**self._headers, "Connection": "close"})
            answer = line.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise BrokenCall(type(error).__name__) from error
        finally:
            line.close()
        if answer.headers.get_content_type() == "text/event-stream":  # a slow call: its answer is the last event
            events = [event[6:] for event in text.splitlines() if event.startswith("data: ")]
            if not events:
                raise BrokenCall("the stream ended")
            text = events[-1]
        if answer.status >= 500 or not text:
            raise BrokenCall(f"{answer.status}: {text[:200]}")
        return json.loads(text), answer.headers


class EventStream:
    """`GET /mcp`: notifications, until the server or the client ends it."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port)
        try:
            self._line.request("GET", "/mcp", headers=headers)
            self._answer = self._line.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self._line.close()
            raise BrokenCall(type(error).__name__) from error
        if self._answer.status != 200:
            raise BrokenCall(f"{self._answer.status}")
        # What ends the stream from another thread; the answer itself is being read.
        self._socket = self._answer.fp.raw._sock  # type: ignore[union-attr]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            with suppress(OSError, http.client.HTTPException):
                while line := self._answer.readline():
                    if line.startswith(b"data: {"):
                        yield json.loads(line[6:])
        finally:
            self._answer.close()
            self._line.close()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Subscriber:
    """A client that watches one resource over the balancer, and opens its stream again whenever it ends. It subscribes
    once: what it watches must be known to whichever server it comes to."""

    def __init__(self, client: ClusterClient, uri: str) -> None:
        self._client, self.uri = client, uri
        self.told, self.streams = 0, 0
        self.heard: list[str] = []  # addresses
        self.changed = threading.Condition()
        self._stopped = False
        self._stream: EventStream | None = None
        client.open_session()
        client.ask("resources/subscribe", uri=uri)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped = True
        if self._stream is not None:
            self._stream.close()
        self._thread.join()

    def _listen(self) -> None:
        while not self._stopped:
            try:
                self._stream = self._client.open_stream()
            except BrokenCall:
                continue
            self.streams += 1
            if self._stopped:
                self._stream.close()
            for message in self._stream:
                if message.get("method") == "notifications/resources/updated":
                    with self.changed:
                        self.heard.append(message["params"]["uri"])
                        self.told += self.heard[-1] == self.uri
                        self.changed.notify_all()


def _find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
