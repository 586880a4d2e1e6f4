"""HTTP/1.1 on a bare socket: a server that can also break the rules, which no finished server lets one do."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http.client import responses
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from loops import LoopThread

MOST_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class WireRequest:
    method: str
    path: str  # as it was sent, still quoted
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def read_form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


@dataclass(frozen=True)
class WireReply:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def make_json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> WireReply:
    body = json.dumps(value, ensure_ascii=False).encode()
    return WireReply(status, body, {"Content-Type": "application/json; charset=utf-8", **(headers or {})})


def format_head(reply: WireReply) -> bytes:
    headers = dict(reply.headers)
    if reply.status != 204:
        headers.setdefault("Content-Length", str(len(reply.body)))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}\r\n{lines}\r\n".encode()


async def read_request(reader: asyncio.StreamReader) -> WireRequest | None:
    """The next request of a connection; None when the client has closed it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = b""
    if length := int(headers.get("content-length", "0")):
        body = await reader.readexactly(min(length, MOST_BYTES))
    elif headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readline()).strip() or b"0", 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    split = urlsplit(target)
    return WireRequest(method, split.path, tuple(parse_qsl(split.query, keep_blank_values=True)), headers, body)


Answerer = Callable[[WireRequest, asyncio.StreamWriter], Awaitable[bool]]


class WireServer:
    """A listening socket on the loopback, with its event loop in a thread of its own."""

    def __init__(self, answer: Answerer) -> None:
        self._answer = answer  # writes an answer; says whether the connection may be used again
        self._loop = LoopThread()
        listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = listening.getsockname()[1]
        # On its own loop: a test may be running one, too.
        started = asyncio.start_server(self._accept, sock=listening)
        self._server = self._loop.run(started)

    def call_soon(self, what: Callable[[], None]) -> None:
        self._loop.call_soon(what)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._answer(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the stand-in closes
        finally:
            writer.close()

    def close(self) -> None:
        self._loop.call_soon(self._server.close)
        self._loop.close()
