"""Reading a request's body: never more of it than the limit, never longer than is decent."""

import asyncio
from dataclasses import dataclass

from tokonoma.server.http.responses import Event, Receive
from tokonoma.server.http.security import CLOSE, Headers, HttpError
from tokonoma.server.http.timers import alarms
from tokonoma.server.mcp.protocol import MAX_BYTES


@dataclass(frozen=True, slots=True)
class HttpLimits:
    body: int = MAX_BYTES  # bytes
    body_seconds: float = 30.0  # for the whole body to come
    stream_after: float = 5.0  # seconds of silence before an answer becomes a stream
    beat: float = 15.0  # seconds between two comments in a silent stream


async def read_body(receive: Receive, headers: Headers, limits: HttpLimits) -> bytes:
    """The body; Halt if it is too large, too slow, or breaks off."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared[:20]) > limits.body:
        raise _too_large_error(limits)
    task = asyncio.current_task()
    assert task is not None
    watch = alarms()
    alarm = watch.set(limits.body_seconds, task.cancel)
    try:
        first = await receive()
        if first["type"] == "http.request" and not first.get("more_body"):
            return check_size(first.get("body", b""), limits)
        return await _collect(first, receive, limits)
    except asyncio.CancelledError:
        if alarm.rang and task.uncancel() == 0:
            raise HttpError(408, "The body did not come in time", CLOSE) from None
        raise
    finally:
        watch.drop(alarm)


async def _collect(part: Event, receive: Receive, limits: HttpLimits) -> bytes:
    collected = bytearray()
    while True:
        if part["type"] != "http.request":
            raise HttpError(400, "The body broke off")
        collected += part.get("body", b"")
        if len(collected) > limits.body:
            raise _too_large_error(limits)
        if not part.get("more_body"):
            return bytes(collected)
        part = await receive()


def check_size(raw: bytes, limits: HttpLimits) -> bytes:
    """A body that has come whole; Halt if it is too large."""
    if len(raw) > limits.body:
        raise _too_large_error(limits)
    return raw


def _too_large_error(limits: HttpLimits) -> HttpError:
    return HttpError(413, f"Message larger than {limits.body} bytes", CLOSE)
