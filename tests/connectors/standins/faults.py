"""Faults by script: what the next requests meet instead of the service, and how each fault looks on the wire."""

import asyncio
import gzip
import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

from .wire import WireReply, format_head


@dataclass(frozen=True)
class Fault:
    kind: Literal["proceed", "answer", "drop", "half", "hang", "hold"]
    reply: WireReply = field(default_factory=WireReply)
    handled: bool = False  # the service has done what was asked before the fault happens


def proceed() -> Fault:
    """No fault: the request is answered as ever."""
    return Fault("proceed")


def answer(status: int, body: Any = None, headers: Mapping[str, str] | None = None) -> Fault:
    """This answer instead. A body of text or bytes is sent as it is, anything else as JSON."""
    if isinstance(body, str | bytes) or body is None:
        raw = body.encode() if isinstance(body, str) else body or b""
        return Fault("answer", WireReply(status, raw, {"Content-Type": "text/html", **(headers or {})}))
    raw = json.dumps(body).encode()
    return Fault("answer", WireReply(status, raw, {"Content-Type": "application/json", **(headers or {})}))


def drop(handled: bool = False) -> Fault:
    """The connection is closed without an answer."""
    return Fault("drop", handled=handled)


def half_body() -> Fault:
    """The service does what was asked and closes the connection in the middle of the answer."""
    return Fault("half", handled=True)


def hang(handled: bool = False) -> Fault:
    """No answer until the client goes or the stand-in closes."""
    return Fault("hang", handled=handled)


def hold() -> Fault:
    """Answered as ever, but only after `faults.release()`."""
    return Fault("hold")


def redirect(to: str, status: int = 302) -> Fault:
    return Fault("answer", WireReply(status, b"", {"Location": to}))


@cache
def _pack_zeros(size: int) -> bytes:
    return gzip.compress(b'"' + b"0" * size + b'"', compresslevel=9, mtime=0)


def gzip_bomb(size: int = 40 * 1024 * 1024) -> Fault:
    """A valid JSON text of so many bytes, which is small on the wire."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return Fault("answer", WireReply(200, _pack_zeros(size), headers))


@dataclass
class _Script:
    steps: deque[Fault]
    path: str | None
    method: str | None
    forever: bool

    def take(self, method: str, path: str, oauth: bool) -> Fault | None:
        if self.path is None and oauth:
            return None  # a refresh in between must not use up a step that was meant for the service
        if self.path is not None and not fnmatchcase(path, self.path):
            return None
        if not self.steps or self.method not in (None, method):
            return None
        return self.steps[0] if self.forever and len(self.steps) == 1 else self.steps.popleft()


class FaultScripts:
    """Steps for the next requests, in order. A script for a path (a pattern, as of a shell) goes before one for all."""

    def __init__(self) -> None:
        self._scripts: list[_Script] = []
        self._released = asyncio.Event()

    def script(
        self, steps: Sequence[Fault], path: str | None = None, method: str | None = None, forever: bool = False
    ) -> None:
        """`forever` repeats the last step."""
        self._scripts.append(_Script(deque(steps), path, method, forever))
        self._scripts.sort(key=lambda each: each.path is None)

    def clear(self) -> None:
        self._scripts.clear()

    @property
    def left(self) -> int:
        return sum(len(script.steps) for script in self._scripts)

    def take(self, method: str, path: str, oauth: bool) -> Fault:
        taken = (script.take(method, path, oauth) for script in self._scripts)
        return next((fault for fault in taken if fault is not None), proceed())

    def open_gate(self) -> None:
        """Lets held requests go; on the server's loop."""
        self._released.set()
        self._released = asyncio.Event()

    async def play(self, fault: Fault, reply: WireReply | None, writer: asyncio.StreamWriter) -> bool:
        """Writes what the client gets; says whether the connection may be used again."""
        if fault.kind == "hold":
            await self._released.wait()
        if fault.kind == "hang":
            await asyncio.Event().wait()
        if fault.kind == "drop" or reply is None:
            writer.transport.abort()
            return False
        cut = len(reply.body) // 2 if fault.kind == "half" else len(reply.body)
        writer.write(format_head(reply) + reply.body[:cut])
        await writer.drain()
        if fault.kind == "half":
            if not reply.body:  # an answer without a body breaks in its head
                writer.transport.abort()
            return False
        return True
