"""Sending the answer of a call: one JSON body if it comes soon, a stream of events if it takes longer; and streams of
notifications."""

import asyncio
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary

from tokonoma.core.concurrency import do_nothing
from tokonoma.server.http.asgi import (
    STREAM_HEADERS,
    HttpLimits,
    HttpResponse,
    PostRequest,
    Receive,
    Send,
    choose_status,
    format_event,
)
from tokonoma.server.http.security import HeaderList
from tokonoma.server.mcp.tool_call import ToolCall

QUICK = 0.05
"""Seconds. Most calls end sooner; only a slower one gets a task that watches whether its client is still there."""


class _LoopQueue:
    """Messages from worker threads to one event loop. Waking a loop is a system call, so one wake-up serves all
    messages that wait."""

    def __init__(self) -> None:
        self._items: deque[tuple[MessageQueue, bytes, bool]] = deque()
        self._woken = False

    def put(self, queue: "MessageQueue", message: bytes, last: bool) -> None:
        self._items.append((queue, message, last))
        # Checked after the append: the loop clears the flag before it empties the queue.
        if not self._woken:
            self._woken = True
            try:
                queue.loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:
                return  # the loop has ended, and every connection with it

    def _deliver(self) -> None:
        self._woken = False
        while self._items:
            queue, message, last = self._items.popleft()
            queue.append(message, last)


_loop_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopQueue] = WeakKeyDictionary()


class MessageQueue:
    """The messages of one call, from worker threads to the coroutine that sends them."""

    __slots__ = ("_items", "_loop_queue", "_waiting", "disconnected", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        loop_queue = _loop_queues.get(self.loop)
        if loop_queue is None:
            loop_queue = _loop_queues[self.loop] = _LoopQueue()
        self._loop_queue = loop_queue
        self._items: deque[tuple[bytes, bool]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self.disconnected = False

    def put(self, message: bytes, last: bool) -> None:
        """Add a message, from any thread."""
        self._loop_queue.put(self, message, last)

    def append(self, message: bytes, last: bool) -> None:
        """Add a message, on the loop's thread."""
        self._items.append((message, last))
        self._wake()

    def discard(self) -> bool:
        """Drop what waits to be sent, on the loop's thread; whether there was something."""
        kept = [item for item in self._items if item[1]]
        had_more = len(kept) < len(self._items)
        self._items = deque(kept)
        return had_more

    def disconnect(self) -> None:
        self.disconnected = True
        self._wake()

    async def get(self, seconds: float | None) -> tuple[bytes, bool] | None:
        """Return the next message and whether it is the last; None on timeout or if the client has disconnected."""
        if not self._items and not self.disconnected:
            self._waiting = self.loop.create_future()
            timer = None if seconds is None else self.loop.call_later(seconds, self._wake)
            try:
                await self._waiting
            finally:
                if timer is not None:
                    timer.cancel()
        return self._items.popleft() if self._items else None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def deliver(
    call: ToolCall,
    post: PostRequest,
    queue: MessageQueue,
    limits: HttpLimits,
    receive: Receive,
    send: Send,
    follow: Callable[[], Callable[[], None]],
) -> None:
    """Send the messages of a call until its last one; on disconnect, cancel it in the stateless era. `follow` ends one
    that takes longer if its caller may no longer use it."""
    unfollow = do_nothing
    try:
        item = await queue.get(QUICK)
        is_running = item is None or not item[1]  # progress may come within that time too
        unfollow = follow() if is_running else do_nothing
        # In the handshake era a lost connection does not cancel.
        watcher = asyncio.create_task(_watch(receive, call.cancel, queue)) if is_running and call.modern else None
        try:
            if item is None and post.json:
                item = await queue.get(limits.stream_after if post.sse else None)
            if post.json and item is not None and item[1] and item[0]:
                extra = [(name.encode(), value.encode()) for name, value in call.headers.items()]
                await HttpResponse(choose_status(call.error_code, call.modern), item[0], [*post.cors, *extra]).send(
                    send
                )
            elif not queue.disconnected:
                await _send_events(queue, post.cors, limits.beat, item, send)
        finally:
            if watcher is not None:
                watcher.cancel()
    except BaseException:
        call.cancel()  # the server is being shut down by force
        raise
    finally:
        unfollow()


async def deliver_notifications(
    queue: MessageQueue,
    cors: HeaderList,
    beat: float,
    receive: Receive,
    send: Send,
    on_gone: Callable[[], None],
    item: tuple[bytes, bool] | None = None,
) -> None:
    """Send the messages of a stream, from `item` on, until its last one or until its client has gone."""
    watcher = asyncio.create_task(_watch(receive, on_gone, queue))
    try:
        await _send_events(queue, cors, beat, item, send)
    except BaseException:
        on_gone()
        raise
    finally:
        watcher.cancel()


async def _send_events(
    queue: MessageQueue, cors: HeaderList, beat: float, item: tuple[bytes, bool] | None, send: Send
) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *cors]})
    while not queue.disconnected:
        last = item is not None and item[1]
        chunk = b": still working\n\n" if item is None else format_event(item[0])
        await send({"type": "http.response.body", "body": chunk, "more_body": not last})
        if last:
            return
        item = await queue.get(beat)


async def _watch(receive: Receive, on_gone: Callable[[], None], queue: MessageQueue) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    on_gone()
    queue.disconnect()
