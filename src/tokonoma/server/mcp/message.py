"""JSON-RPC: from bytes to one message, and from results and errors to bytes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast

import orjson

from tokonoma.core.errors import Invalid, Limited, Missing, Refusal, Unauthenticated, Unready
from tokonoma.core.json_keys import find_duplicate_keys, has_duplicate_keys
from tokonoma.core.log import log

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

# Codes of the specification, 2026-07-28.
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

# Retired in 2026-07-28; clients of the handshake era still expect them.
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800

# The range left to servers: -32000 to -32019.
REFUSED = -32000
LIMITED = -32010
UNAUTHENTICATED = -32011

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_VALUES = 200_000
"""Members of all lists and objects of a message. A value takes up to a hundred times its bytes in memory."""
_MAX_NAMED = 64 * 1024  # bytes of a message whose doubled keys are named: finding them takes memory

RequestId = str | int
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # one that does not end takes the rest


class ProtocolError(Exception):
    """A JSON-RPC error that answers a message. `id` is None when it could not be read."""

    def __init__(self, code: int, message: str, id: RequestId | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.id, self.data = code, message, id, data


@dataclass(slots=True, eq=False)
class Message:
    """A request (it has an id) or a notification (it has none)."""

    id: RequestId | None
    method: str
    size: int
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    meta: dict[str, Any] = field(default_factory=dict[str, Any])  # `params._meta`

    def error(self, message: str, code: int = INVALID_PARAMS, data: Any = None) -> ProtocolError:
        """Build the error that answers this message."""
        return ProtocolError(code, message, self.id, data)

    def require_text(self, name: str) -> str:
        value = self.params.get(name)
        if type(value) is not str:
            raise self.error(f"{name} must be a string")
        return value

    def require_object(self, name: str, value: Any, code: int = INVALID_PARAMS) -> dict[str, Any]:
        """An absent one is empty."""
        if value is None:
            return {}
        if type(value) is not dict:
            raise self.error(f"{name} must be an object", code)
        return cast("dict[str, Any]", value)


def parse_message(raw: bytes) -> Message | None:
    """Return one message; None for a response, because this server sends no requests."""
    if len(raw) > MAX_BYTES:
        raise oversized_error()
    if _has_too_many_values(raw):
        raise ProtocolError(INVALID_REQUEST, f"The message has more than {MAX_VALUES} values")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        # The decoder's own text may quote the message, so it is not passed on.
        raise ProtocolError(PARSE_ERROR, "Parse error: the message is not JSON in UTF-8") from None
    if not isinstance(value, dict):
        text = "JSON-RPC batches are not supported" if isinstance(value, list) else "A message must be a JSON object"
        raise ProtocolError(INVALID_REQUEST, text)
    fields = cast("dict[str, Any]", value)
    id = fields.get("id")
    id = id if is_id(id) else None
    if _is_too_deep(fields, raw):
        raise ProtocolError(INVALID_REQUEST, f"The message is nested deeper than {MAX_DEPTH} levels", id)
    if has_duplicate_keys(raw, fields):
        keys = find_duplicate_keys(raw) if len(raw) <= _MAX_NAMED else []
        named = f" ({', '.join(map(repr, keys))})" if keys else ""
        raise ProtocolError(INVALID_REQUEST, f"A key occurs twice in one object of the message{named}", id)
    if fields.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'jsonrpc must be "2.0"', id)
    if "method" not in fields and ("result" in fields or "error" in fields):
        return None
    if "id" in fields and id is None:
        raise ProtocolError(INVALID_REQUEST, "id must be a string or an integer")
    method = fields.get("method")
    if type(method) is not str:
        raise ProtocolError(INVALID_REQUEST, "method must be a string", id)
    message = Message(id, method, len(raw))
    message.params = message.require_object("params", fields.get("params"), INVALID_REQUEST)
    message.meta = message.require_object("params._meta", message.params.get("_meta"))
    return message


def oversized_error() -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, f"The message is larger than {MAX_BYTES} bytes")


def is_id(value: Any) -> TypeGuard[RequestId]:
    """Strings and integers; `true` is not an integer."""
    return type(value) is str or type(value) is int


def _has_too_many_values(raw: bytes) -> bool:
    # Before anything is built. Counting signs decides nearly every message; only then are texts left out.
    if len(raw) <= MAX_VALUES or _count_signs(raw) <= MAX_VALUES:
        return False
    count = at = 0
    for text in _TEXT.finditer(raw):
        count += _count_signs(raw[at : text.start()])
        at = text.end()
        if count > MAX_VALUES:
            return True
    return count + _count_signs(raw[at:]) > MAX_VALUES


def _count_signs(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"{") + raw.count(b"[")


def _is_too_deep(fields: dict[str, Any], raw: bytes) -> bool:
    # Counting brackets costs nothing and decides nearly every message; the others are walked level by level.
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return False
    level: list[Any] = [fields]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (cast("dict[str, Any]", node).values() if type(node) is dict else cast("list[Any]", node))
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def encode_result(id: RequestId | None, value: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "result": value})


def encode_error(id: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "error": body})


def encode_protocol_error(error: ProtocolError) -> bytes:
    try:
        return encode_error(error.id, error.code, error.message, error.data)
    except TypeError:  # data without a JSON form: the message alone still helps
        return encode_error(error.id, error.code, error.message)


def encode_notification(method: str, params: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def to_protocol_error(message: Message, error: Exception) -> ProtocolError:
    """A refusal keeps its text; of any other exception only "Internal error" leaves the process."""
    if isinstance(error, ProtocolError):
        return error
    if not isinstance(error, Refusal):
        log_fault(error, message.method)
        return message.error("Internal error", INTERNAL_ERROR)
    if isinstance(error, Unready) and error.reason == "capability":
        required = {"requiredCapabilities": error.details.get("required", {})}
        return message.error(error.message, MISSING_CAPABILITY, required)
    return message.error(error.message, rpc_code(error), error.details or None)


def rpc_code(error: Refusal) -> int:
    if isinstance(error, Invalid | Missing):
        return INVALID_PARAMS
    if isinstance(error, Limited):
        return LIMITED
    return UNAUTHENTICATED if isinstance(error, Unauthenticated) else REFUSED


def log_fault(error: BaseException, where: str) -> None:
    """Log an internal error: its class and its line. Its text may quote what a caller sent, so it is left out."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    log("error", "wire_fault", where=where, kind=type(error).__name__, at_line=place)
