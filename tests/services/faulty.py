"""A service that fails by script: a real HTTP server on the loopback, on sockets, so that it can also break off."""

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

from loops import LoopThread


@dataclass
class Answer:
    """`act` instead of a whole answer: `drop` closes, `half` closes inside the body, `hang` says nothing."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"ok":true}'
    act: str = ""
    echoes: bool = False  # the body repeats what was sent, as an error's text


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FaultyServer:
    """Answers each request with the next line of `script`, and with `usual` when there is none. `/token` is a token
    endpoint that gives a new pair for the newest refresh token (with `grace`, also for the one before)."""

    def __init__(self) -> None:
        self.script: deque[Answer] = deque()
        self.usual = Answer()
        self.by_path: dict[str, Answer] = {}
        self.requests: list[Received] = []
        self.refreshes: list[dict[str, str]] = []
        self.token_answer: Answer | None = None
        self.generation, self.grace, self.expires_in = 1, False, 3600
        self.checks_tokens = False
        self.under_way = self.most_under_way = 0
        self.gate: asyncio.Event | None = None  # answers wait for it
        self.look: Callable[[], Any] = lambda: None  # called for every request; what it returned is in `looks`
        self.looks: list[Any] = []
        self.asked = threading.Semaphore(0)  # released by every request
        self._loop = LoopThread()
        self._server: Any = self._loop.run(self._listen())
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def reset(self) -> None:
        self.script.clear()
        self.by_path.clear()
        self.requests.clear()
        self.refreshes.clear()
        self.usual, self.token_answer, self.look, self.looks = Answer(), None, lambda: None, []
        self.generation, self.grace, self.expires_in, self.checks_tokens = 1, False, 3600, False
        self.under_way = self.most_under_way = 0
        self.gate, self.asked = None, threading.Semaphore(0)

    def hold(self) -> None:
        """Keep all answers back until `release`."""
        self.gate, self.asked = asyncio.Event(), threading.Semaphore(0)

    def release(self) -> None:
        assert self.gate is not None
        self._loop.call_soon(self.gate.set)

    def close(self) -> None:
        self._loop.call_soon(self._server.close)
        self._loop.close()

    async def _listen(self) -> Any:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await self._read(reader)) is not None:
                if not await self._respond(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> Received | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            return None
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        return Received(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))

    async def _respond(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open."""
        if request.path == "/token":
            answer = self._give_token(request)
            self.asked.release()
            if self.gate is not None:
                await self.gate.wait()
        else:
            self.requests.append(request)
            self.looks.append(self.look())
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            self.asked.release()
            if self.gate is not None:
                await self.gate.wait()
            answer = self._choose(request)
            await asyncio.sleep(0)
            self.under_way -= 1
        if answer.act == "hang":
            await reader.read()
            return False
        if answer.act == "drop":
            return False
        if answer.echoes:
            sent = f"{request.headers.get('authorization')} {request.body.decode()}"
            answer = replace(answer, body=json.dumps({"message": sent, "error": sent}).encode())
        length = len(answer.body) if answer.status != 204 else 0
        headers = {"content-type": "application/json", "content-length": str(length), **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        body = answer.body[: length // 2] if answer.act == "half" else answer.body[:length]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()
        return answer.act != "half"

    def _choose(self, request: Received) -> Answer:
        if self.checks_tokens and request.headers.get("authorization") != f"Bearer access-{self.generation}":
            return Answer(401, body=b'{"message":"Bad credentials"}')
        if request.path in self.by_path:
            return self.by_path[request.path]
        return self.script.popleft() if self.script else self.usual

    def _give_token(self, request: Received) -> Answer:
        text = request.body.decode()
        is_json = request.headers["content-type"].startswith("application/json")
        sent = json.loads(text) if is_json else {name: values[0] for name, values in parse_qs(text).items()}
        self.refreshes.append({**sent, "authorization": request.headers.get("authorization", "")})
        if self.token_answer is not None:
            return self.token_answer
        good = {f"refresh-{self.generation}", *([f"refresh-{self.generation - 1}"] if self.grace else [])}
        if sent["refresh_token"] not in good:
            return Answer(400, body=b'{"error":"invalid_grant"}')
        if sent["refresh_token"] == f"refresh-{self.generation}":
            self.generation += 1
        new = {"access_token": f"access-{self.generation}", "refresh_token": f"refresh-{self.generation}"}
        return Answer(body=json.dumps({**new, "expires_in": self.expires_in, "token_type": "bearer"}).encode())
