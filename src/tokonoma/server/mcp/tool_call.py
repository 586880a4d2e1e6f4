"""One `tools/call` on its way: told of progress while it runs, answered exactly once, or never if it was cancelled."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

import orjson

from tokonoma.core.call import Caller
from tokonoma.core.cancellation import Stop
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import fault, refused
from tokonoma.server.mcp.interface import Answer, Front, Order
from tokonoma.server.mcp.message import Id, Message
from tokonoma.server.mcp.methods import complete
from tokonoma.server.mcp.progress import Pace
from tokonoma.server.mcp.protocol import INTERNAL_ERROR
from tokonoma.server.mcp.versions import capabilities_of, progress_token, trace_parent

Send = Callable[[bytes, bool], None]
"""A message, and whether it is the answer: the last one of its request. Called from any thread."""


class Exchange:
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
        self, front: Front, message: Message, modern: bool, send: Send, ended: "Callable[[Exchange], None]"
    ) -> None:
        self._message = message
        self._front = front
        self.modern = modern
        self._token = progress_token(message)
        self._pace = None if self._token is None else Pace()
        self._send = send
        self._ended = ended
        self._sending = threading.Lock()  # progress never overtakes the answer
        self._answered = threading.Lock()  # taken once, never given back
        self._stop: Stop | None = None
        self.headers: Mapping[str, str] = {}  # of the answer, once there is one

    @property
    def id(self) -> Id | None:
        return self._message.id

    def begin(self, caller: Caller, traced: str | None = None, listening: bool = True) -> None:
        """Hand the call to the front; raises Broken. `listening`: whether the client can receive progress."""
        try:
            order = _order(self._message, caller, self.modern)
            order.trace_parent = order.trace_parent or trace_parent(traced)
            if listening and self._token is not None:
                order.progress = self.progress
            self._stop = self._front.start(order, self.done)
        except Exception as error:
            raise refused(self._message, error) from error
        if self._answered.locked():  # cancelled while it was being started
            self.stop()

    def done(self, answer: Answer) -> None:
        """The front has the answer."""
        self.headers = answer.headers
        try:
            if not self._answered.locked():
                self._finish(self._encoded(answer))
        finally:
            self._ended(self)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        with self._sending:
            if self._answered.locked() or self._pace is None or not self._pace.allows(progress, total):
                return
            params: dict[str, Any] = {"progressToken": self._token, "progress": progress}
            if total is not None:
                params["total"] = total
            if message is not None:
                params["message"] = message
            self._send(encode.notification("notifications/progress", params), False)

    def cancel(self, last_words: bytes | None = None) -> None:
        """The client no longer wants the answer. `last_words`: for a transport that must say something."""
        if self._answered.acquire(blocking=False) and last_words is not None:
            with self._sending:
                self._send(last_words, True)
        self.stop()

    def stop(self) -> None:
        """Ask the call to end early; it still answers, unless it was cancelled."""
        if self._stop is not None:
            self._stop.set("cancelled")

    def _finish(self, message: bytes) -> None:
        if self._answered.acquire(blocking=False):
            with self._sending:
                self._send(message, True)

    def _encoded(self, answer: Answer) -> bytes:
        if answer.refusal is not None:
            return encode.broken(refused(self._message, answer.refusal))
        try:
            return encode.result(self.id, _result(self._front, answer, self.modern))
        except (TypeError, ValueError) as error:  # a value that has no JSON form
            fault(error, "tools/call")
            return encode.error(self.id, INTERNAL_ERROR, "Internal error")


def _order(message: Message, caller: Caller, modern: bool) -> Order:
    params = message.params
    name = params.get("name")
    if type(name) is not str or not name:
        raise message.broken("name must be a string")
    arguments = _object(message, "arguments")
    order = Order(name, arguments, caller, trace_parent(message.meta.get("traceparent")), bytes_in=message.size)
    if modern:
        order.capabilities = capabilities_of(message)
        order.inputs = _object(message, "inputResponses")
        if order.inputs and not all(type(each) is dict for each in order.inputs.values()):
            raise message.broken("inputResponses must hold objects")
        order.state = params.get("requestState")
        if order.state is not None and type(order.state) is not str:
            raise message.broken("requestState must be a string")
    return order


def _object(message: Message, field: str) -> dict[str, Any]:
    value = message.params.get(field)
    if value is None:
        return {}
    if type(value) is not dict:
        raise message.broken(f"{field} must be an object")
    return cast("dict[str, Any]", value)


def _result(front: Front, answer: Answer, modern: bool) -> dict[str, Any]:
    if answer.asks is not None or answer.state is not None:
        return _question(front, answer, modern)
    value: dict[str, Any] = {"content": answer.content, "isError": answer.is_error}
    if answer.structured is not None:
        structured = answer.structured
        value["structuredContent"] = orjson.Fragment(structured) if type(structured) is bytes else structured
    return _dressed(front, value, answer, modern)


def _question(front: Front, answer: Answer, modern: bool) -> dict[str, Any]:
    if not modern:
        raise ValueError("a client of the handshake era cannot be asked")
    value: dict[str, Any] = {}
    if answer.asks is not None:
        value["inputRequests"] = answer.asks
    if answer.state is not None:
        value["requestState"] = answer.state
    return {**_dressed(front, value, answer, modern), "resultType": "input_required"}


def _dressed(front: Front, value: dict[str, Any], answer: Answer, modern: bool) -> dict[str, Any]:
    if modern:
        value.update(complete(front))
        value["_meta"].update(answer.meta)
    elif answer.meta:
        value["_meta"] = answer.meta
    return value
