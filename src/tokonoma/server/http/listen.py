"""Streams of notifications over HTTP: `GET /mcp` of a session with a handshake, and `subscriptions/listen`.

A session has no state on this server except what it watches. That is kept while its stream is open, and for a minute
without one: a client subscribes before it opens its stream, and opens it again after a failure of the network. Where
several servers may stand behind one address, what sessions watch is stored for all of them, and each looks at it once a
second for the sessions whose streams it has.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Limited, Refusal
from tokonoma.server.http.asgi import PostRequest
from tokonoma.server.http.security import Headers
from tokonoma.server.http.stream import MessageQueue
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.listen import Listening
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.resource_calls import SUBSCRIBE
from tokonoma.server.mcp.watch import MAX_WATCHED, ResourceWatch

MAX_STREAMS_EACH = 50
"""Sessions that watch, and streams, of one caller."""

MAX_SESSION_ID = 256  # characters

UNUSED = 60.0
"""Seconds that a session without a stream is kept."""

SessionKey = tuple[str, str, str]
"""Session, and kind and name of its principal: a session is told only of what it watches itself."""


LOOK_EVERY = 1.0
"""Seconds between two looks at what sessions have asked other servers to watch."""


class WatchStore(Protocol):
    """What sessions watch, with the marks of these resources, for all servers of one store. Its methods wait for the
    database, so they do not run on the event loop."""

    def save(self, key: SessionKey, marks: Mapping[str, str]) -> None: ...
    def remove(self, key: SessionKey, uri: str | None = None) -> None: ...
    def load(self, keys: Sequence[SessionKey]) -> Mapping[SessionKey, Mapping[str, str]]: ...


def find_session_key(headers: Headers, who: Principal) -> SessionKey | None:
    session = headers.get(b"mcp-session-id", b"")
    return (session.decode("latin-1"), who.kind, who.name) if 0 < len(session) <= MAX_SESSION_ID else None


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> None:
    """From another thread."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        return  # the loop has ended, and every connection with it


class WatchingSession:
    """What one session watches, and its stream if it has one. Its messages come from worker threads."""

    def __init__(self, streams: "NotificationStreams", key: SessionKey, dispatcher: Dispatcher, caller: Caller) -> None:
        self.key = key
        self._streams, self._loop = streams, asyncio.get_running_loop()
        self._queue: MessageQueue | None = None
        self._waiting: dict[bytes, None] = {}  # messages for the next stream, each once
        self.watch = ResourceWatch(dispatcher, caller, self._send, self._on_end)
        self.unfollow = dispatcher.follow_access(caller, self._on_loss)

    @property
    def has_stream(self) -> bool:
        return self._queue is not None

    def open_stream(self) -> MessageQueue:
        """A session has one stream: a new one takes the place of the old one."""
        self.close_stream()
        self._queue = queue = MessageQueue()
        for message in self._waiting:
            queue.append(message, False)
        self._waiting.clear()
        return queue

    def close_stream(self, queue: MessageQueue | None = None) -> None:
        """Close this one; None: whichever is open."""
        if self._queue is not None and queue in (None, self._queue):
            self._queue.append(b"", True)
            self._queue = None

    def _send(self, message: bytes) -> None:
        _call_soon(self._loop, self._deliver, message)

    def _on_loss(self, refusal: Refusal, ended: bool) -> None:
        if ended:
            self._on_end()
        else:
            _call_soon(self._loop, self._narrow)

    def _narrow(self) -> None:
        """What waits may name what the caller no longer sees."""
        lost = bool(self._waiting)
        self._waiting.clear()
        if self._queue is not None:
            lost = self._queue.discard() or lost
        self.watch.narrow(lost)

    def _on_end(self) -> None:
        _call_soon(self._loop, self._streams.close, self.key)

    def _deliver(self, message: bytes) -> None:
        if self._queue is not None:
            self._queue.append(message, False)
        elif len(self._waiting) <= MAX_WATCHED:
            self._waiting[message] = None


class NotificationStreams:
    """All of them, at most `most`. Used on the event loop's thread only. `store`: None where one server is alone."""

    def __init__(self, dispatcher: Dispatcher, most: int, store: WatchStore | None = None) -> None:
        self._dispatcher, self._most, self.store = dispatcher, most, store
        self._looking: asyncio.Task[None] | None = None
        self._sessions: dict[SessionKey, WatchingSession] = {}
        self._listening: dict[Listening, tuple[tuple[str, str], Callable[[], None]]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()  # by kind and name of a principal

    def find_watch(self, post: PostRequest, message: Message) -> ResourceWatch | None:
        """The watch of the session of a request with a handshake; made if the request asks to watch something."""
        key = find_session_key(post.headers, post.principal)
        if message.method == SUBSCRIBE:
            if key is None:
                text = "resources/subscribe needs the Mcp-Session-Id that initialize has returned"
                raise message.error(text, rpc.INVALID_REQUEST)
            return self.open_session(key, post.caller).watch
        session = self._sessions.get(key) if key is not None else None
        return None if session is None else session.watch

    def open_session(self, key: SessionKey, caller: Caller) -> WatchingSession:
        if key not in self._sessions:
            self._count(key[1:])
            self._sessions[key] = WatchingSession(self, key, self._dispatcher, caller)
            self.close_later(key)
        return self._sessions[key]

    async def open_stream(self, key: SessionKey, caller: Caller) -> tuple[WatchingSession, MessageQueue]:
        """The stream of a session, which is told of what it has asked any server to watch."""
        session = self.open_session(key, caller)
        queue = session.open_stream()
        if self.store is not None:
            await self._look(self.store, [session])
            if self._looking is None:
                self._looking = asyncio.create_task(self._keep_looking(self.store))
        return session, queue

    async def forget(self, key: SessionKey, uri: str | None = None) -> None:
        """The session watches this no longer; None: nothing at all. Unavailable if that could not be stored."""
        if self.store is not None:
            await asyncio.to_thread(self.store.remove, key, uri)
        if uri is None:
            self.close(key)
        elif key in self._sessions:
            self._sessions[key].watch.remove(uri)

    async def _keep_looking(self, store: WatchStore) -> None:
        while open_ones := [each for each in self._sessions.values() if each.has_stream]:
            await asyncio.sleep(LOOK_EVERY)
            await self._look(store, open_ones)
        self._looking = None

    async def _look(self, store: WatchStore, sessions: Sequence[WatchingSession]) -> None:
        try:
            found = await asyncio.to_thread(store.load, [each.key for each in sessions])
        except Refusal:
            return  # a database that does not answer changes nothing
        for each in sessions:
            if each.has_stream:
                each.watch.follow(found[each.key])

    def close_later(self, key: SessionKey) -> None:
        asyncio.get_running_loop().call_later(UNUSED, self._close_unused, key)

    def close(self, key: SessionKey) -> None:
        session = self._sessions.pop(key, None)
        if session is not None:
            self._uncount(key[1:])
            session.unfollow()
            session.watch.end()
            session.close_stream()

    def listen(self, post: PostRequest, message: Message, queue: MessageQueue) -> Listening:
        """Start a `subscriptions/listen`; its messages go to the queue."""
        who = (post.principal.kind, post.principal.name)
        self._count(who)
        loop = asyncio.get_running_loop()

        def forget(listening: Listening) -> None:
            _call_soon(loop, self._forget, listening)

        listening = Listening(self._dispatcher, message, post.caller, queue.put, forget)

        def on_loss(refusal: Refusal, ended: bool) -> None:
            if ended:
                listening.finish()
            else:
                _call_soon(loop, lambda: listening.narrow(queue.discard()))

        self._listening[listening] = who, self._dispatcher.follow_access(post.caller, on_loss)
        try:
            listening.start()
        except BaseException:
            self._forget(listening)
            raise
        return listening

    def stop(self) -> None:
        for key in list(self._sessions):
            self.close(key)
        for listening in list(self._listening):
            listening.finish()
        if self._looking is not None:
            self._looking.cancel()

    def _forget(self, listening: Listening) -> None:
        found = self._listening.pop(listening, None)
        if found is not None:
            who, unfollow = found
            unfollow()
            self._uncount(who)

    def _close_unused(self, key: SessionKey) -> None:
        session = self._sessions.get(key)
        if session is not None and not session.has_stream:
            self.close(key)

    def _count(self, who: tuple[str, str]) -> None:
        if self._counts[who] >= MAX_STREAMS_EACH or self._counts.total() >= self._most:
            raise Limited("Too many streams are open. Close some, or try again in a minute.", retry_after=60)
        self._counts[who] += 1

    def _uncount(self, who: tuple[str, str]) -> None:
        self._counts[who] -= 1
        if not self._counts[who]:
            del self._counts[who]
