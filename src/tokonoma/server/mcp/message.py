"""From bytes to one JSON-RPC message, or to the error that says what is wrong with them."""

from typing import Any, TypeGuard, cast

import orjson

from tokonoma.server.mcp.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_BYTES,
    MAX_DEPTH,
    PARSE_ERROR,
)

RequestId = str | int


class ProtocolError(Exception):
    """A message that gets a JSON-RPC error. `id` is None when it could not be read."""

    def __init__(self, code: int, message: str, id: RequestId | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id
        self.data = data


class Message:
    """A request (it has an id) or a notification (it has none). `meta` is `params._meta`."""

    __slots__ = ("id", "meta", "method", "params", "size")

    def __init__(
        self, id: RequestId | None, method: str, params: dict[str, Any], meta: dict[str, Any], size: int
    ) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.meta = meta
        self.size = size

    def error(self, message: str, code: int = INVALID_PARAMS, data: Any = None) -> ProtocolError:
        """The error that answers this message."""
        return ProtocolError(code, message, self.id, data)


def parse_message(raw: bytes) -> Message | None:
    """One message; None for a response, which nobody here waits for: this server sends no requests."""
    if len(raw) > MAX_BYTES:
        raise oversized_error()
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        # The decoder's own words may quote the message; they stay inside.
        raise ProtocolError(PARSE_ERROR, "Parse error: not a JSON text in UTF-8") from None
    if not isinstance(value, dict):
        words = "JSON-RPC batches are not supported" if isinstance(value, list) else "A message is a JSON object"
        raise ProtocolError(INVALID_REQUEST, words)
    fields = cast("dict[str, Any]", value)
    found = _read_id(fields)
    if _is_too_deep(fields, raw):
        raise ProtocolError(INVALID_REQUEST, f"Nested deeper than {MAX_DEPTH} levels", found)
    if fields.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'jsonrpc must be "2.0"', found)
    if "method" not in fields and ("result" in fields or "error" in fields):
        return None
    return _build_message(fields, found, len(raw))


def oversized_error() -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, f"Message larger than {MAX_BYTES} bytes")


def is_id(value: Any) -> TypeGuard[RequestId]:
    """Strings and integers; `true` is not an integer."""
    return type(value) is str or type(value) is int


def _read_id(fields: dict[str, Any]) -> RequestId | None:
    found = fields.get("id")
    return found if is_id(found) else None


def _build_message(fields: dict[str, Any], found: RequestId | None, size: int) -> Message:
    if "id" in fields and found is None:
        raise ProtocolError(INVALID_REQUEST, "id must be a string or an integer")
    method = fields.get("method")
    if type(method) is not str:
        raise ProtocolError(INVALID_REQUEST, "method must be a string", found)
    params = fields.get("params")
    if params is None:
        params = {}
    elif type(params) is not dict:
        raise ProtocolError(INVALID_REQUEST, "params must be an object", found)
    meta = cast("dict[str, Any]", params).get("_meta")
    if meta is None:
        meta = {}
    elif type(meta) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params._meta must be an object", found)
    return Message(found, method, cast("dict[str, Any]", params), cast("dict[str, Any]", meta), size)


def _is_too_deep(fields: dict[str, Any], raw: bytes) -> bool:
    # Counting brackets costs nothing and settles nearly every message; only the rest is walked, level by level.
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
