"""How the answer to a call travels: as one JSON body if it comes soon, as a stream of events if it takes its time."""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

from tokonoma.server.http.body import HttpLimits
from tokonoma.server.http.mcp import PostRequest
from tokonoma.server.http.responses import STREAM_HEADERS, HttpResponse, Receive, Send, encode_headers, format_event
from tokonoma.server.http.timers import alarms
from tokonoma.server.mcp.tool_call import ToolCall

QUICK = 0.05
"""Most calls are over by then; only a slower one costs a task that watches whether its client is still there."""


class _LoopQueue:
    """What worker threads have for one loop. Waking a loop is a system call: it is woken once for all that waits."""

    def __init__(self) -> None:
        self._items: deque[tuple[MessageQueue, bytes, bool]] = deque()
        self._woken = False

    def put(self, outbox: "MessageQueue", message: bytes, last: bool) -> None:
        self._items.append((outbox, message, last))
        # Looked at after the item is in: whoever has woken the loop has not begun to empty it before that.
        if not self._woken:
            self._woken = True
            try:
                outbox.loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:
                return  # the loop has ended, and every client with it

    def _deliver(self) -> None:
        self._woken = False
        while self._items:
            outbox, message, last = self._items.popleft()
            outbox.append(message, last)


_mails: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopQueue] = WeakKeyDictionary()


class MessageQueue:
    """From worker threads to the one coroutine that sends."""

    __slots__ = ("_alarms", "_items", "_mail", "_waiting", "exchange", "left", "loop", "post")

    post: PostRequest
    exchange: ToolCall

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        mail = _mails.get(self.loop)
        if mail is None:
            mail = _mails[self.loop] = _LoopQueue()
        self._mail = mail
        self._alarms = alarms()
        self._items: deque[tuple[bytes, bool]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self.left = False  # the client has gone

    def bind(self, post: PostRequest, exchange: ToolCall) -> None:
        self.post, self.exchange = post, exchange

    def put(self, message: bytes, last: bool) -> None:
        self._mail.put(self, message, last)

    def disconnect(self) -> None:
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

    def append(self, message: bytes, last: bool) -> None:
        self._items.append((message, last))
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def deliver(outbox: MessageQueue, limits: HttpLimits, receive: Receive, send: Send) -> None:
    """See a call through to its end, whatever becomes of its client."""
    exchange = outbox.exchange
    try:
        item = await outbox.get(QUICK)
        # In the handshake era a lost connection is no cancellation.
        if item is None and exchange.modern:
            watcher = asyncio.create_task(_watch_disconnect(receive, outbox))
            try:
                await _send_rest(outbox, limits, item, send)
            finally:
                watcher.cancel()
        else:
            await _send_rest(outbox, limits, item, send)
    except BaseException:
        exchange.cancel()  # this server is being shut down with force
        raise


async def _send_rest(outbox: MessageQueue, limits: HttpLimits, item: tuple[bytes, bool] | None, send: Send) -> None:
    post = outbox.post
    if item is None and post.json:
        item = await outbox.get(limits.stream_after if post.sse else None)
    if post.json and item is not None and item[1] and item[0]:
        await HttpResponse(200, item[0], [*post.extra, *encode_headers(outbox.exchange.headers)]).send(send)
    elif not outbox.left:
        await _send_events(outbox, limits.beat, item, send)


async def _send_events(outbox: MessageQueue, beat: float, item: tuple[bytes, bool] | None, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *outbox.post.extra]})
    while not outbox.left:
        last = item is not None and item[1]
        chunk = b": still working\n\n" if item is None else format_event(item[0])
        await send({"type": "http.response.body", "body": chunk, "more_body": not last})
        if last:
            return
        item = await outbox.get(beat)


async def _watch_disconnect(receive: Receive, outbox: MessageQueue) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    outbox.exchange.cancel()
    outbox.disconnect()
