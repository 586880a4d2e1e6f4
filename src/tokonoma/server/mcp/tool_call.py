"""One running `tools/call`: sends progress while it runs, and exactly one answer, or none if it was cancelled."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tokonoma.core.call import Caller
from tokonoma.core.concurrency import CancelToken
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher, ToolRequest, ToolResult
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import modern_fields
from tokonoma.server.mcp.versions import META_CAPABILITIES, parse_trace_parent, read_progress_token, takes_structured

BURST = 8.0
PER_SECOND = 10.0

MAX_TEXT_COPY = 64 * 1024
"""Bytes of structured content that are repeated as text. A larger one would fill an agent's context twice."""

SendMessage = Callable[[bytes, bool], None]
"""A message, and whether it is the answer: the last one of its request. Called from any thread."""


_SUMMARY = (
    "The result has {size} bytes and is in structuredContent; it is not repeated here. If you see only this text, ask"
    " for less: a smaller limit or max_chars, a page at a time, or in a batch with `fields`."
)


class ProgressLimiter:
    """How often one call may send progress: a bucket of `BURST` that refills with `PER_SECOND`. The last step always
    passes."""

    __slots__ = ("_at", "_last", "_left")

    def __init__(self) -> None:
        self._left = BURST
        self._at = 0.0
        self._last = -math.inf

    def allows(self, progress: float, total: float | None, now: float | None = None) -> bool:
        """Whether to send; the protocol requires rising values, so all others are dropped."""
        if not progress > self._last or math.isinf(progress) or (total is not None and not math.isfinite(total)):
            return False
        now = time.monotonic() if now is None else now
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND)
        self._at = now
        if self._left < 1.0 and (total is None or progress < total):
            return False
        self._left = max(0.0, self._left - 1.0)
        self._last = progress
        return True


class ToolCall:
    def __init__(
        self,
        dispatcher: Dispatcher,
        message: Message,
        modern: bool,
        send: SendMessage,
        on_end: "Callable[[ToolCall], None]",
    ) -> None:
        self._message = message
        self.id = message.id
        self.size = message.size
        self._dispatcher = dispatcher
        self.modern = modern
        self._progress_token = read_progress_token(message)
        self._limiter = ProgressLimiter()
        self._send = send
        self._on_end = on_end
        self._sending = threading.Lock()  # progress is never sent after the answer
        self._answered = threading.Lock()  # acquired once, never released
        self._cancel_token: CancelToken | None = None
        self._takes_structured: bool | None = None
        self.headers: Mapping[str, str] = {}  # of the answer, once there is one

    def start(self, caller: Caller, trace: str | None = None, listening: bool = True) -> None:
        """Pass the call to the dispatcher, or raise rpc.ProtocolError. `listening`: the client can receive progress."""
        self._takes_structured = self.modern or takes_structured(caller.protocol_version)
        try:
            request = _parse_request(self._message, caller, self.modern)
            request.trace_parent = request.trace_parent or parse_trace_parent(trace)
            if listening and self._progress_token is not None:
                request.progress = self.send_progress
            self._cancel_token = self._dispatcher.start_call(request, self.finish)
        except Exception as error:
            raise rpc.to_protocol_error(self._message, error) from error
        if self._answered.locked():  # cancelled while it was starting
            self.stop()

    def finish(self, result: ToolResult) -> None:
        """Send the dispatcher's result, unless the call was cancelled."""
        self.headers = result.headers
        try:
            if not self._answered.locked():
                self._send_last(self._encode_result(result))
        finally:
            self._on_end(self)

    def send_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        with self._sending:
            if self._answered.locked() or not self._limiter.allows(progress, total):
                return
            params: dict[str, Any] = {"progressToken": self._progress_token, "progress": progress}
            if total is not None:
                params["total"] = total
            if message is not None:
                params["message"] = message
            self._send(rpc.encode_notification("notifications/progress", params), False)

    def cancel(self, last_message: bytes | None = None) -> None:
        """Stop the call without an answer. `last_message`: for a transport that has to send something."""
        if last_message is None:
            self._answered.acquire(blocking=False)
        else:
            self._send_last(last_message)
        self.stop()

    def stop(self) -> None:
        """Ask the call to end early; it still answers, unless it was cancelled."""
        if self._cancel_token is not None:
            self._cancel_token.cancel("cancelled")

    def _send_last(self, message: bytes) -> None:
        if self._answered.acquire(blocking=False):
            with self._sending:
                self._send(message, True)

    def _encode_result(self, result: ToolResult) -> bytes:
        if result.refusal is not None:
            return rpc.encode_protocol_error(rpc.to_protocol_error(self._message, result.refusal))
        value: dict[str, Any] = {"content": result.content, "isError": result.is_error}
        structured = result.structured
        if structured is not None and self._takes_structured is not False:
            value["structuredContent"] = orjson.Fragment(structured) if isinstance(structured, bytes) else structured
        if isinstance(structured, bytes):
            text = result.text
            if len(structured) > MAX_TEXT_COPY and self._takes_structured:
                text = _SUMMARY.format(size=len(structured))
            elif len(structured) > MAX_TEXT_COPY:
                value.pop("structuredContent", None)  # for a client that may not know it: once, as text
            value["content"] = [{"type": "text", "text": text}, *result.content]
        if self.modern:
            value.update(modern_fields(self._dispatcher))
            value["_meta"].update(result.meta)
        elif result.meta:
            value["_meta"] = result.meta
        try:
            return rpc.encode_result(self.id, value)
        except TypeError as error:  # a value without a JSON form
            rpc.log_fault(error, "tools/call")
            return rpc.encode_error(self.id, rpc.INTERNAL_ERROR, "Internal error")


def _parse_request(message: Message, caller: Caller, modern: bool) -> ToolRequest:
    params = message.params
    name = message.require_text("name")
    if not name:
        raise message.error("name must be a string")
    arguments = message.require_object("arguments", params.get("arguments"))
    trace_parent = parse_trace_parent(message.meta.get("traceparent"))
    request = ToolRequest(name, arguments, caller, trace_parent, bytes_in=message.size)
    if modern:
        request.capabilities = message.meta[META_CAPABILITIES]
        responses = message.require_object("inputResponses", params.get("inputResponses"))
        # Answers to questions that no tool of this server asks: checked, and otherwise ignored.
        if not all(type(each) is dict for each in responses.values()):
            raise message.error("inputResponses must contain objects")
        if type(params.get("requestState")) not in (str, type(None)):
            raise message.error("requestState must be a string")
    return request
