"""Reading a request's body, in bounded time and memory."""

import asyncio

from tokonoma.server.http.asgi import Event, HttpLimits, Receive
from tokonoma.server.http.security import CLOSE, Headers, HttpError
from tokonoma.server.mcp import message as rpc

SMALL = 64 * 1024
"""Bytes of a body that is not counted: large requests must not keep out small ones."""

_STEP = 2**20  # a body without a declared length gets its room in such pieces


class BodyMemory:
    """The room for all request bodies together. Used on the event loop's thread only."""

    def __init__(self, limits: HttpLimits) -> None:
        self._free, self._seconds = limits.bodies, limits.bodies_seconds
        self._most = limits.bodies
        self._waiters: list[asyncio.Future[None]] = []

    async def take(self, size: int) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                # A body larger than all the room there is gets it alone.
                while size > self._free and self._free < self._most:
                    waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiters.append(waiter)
                    await waiter
        except TimeoutError:
            message = "The server is busy with other large requests. Try again in a second."
            raise HttpError(503, message, (b"retry-after", b"1"), CLOSE, code=rpc.LIMITED) from None
        self._free -= size

    def give_back(self, size: int) -> None:
        self._free += size
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class BodyShare:
    """What one request holds of it, from before its body is read until the call has ended."""

    __slots__ = ("_held", "_memory")

    def __init__(self, memory: BodyMemory) -> None:
        self._memory, self._held = memory, 0

    async def grow(self, size: int) -> None:
        """Make sure that there is room for a body of this size; HttpError if there is none for too long."""
        if size > max(SMALL, self._held):
            more = -(-size // _STEP) * _STEP - self._held
            await self._memory.take(more)
            self._held += more

    def release(self) -> None:
        if self._held:
            self._memory.give_back(self._held)
            self._held = 0


class EarlyBody:
    """Receives a body whose first part is taken at once, while its sender is still looked up. A client may send a call
    and leave: then the part would be gone. It costs no memory, because it has arrived anyway."""

    __slots__ = ("_first", "_receive")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._first: asyncio.Future[Event] | None = asyncio.ensure_future(receive())

    async def __call__(self) -> Event:
        first, self._first = self._first, None
        return await (self._receive() if first is None else first)

    def drop(self) -> None:
        if self._first is not None:
            self._first.cancel()


async def read_body(receive: Receive, headers: Headers, limits: HttpLimits, share: BodyShare) -> bytes:
    """Return the body; HttpError if it is too large, too slow, or breaks off, or if there is no room for it."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared[:20]) > limits.body:
        raise _too_large_error(limits)
    if declared.isdigit():
        await share.grow(int(declared))
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                event = await receive()
                if event["type"] != "http.request":
                    raise HttpError(400, "The request body is incomplete")
                part: bytes = event.get("body", b"")
                size += len(part)
                if size > limits.body:
                    raise _too_large_error(limits)
                await share.grow(size)
                parts.append(part)
                if not event.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise HttpError(408, "The request body did not arrive in time", CLOSE) from None


def _too_large_error(limits: HttpLimits) -> HttpError:
    return HttpError(413, f"The message is larger than {limits.body} bytes", CLOSE)
