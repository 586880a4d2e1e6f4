"""A call under way on a connection where nothing but its answer is expected: whoever has the answer writes it."""

import asyncio
import socket
import threading
from typing import Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tokonoma.server.http.fast.send import send
from tokonoma.server.http.mcp import PostRequest
from tokonoma.server.http.responses import HttpResponse, encode_headers
from tokonoma.server.http.security import HeaderList
from tokonoma.server.http.stream import MessageQueue
from tokonoma.server.mcp.tool_call import ToolCall

_known: tuple[HeaderList, bytes] = [], b""  # headers of every response, and how a response with them begins


class Line(Protocol):
    """What a flight needs of its connection."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    lock: threading.Lock
    peer: socket.socket  # the transport's own

    @property
    def standing(self) -> HeaderList:
        """Headers of every response."""
        ...

    def adopt(self, outbox: MessageQueue) -> None:
        """See to the rest of a call that has begun."""
        ...


class Flight:
    """`put` comes from any thread, everything else from the loop's. All of it holds the connection's lock, so that no
    worker writes to a socket which the loop is using, or has closed."""

    __slots__ = ("_early", "_exchange", "_line", "_outbox", "_post", "_rest", "over")

    _post: PostRequest
    _exchange: ToolCall | None

    def __init__(self, line: Line) -> None:
        self._line = line
        self._early: list[tuple[bytes, bool]] = []  # what came before the loop took over
        self._outbox: MessageQueue | None = None  # once it has
        self._rest = b""  # of an answer that the socket did not take whole
        self.over = False  # answered, or nobody is there to be answered

    def bind(self, post: PostRequest, exchange: ToolCall) -> None:
        self._post, self._exchange = post, exchange

    def put(self, message: bytes, last: bool) -> None:
        with self._line.lock:
            if self.over:
                return
            if self._outbox is not None:
                self._outbox.put(message, last)
            elif last and message and self._post.json and not self._early:
                self._answer(message)
            else:  # progress, or the end of a stream
                self._early.append((message, last))
                self._call_loop()

    def hand_over(self) -> None:
        """Leave the rest to the loop: a stream, a slow answer, or another request has come behind this one."""
        with self._line.lock:
            if self.over or self._outbox is not None:
                return
            if self._rest:
                self._line.transport.write(self._rest)
                self._end()
                return
            assert self._exchange is not None
            self._outbox = outbox = MessageQueue()
            outbox.bind(self._post, self._exchange)
            for message, last in self._early:
                outbox.append(message, last)
        self._line.adopt(outbox)

    def lost(self) -> None:
        """The client has gone. When this returns, no worker writes to the socket any more."""
        with self._line.lock:
            exchange = self._exchange if not self.over and self._outbox is None else None
            if exchange is not None:
                self._end()
        if exchange is not None and exchange.modern:
            exchange.cancel()  # in the handshake era a lost connection is no cancellation

    def _answer(self, message: bytes) -> None:
        line, exchange = self._line, self._exchange
        assert exchange is not None
        if self._post.extra or exchange.headers:
            data = response(
                line.standing, HttpResponse(200, message, [*self._post.extra, *encode_headers(exchange.headers)])
            )
        else:
            data = b"%b%d\r\n\r\n%b" % (_usual(line.standing), len(message), message)
        try:
            sent = send(line.peer, data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            sent = len(data)  # a broken connection: the loop hears of it too
        if sent == len(data):
            self._end()
        else:
            self._rest = data[sent:]
            self._call_loop()

    def _end(self) -> None:
        self.over = True
        self._exchange = None  # it holds this flight: left alone, the ring would wait for the garbage collector

    def _call_loop(self) -> None:
        try:
            self._line.loop.call_soon_threadsafe(self.hand_over)
        except RuntimeError:
            return  # the loop has ended, and every client with it


def _usual(standing: HeaderList) -> bytes:
    """How nearly every response begins, up to its length. The headers of every response are new once a second."""
    global _known
    known, begin = _known
    if known is not standing:
        begin = response(standing, HttpResponse(200)).removesuffix(b"0\r\n\r\n")
        _known = standing, begin
    return begin


def response(standing: HeaderList, reply: HttpResponse) -> bytes:
    """The bytes of a whole response on a connection that stays open."""
    parts = [STATUS_LINE[reply.status]]
    for name, value in (*standing, *reply.headers):
        parts += (name, b": ", value, b"\r\n")
    parts += (b"\r\n", reply.content)
    return b"".join(parts)
