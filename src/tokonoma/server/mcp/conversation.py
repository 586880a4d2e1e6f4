"""A conversation over one stream of lines (stdio): messages in, messages out, many calls at once."""

import threading
from collections.abc import Callable

from tokonoma.core.call import Caller
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import Message, ProtocolError, RequestId, is_id, oversized_error, parse_message
from tokonoma.server.mcp.methods import answer_request
from tokonoma.server.mcp.protocol import INVALID_REQUEST, LIMITED, META_CLIENT
from tokonoma.server.mcp.tool_call import ToolCall
from tokonoma.server.mcp.versions import check_envelope, check_version, format_client, is_modern

MAX_CALLS = 4096
"""Calls under way before the next one waits: a client that floods is slowed down first, and refused only if that
does not help."""

MAX_WAIT = 1.0
"""Seconds that it is slowed down for: whoever waits then reads neither cancellations nor the end of input."""


class StdioSession:
    """`write` takes one message and must not interleave two; it is called from any thread."""

    def __init__(
        self,
        front: Dispatcher,
        caller: Caller,
        write: Callable[[bytes], None],
        after_list: Callable[[], None] | None = None,
    ) -> None:
        self._front = front
        self._caller = caller
        self._write = write
        self._after_list = after_list
        self._calls: dict[RequestId, ToolCall] = {}  # those that can still be cancelled
        self._open: set[ToolCall] = set()  # those that have not ended
        self._changed = threading.Condition()

    def handle_line(self, line: bytes | None) -> None:
        """One line; None for one that was too long to keep. Never raises for what the other side sent."""
        try:
            if line is None:
                raise oversized_error()
            message = parse_message(line) if line.strip() else None
            if message is None:
                return
            if message.id is None:
                self._handle_notification(message)
            else:
                self._handle_request(message, message.id)
        except ProtocolError as problem:
            self._write(encode.encode_protocol_error(problem))

    def drain(self, seconds: float) -> bool:
        """Wait for the calls under way; False if some still run."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    def stop(self) -> None:
        """Ask the calls under way to end early. They still answer."""
        for exchange in list(self._open):
            exchange.stop()

    def _handle_notification(self, message: Message) -> None:
        if message.method != "notifications/cancelled":
            return
        asked = message.params.get("requestId")
        exchange = self._calls.pop(asked, None) if is_id(asked) else None
        if exchange is not None:
            exchange.cancel()

    def _handle_request(self, message: Message, id: RequestId) -> None:
        modern = is_modern(message)
        if modern:
            check_envelope(message)
            check_version(message)
            self._caller.client = format_client(message.meta.get(META_CLIENT)) or self._caller.client
        if message.method == "tools/call":
            self._start_call(message, id, modern)
            return
        self._write(answer_request(self._front, message, self._caller, modern))
        if message.method == "tools/list" and self._after_list is not None:
            after_list, self._after_list = self._after_list, None
            after_list()

    def _start_call(self, message: Message, id: RequestId, modern: bool) -> None:
        if id in self._calls:
            raise message.error("A request with this id is still under way", INVALID_REQUEST)
        exchange = ToolCall(self._front, message, modern, self._send, self._on_call_end)
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._open) < MAX_CALLS, MAX_WAIT):
                raise message.error(f"{MAX_CALLS} calls are under way; wait for some to end", LIMITED)
            self._open.add(exchange)
        self._calls[id] = exchange
        try:
            exchange.start(self._caller)
        except ProtocolError:
            self._on_call_end(exchange)
            raise

    def _send(self, message: bytes, last: bool) -> None:
        self._write(message)

    def _on_call_end(self, exchange: ToolCall) -> None:
        if exchange.id is not None and self._calls.get(exchange.id) is exchange:
            self._calls.pop(exchange.id, None)
        with self._changed:
            self._open.discard(exchange)
            self._changed.notify_all()
