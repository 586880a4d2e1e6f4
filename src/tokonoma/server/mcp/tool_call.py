"""One `tools/call` on its way: told of progress while it runs, answered exactly once, or never if it was cancelled."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

import orjson

from tokonoma.core.call import Caller
from tokonoma.core.concurrency import CancelToken
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import log_fault, to_protocol_error
from tokonoma.server.mcp.interface import Dispatcher, ToolRequest, ToolResult
from tokonoma.server.mcp.message import Message, RequestId
from tokonoma.server.mcp.methods import modern_fields
from tokonoma.server.mcp.progress import ProgressLimiter
from tokonoma.server.mcp.protocol import INTERNAL_ERROR
from tokonoma.server.mcp.versions import capabilities_of, parse_trace_parent, read_progress_token

SendMessage = Callable[[bytes, bool], None]
"""A message, and whether it is the answer: the last one of its request. Called from any thread."""


class ToolCall:
    __slots__ = (
        "_answered",
        "_ended",
        "_front",
        "_message",
        "_pace",
        "_send",
        "_sending",
        "_stop",
        "_token",
        "headers",
        "modern",
    )

    def __init__(
        self, front: Dispatcher, message: Message, modern: bool, send: SendMessage, ended: "Callable[[ToolCall], None]"
    ) -> None:
        self._message = message
        self._front = front
        self.modern = modern
        self._token = read_progress_token(message)
        self._pace = None if self._token is None else ProgressLimiter()
        self._send = send
        self._ended = ended
        self._sending = threading.Lock()  # progress never overtakes the answer
        self._answered = threading.Lock()  # taken once, never given back
        self._stop: CancelToken | None = None
        self.headers: Mapping[str, str] = {}  # of the answer, once there is one

    @property
    def id(self) -> RequestId | None:
        return self._message.id

    def start(self, caller: Caller, traced: str | None = None, listening: bool = True) -> None:
        """Hand the call to the front; raises Broken. `listening`: whether the client can receive progress."""
        try:
            order = _parse_request(self._message, caller, self.modern)
            order.trace_parent = order.trace_parent or parse_trace_parent(traced)
            if listening and self._token is not None:
                order.progress = self.send_progress
            self._stop = self._front.start_call(order, self.finish)
        except Exception as error:
            raise to_protocol_error(self._message, error) from error
        if self._answered.locked():  # cancelled while it was being started
            self.stop()

    def finish(self, answer: ToolResult) -> None:
        """The front has the answer."""
        self.headers = answer.headers
        try:
            if not self._answered.locked():
                self._send_result(self._encode_result(answer))
        finally:
            self._ended(self)

    def send_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        with self._sending:
            if self._answered.locked() or self._pace is None or not self._pace.allows(progress, total):
                return
            params: dict[str, Any] = {"progressToken": self._token, "progress": progress}
            if total is not None:
                params["total"] = total
            if message is not None:
                params["message"] = message
            self._send(encode.encode_notification("notifications/progress", params), False)

    def cancel(self, last_words: bytes | None = None) -> None:
        """The client no longer wants the answer. `last_words`: for a transport that must say something."""
        if self._answered.acquire(blocking=False) and last_words is not None:
            with self._sending:
                self._send(last_words, True)
        self.stop()

    def stop(self) -> None:
        """Ask the call to end early; it still answers, unless it was cancelled."""
        if self._stop is not None:
            self._stop.cancel("cancelled")

    def _send_result(self, message: bytes) -> None:
        if self._answered.acquire(blocking=False):
            with self._sending:
                self._send(message, True)

    def _encode_result(self, answer: ToolResult) -> bytes:
        if answer.refusal is not None:
            return encode.encode_protocol_error(to_protocol_error(self._message, answer.refusal))
        try:
            return encode.encode_result(self.id, _build_result(self._front, answer, self.modern))
        except (TypeError, ValueError) as error:  # a value that has no JSON form
            log_fault(error, "tools/call")
            return encode.encode_error(self.id, INTERNAL_ERROR, "Internal error")


def _parse_request(message: Message, caller: Caller, modern: bool) -> ToolRequest:
    params = message.params
    name = params.get("name")
    if type(name) is not str or not name:
        raise message.error("name must be a string")
    arguments = _read_object(message, "arguments")
    order = ToolRequest(
        name, arguments, caller, parse_trace_parent(message.meta.get("traceparent")), bytes_in=message.size
    )
    if modern:
        order.capabilities = capabilities_of(message)
        order.inputs = _read_object(message, "inputResponses")
        if order.inputs and not all(type(each) is dict for each in order.inputs.values()):
            raise message.error("inputResponses must hold objects")
        order.state = params.get("requestState")
        if order.state is not None and type(order.state) is not str:
            raise message.error("requestState must be a string")
    return order


def _read_object(message: Message, field: str) -> dict[str, Any]:
    value = message.params.get(field)
    if value is None:
        return {}
    if type(value) is not dict:
        raise message.error(f"{field} must be an object")
    return cast("dict[str, Any]", value)


def _build_result(front: Dispatcher, answer: ToolResult, modern: bool) -> dict[str, Any]:
    if answer.asks is not None or answer.state is not None:
        return _question(front, answer, modern)
    value: dict[str, Any] = {"content": answer.content, "isError": answer.is_error}
    if answer.structured is not None:
        structured = answer.structured
        value["structuredContent"] = orjson.Fragment(structured) if type(structured) is bytes else structured
    return _add_meta(front, value, answer, modern)


def _question(front: Dispatcher, answer: ToolResult, modern: bool) -> dict[str, Any]:
    if not modern:
        raise ValueError("a client of the handshake era cannot be asked")
    value: dict[str, Any] = {}
    if answer.asks is not None:
        value["inputRequests"] = answer.asks
    if answer.state is not None:
        value["requestState"] = answer.state
    return {**_add_meta(front, value, answer, modern), "resultType": "input_required"}


def _add_meta(front: Dispatcher, value: dict[str, Any], answer: ToolResult, modern: bool) -> dict[str, Any]:
    if modern:
        value.update(modern_fields(front))
        value["_meta"].update(answer.meta)
    elif answer.meta:
        value["_meta"] = answer.meta
    return value
