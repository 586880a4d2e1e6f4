"""One running call (`tools/call`, or another method that takes its way): sends progress while it runs, and exactly one
answer, or none if it was cancelled."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tokonoma.core.call import Caller
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Refusal
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import TOOL_CALL, Dispatcher, ToolRequest, ToolResult
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import modern_fields
from tokonoma.server.mcp.resource_calls import add_cache_fields, parse_resource_request, to_resource_error
from tokonoma.server.mcp.versions import META_CAPABILITIES, parse_trace_parent, read_progress_token, takes_structured
from tokonoma.server.mcp.watch import read_value

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
    """`convert` makes the result of another method than `tools/call` from what the call has returned."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        message: Message,
        modern: bool,
        send: SendMessage,
        on_end: "Callable[[ToolCall], None]",
        convert: Callable[[dict[str, Any]], dict[str, Any]] = lambda value: value,
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
        self._convert = convert
        self._sending = threading.Lock()  # progress is never sent after the answer
        self._answered = threading.Lock()  # acquired once, never released
        self._cancel_token: CancelToken | None = None
        self._takes_structured: bool | None = None
        self.headers: Mapping[str, str] = {}  # of the answer, once there is one
        self.error_code: int | None = None  # of another method than `tools/call` that has failed

    def start(self, caller: Caller, trace: str | None = None, listening: bool = True) -> None:
        """Pass the call to the dispatcher, or raise rpc.ProtocolError. `listening`: the client can receive progress."""
        self._takes_structured = self.modern or takes_structured(caller.protocol_version)
        try:
            if self._message.method == TOOL_CALL:
                request = _parse_request(self._message, caller, self.modern)
            else:
                request = parse_resource_request(self._message, caller)
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
        try:
            if not self._answered.locked():
                self.headers = result.headers
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

    def refuse(self, refusal: Refusal, headers: Mapping[str, str] | None = None) -> None:
        """Stop the call and answer with this error: its caller may no longer use it."""
        if self._answered.acquire(blocking=False):
            failure = rpc.to_protocol_error(self._message, refusal)
            self.error_code, self.headers = failure.code, headers or {}
            with self._sending:
                self._send(rpc.encode_protocol_error(failure), True)
        self.stop()

    def stop(self) -> None:
        """Ask the call to end early; it still answers, unless it was cancelled."""
        if self._cancel_token is not None:
            self._cancel_token.cancel("cancelled")

    def _send_last(self, message: bytes) -> None:
        if self._answered.acquire(blocking=False):
            with self._sending:
                self._send(message, True)

    def _encode_value(self, result: ToolResult) -> bytes:
        """The result of another method than `tools/call`: the value itself."""
        try:
            if result.refusal is not None:
                raise result.refusal
            value = self._convert(read_value(result))
            value.pop("mark", None)
            if self.modern:
                value = {**add_cache_fields(self._message.method, value), **modern_fields(self._dispatcher)}
            if value and result.meta:  # who wrote what it holds
                value["_meta"] = {**value.get("_meta", {}), **result.meta}
            return rpc.encode_result(self.id, value)
        except Exception as error:
            failure = to_resource_error(self._message, error, self.modern)
            self.error_code = failure.code
            return rpc.encode_protocol_error(failure)

    def _build_question(self, result: ToolResult) -> dict[str, Any]:
        """The call has not run: the client asks its user, and sends it again."""
        fields = modern_fields(self._dispatcher)
        fields["_meta"].update(result.meta)
        return {
            **fields,
            "resultType": "input_required",
            "inputRequests": result.asks,
            "requestState": result.request_state,
        }

    def _encode_result(self, result: ToolResult) -> bytes:
        if self._message.method != TOOL_CALL:
            return self._encode_value(result)
        if result.refusal is not None:
            return rpc.encode_protocol_error(rpc.to_protocol_error(self._message, result.refusal))
        if result.asks:
            return rpc.encode_result(self.id, self._build_question(result))
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
        if not all(type(each) is dict for each in responses.values()):
            raise message.error("inputResponses must contain objects")
        if type(params.get("requestState")) not in (str, type(None)):
            raise message.error("requestState must be a string")
        request.input_responses, request.request_state = responses, params.get("requestState") or ""
    return request
