"""From results, errors and notifications to bytes. One message, no line end."""

from collections.abc import Mapping
from typing import Any

import orjson

from tokonoma.server.mcp.message import ProtocolError, RequestId


def encode_result(id: RequestId | None, value: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "result": value})


def encode_error(id: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "error": body})


def encode_protocol_error(problem: ProtocolError) -> bytes:
    try:
        return encode_error(problem.id, problem.code, problem.message, problem.data)
    except TypeError:  # data that has no JSON form: the words still help
        return encode_error(problem.id, problem.code, problem.message)


def encode_notification(method: str, params: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})
