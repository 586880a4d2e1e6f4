"""Clients of the program: they start it as anybody would, and say what came back."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.calls_wire import MODERN
from golden.steps import Json, SocketStep, WebStep

PATIENCE = 300.0  # seconds until a process is ended, so that the test fails instead of hanging
UNTOLD = {"date", "server", "content-length"}
ACCEPT = "application/json, text/event-stream"


def environ(home: Path, database: str, **more: str) -> dict[str, str]:
    """What the program may see of this machine: nothing of its user's."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("TOKONOMA_")}
    return kept | {
        "HOME": str(home.parent),
        "USERPROFILE": str(home.parent),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "TOKONOMA_HOME": str(home),
        "TOKONOMA_DATABASE_URL": database,
        "TOKONOMA_DURABLE": "false",
        "TOKONOMA_POLICY_OVER_MCP": "all",
        **more,
    }


def started(words: tuple[str, ...], env: Mapping[str, str], **pipes: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen[bytes]([sys.executable, "-W", "error", "-m", "tokonoma", *words], env=env, **pipes)


def run(words: tuple[str, ...], env: Mapping[str, str], stdin: str) -> Json:
    """What a command printed, and how it ended."""
    command = [sys.executable, "-W", "error", "-m", "tokonoma", *words]
    ended = subprocess.run(
        command, env=env, input=stdin.encode(), capture_output=True, check=False, timeout=PATIENCE, cwd=env["HOME"]
    )
    return {"exit": ended.returncode, "stdout": ended.stdout.decode(), "stderr": ended.stderr.decode()}


class Watched:
    """A process, ended when it has taken far too long."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._alarm = threading.Timer(PATIENCE, process.kill)
        self._alarm.daemon = True
        self._alarm.start()

    def close(self) -> None:
        self._alarm.cancel()
        if self.process.stdin is not None:
            self.process.stdin.close()
        else:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


LIST_CHANGED = b'"method":"notifications/resources/list_changed"'


class StdioClient(Watched):
    """Speaks with the handshake."""

    def __init__(self, words: tuple[str, ...], env: Mapping[str, str]) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        super().__init__(started(("stdio", *words), env, **pipes))

    def line(self, line: str, answers: int) -> list[str]:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return [self._answer() for _ in range(answers)]

    def ask(self, id: int, method: str, params: Json | None) -> tuple[list[str], str]:
        """Every line up to the answer, and the answer."""
        message = {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}
        told = self.line(json.dumps(message, ensure_ascii=False), 1)
        while json.loads(told[-1]).get("id") != id:
            told.append(self._answer())
        return told, told[-1]

    def _answer(self) -> str:
        """The next line, without what comes at a moment of its own: that the list of resources has changed."""
        assert self.process.stdout is not None
        line = LIST_CHANGED
        while LIST_CHANGED in line:
            line = self.process.stdout.readline()
        assert line.endswith(b"\n"), "the program ended"
        return line.decode().removesuffix("\n")


class HttpClient(Watched):
    """Speaks without a handshake. One connection is kept as long as the server keeps it."""

    def __init__(self, words: tuple[str, ...], env: Mapping[str, str]) -> None:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        super().__init__(started(("serve", "--port", "0", *words), env, **pipes))
        assert self.process.stderr is not None
        for line in self.process.stderr:
            told = json.loads(line)
            if told["event"] == "serving":
                self.port = int(told["url"].removesuffix("/mcp").rpartition(":")[2])
                break
        else:
            raise AssertionError("it ended before it served")
        # Whatever it logs is read away, so that a full pipe never stops it.
        self._drain = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._drain.start()
        self.key = ""
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def close(self) -> None:
        self._connection.close()
        self.process.terminate()
        self._drain.join(10)
        super().close()

    def ask(self, id: int, method: str, params: Json | None) -> tuple[list[Any], str]:
        params = {**(params or {}), "_meta": {**MODERN, **(params or {}).get("_meta", {})}}
        headers: dict[str, str | None] = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
        for field in ("name", "uri"):
            if isinstance(params.get(field), str):
                headers["mcp-name"] = params[field]
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        status, told, text = self.send(WebStep("", headers=headers, body=body))
        if told.get("content-type") == "text/event-stream" and "progressToken" not in params["_meta"]:
            # On a busy machine any call may be slow, and a slow one is answered in a stream.
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
            told = {name: value for name, value in told.items() if name not in ("cache-control", "x-accel-buffering")}
            told["content-type"] = "application/json"
        return [{"status": status, "headers": told}], text

    def send(self, step: WebStep) -> tuple[int, dict[str, str], str]:
        """Status, headers in order of name, body."""
        headers: dict[str, str | None] = {"host": f"127.0.0.1:{self.port}"}
        body = (
            step.body if isinstance(step.body, str) or step.body is None else json.dumps(step.body, ensure_ascii=False)
        )
        if step.method == "POST":
            headers |= {"accept": ACCEPT, "content-type": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        headers |= step.headers
        if body is not None and "content-length" not in headers:
            headers["content-length"] = str(len(body.encode()))
        connection = self._connection
        connection.putrequest(step.method, step.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.will_close:
            connection.close()
        told = sorted((name.lower(), value) for name, value in answer.getheaders() if name.lower() not in UNTOLD)
        return answer.status, dict(told), text

    def exchange(self, step: SocketStep) -> str:
        """All that came back until the server closed the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            for piece in step.pieces:
                connection.sendall(piece.encode())
            received = b""
            while data := connection.recv(65_536):
                received += data
        # The phrase behind a status is Python's own, and differs from version to version.
        text = re.sub(r"(?m)^(HTTP/1\.[01] \d{3}) [^\r\n]*", r"\1", received.decode())
        lines = text.replace("\r\n", "\n").split("\n")
        return "\n".join(each for each in lines if each.partition(":")[0].lower() not in UNTOLD)
