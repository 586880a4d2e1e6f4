"""How the answer to a call travels: as one JSON body if it comes soon, as a stream of events if it takes its time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from weakref import WeakKeyDictionary

from tokonoma.edge.alarms import alarms
from tokonoma.edge.http_guard import Pairs
from tokonoma.edge.wire.exchange import Exchange

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

QUICK = 0.05
"""Most calls are over by then; only a slower one costs a task that watches whether its client is still there."""


class _Mail:
    """What worker threads have for one loop. Waking a loop is a system call: it is woken once for all that waits."""

    def __init__(self) -> None:
        self._items: deque[tuple[Outbox, bytes, bool]] = deque()
        self._woken = False

    def put(self, outbox: "Outbox", message: bytes, last: bool) -> None:
        self._items.append((outbox, message, last))
        # Looked at after the item is in: whoever has woken the loop has not begun to empty it before that.
        if not self._woken:
            self._woken = True
            try:
                outbox.loop.call_soon_threadsafe(self._delivered)
            except RuntimeError:
                return  # the loop has ended, and every client with it

    def _delivered(self) -> None:
        self._woken = False
        while self._items:
            outbox, message, last = self._items.popleft()
            outbox.arrived(message, last)


_mails: WeakKeyDictionary[asyncio.AbstractEventLoop, _Mail] = WeakKeyDictionary()


class Outbox:
    """From worker threads to the one coroutine that sends."""

    __slots__ = ("_alarms", "_items", "_mail", "_waiting", "left", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        mail = _mails.get(self.loop)
        if mail is None:
            mail = _mails[self.loop] = _Mail()
        self._mail = mail
        self._alarms = alarms()
        self._items: deque[tuple[bytes, bool]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self.left = False  # the client has gone

    def put(self, message: bytes, last: bool) -> None:
        self._mail.put(self, message, last)

    def leave(self) -> None:
        self.left = True
        self._wake()

    async def get(self, seconds: float | None) -> tuple[bytes, bool] | None:
        """The next message and whether it is the last; None when the time is over or the client has gone."""
        if not self._items and not self.left:
            self._waiting = self.loop.create_future()
            alarm = None if seconds is None else self._alarms.set(seconds, self._wake)
            try:
                await self._waiting
            finally:
                if alarm is not None:
                    self._alarms.drop(alarm)
        return self._items.popleft() if self._items else None

    def arrived(self, message: bytes, last: bool) -> None:
        self._items.append((message, last))
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class Delivery:
    """One answer on its way. `stream_after` seconds of silence make it a stream; `beat` seconds, a comment in it."""

    def __init__(self, send: Send, extra: Pairs, *, json: bool, sse: bool, stream_after: float, beat: float) -> None:
        self._send = send
        self._extra = extra
        self._json = json
        self._sse = sse
        self._stream_after = stream_after
        self._beat = beat

    async def run(self, outbox: Outbox, exchange: Exchange, receive: Receive | None) -> None:
        """`receive`: given where a client that goes away cancels its call."""
        item = await outbox.get(QUICK)
        if item is None and receive is not None:
            watcher = asyncio.create_task(_watch(receive, outbox, exchange))
            try:
                await self._rest(outbox, exchange, item)
            finally:
                watcher.cancel()
        else:
            await self._rest(outbox, exchange, item)

    async def _rest(self, outbox: Outbox, exchange: Exchange, item: tuple[bytes, bool] | None) -> None:
        if item is None and self._json:
            item = await outbox.get(self._stream_after if self._sse else None)
        if self._json and item is not None and item[1] and item[0]:
            more = [(name.encode(), value.encode()) for name, value in exchange.headers.items()]
            await body(self._send, 200, item[0], [*self._extra, *more])
        elif not outbox.left:
            await self._events(outbox, item)

    async def _events(self, outbox: Outbox, item: tuple[bytes, bool] | None) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": [*_STREAM, *self._extra]})
        while not outbox.left:
            last = item is not None and item[1]
            chunk = b": still working\n\n" if item is None else event(item[0])
            await self._send({"type": "http.response.body", "body": chunk, "more_body": not last})
            if last:
                return
            item = await outbox.get(self._beat)


async def _watch(receive: Receive, outbox: Outbox, exchange: Exchange) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    exchange.cancel()
    outbox.leave()


def event(message: bytes) -> bytes:
    """One message in a stream; an empty one ends a request that was cancelled, and is no message."""
    return b"event: message\ndata: " + message + b"\n\n" if message else b": cancelled\n\n"


async def body(send: Send, status: int, content: bytes, extra: Pairs, kind: bytes = b"application/json") -> None:
    """One complete response."""
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(content)), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


_STREAM: Pairs = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would otherwise keep events back
]
