"""A conversation over one stream of lines (stdio): messages in, messages out, many calls at once."""

import threading
from collections.abc import Callable

from tokonoma.core.call import Caller
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.interface import Front
from tokonoma.server.mcp.message import Broken, Id, Message, is_id, oversized, parse
from tokonoma.server.mcp.methods import reply
from tokonoma.server.mcp.protocol import INVALID_REQUEST, LIMITED, META_CLIENT
from tokonoma.server.mcp.tool_call import Exchange
from tokonoma.server.mcp.versions import check_envelope, check_version, client_of, is_modern

MOST_CALLS = 4096
"""Calls under way before the next one waits: a client that floods is slowed down first, and refused only if that
does not help."""

PATIENCE = 1.0
"""Seconds that it is slowed down for: whoever waits then reads neither cancellations nor the end of input."""


class Conversation:
    """`write` takes one message and must not interleave two; it is called from any thread."""

    def __init__(
        self,
        front: Front,
        caller: Caller,
        write: Callable[[bytes], None],
        after_list: Callable[[], None] | None = None,
    ) -> None:
        self._front = front
        self._caller = caller
        self._write = write
        self._after_list = after_list
        self._calls: dict[Id, Exchange] = {}  # those that can still be cancelled
        self._open: set[Exchange] = set()  # those that have not ended
        self._changed = threading.Condition()

    def take(self, line: bytes | None) -> None:
        """One line; None for one that was too long to keep. Never raises for what the other side sent."""
        try:
            if line is None:
                raise oversized()
            message = parse(line) if line.strip() else None
            if message is None:
                return
            if message.id is None:
                self._notice(message)
            else:
                self._request(message, message.id)
        except Broken as problem:
            self._write(encode.broken(problem))

    def drain(self, seconds: float) -> bool:
        """Wait for the calls under way; False if some still run."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    def stop(self) -> None:
        """Ask the calls under way to end early. They still answer."""
        for exchange in list(self._open):
            exchange.stop()

    def _notice(self, message: Message) -> None:
        if message.method != "notifications/cancelled":
            return
        asked = message.params.get("requestId")
        exchange = self._calls.pop(asked, None) if is_id(asked) else None
        if exchange is not None:
            exchange.cancel()

    def _request(self, message: Message, id: Id) -> None:
        modern = is_modern(message)
        if modern:
            check_envelope(message)
            check_version(message)
            self._caller.client = client_of(message.meta.get(META_CLIENT)) or self._caller.client
        if message.method == "tools/call":
            self._call(message, id, modern)
            return
        self._write(reply(self._front, message, self._caller, modern))
        if message.method == "tools/list" and self._after_list is not None:
            after_list, self._after_list = self._after_list, None
            after_list()

    def _call(self, message: Message, id: Id, modern: bool) -> None:
        if id in self._calls:
            raise message.broken("A request with this id is still under way", INVALID_REQUEST)
        exchange = Exchange(self._front, message, modern, self._send, self._ended)
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._open) < MOST_CALLS, PATIENCE):
                raise message.broken(f"{MOST_CALLS} calls are under way; wait for some to end", LIMITED)
            self._open.add(exchange)
        self._calls[id] = exchange
        try:
            exchange.begin(self._caller)
        except Broken:
            self._ended(exchange)
            raise

    def _send(self, message: bytes, last: bool) -> None:
        self._write(message)

    def _ended(self, exchange: Exchange) -> None:
        if exchange.id is not None and self._calls.get(exchange.id) is exchange:
            self._calls.pop(exchange.id, None)
        with self._changed:
            self._open.discard(exchange)
            self._changed.notify_all()
