"""Messages that no honest client sends, each with the code and the id of the error that answers it."""

import json
from typing import Any

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(method: Any, params: Any = None, id: Any = 1, **more: Any) -> dict[str, Any]:
    """A request, with whatever is wrong about it."""
    return {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params}) | more


def modern(method: str, params: dict[str, Any] | None = None, id: Any = 1, **meta: Any) -> dict[str, Any]:
    return request(method, {**(params or {}), "_meta": {**MODERN, **meta}}, id)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def deep(depth: int) -> bytes:
    """A ping whose params hold a list in a list in a list: `depth` containers in all."""
    return b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":%s}}' % nested(depth - 2).encode()


PARSE, INVALID, PARAMS = -32700, -32600, -32602

RAW: dict[str, tuple[bytes, int, Any]] = {
    "not json": (b"hello", PARSE, None),
    "half of a message": (b'{"jsonrpc":"2.0","id":1,', PARSE, None),
    "two in one": (b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}', PARSE, None),
    "not utf-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', PARSE, None),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', PARSE, None),
    "utf-16": ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16-le").replace(b"\n", b""), PARSE, None),
    "a bare control character": (b'{"jsonrpc":"2.0","id":1,"method":"pi\x01ng"}', PARSE, None),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', PARSE, None),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', PARSE, None),
    "a number without end": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}', PARSE, None),
    "a lone surrogate, escaped": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}', PARSE, None),
    "a lone surrogate, raw": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xed\xa0\x80"}}', PARSE, None),
    "a lone surrogate as key": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udc00":1}}', PARSE, None),
    "depth 65": (deep(65), INVALID, 9),
    "depth 1000": (deep(1000), INVALID, 9),
    "depth 100 000": (deep(100_000), PARSE, None),
    "depth 100 000 and never closed": (b"[" * 100_000, PARSE, None),
    "an empty batch": (b"[]", INVALID, None),
    "a batch": (json.dumps([request("ping"), request("ping", id=2)]).encode(), INVALID, None),
    "a string": (b'"ping"', INVALID, None),
    "a number": (b"42", INVALID, None),
    "null": (b"null", INVALID, None),
    "an empty object": (b"{}", INVALID, None),
}

SHAPES: dict[str, tuple[Any, int, Any]] = {
    "no version of JSON-RPC": ({"id": 3, "method": "ping"}, INVALID, 3),
    "JSON-RPC 1.0": ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, INVALID, 3),
    "a number as version": ({"jsonrpc": 2.0, "id": 3, "method": "ping"}, INVALID, 3),
    "no method": ({"jsonrpc": "2.0", "id": 3}, INVALID, 3),
    "a number as method": (request(7, id=3), INVALID, 3),
    "true as id": (request("ping", id=True), INVALID, None),
    "null as id": (request("ping", id=None), INVALID, None),
    "a fraction as id": (request("ping", id=1.5), INVALID, None),
    "an object as id": (request("ping", id={"a": 1}), INVALID, None),
    "a huge integer as id": (request("ping", id=2**70), INVALID, None),
    "a list as params": (request("ping", [1, 2], id=4), INVALID, 4),
    "a string as params": (request("ping", "x", id=4), INVALID, 4),
    "a list as _meta": (request("ping", {"_meta": [1]}, id=4), PARAMS, 4),
    "true as progress token": (request("tools/call", {"name": "echo", "_meta": {"progressToken": True}}), PARAMS, 1),
    "a call without a name": (request("tools/call", {"arguments": {}}), PARAMS, 1),
    "a call of a number": (request("tools/call", {"name": 5}), PARAMS, 1),
    "a call of nothing": (request("tools/call", {"name": ""}), PARAMS, 1),
    "a list as arguments": (request("tools/call", {"name": "echo", "arguments": [1]}), PARAMS, 1),
    "a string as arguments": (request("tools/call", {"name": "echo", "arguments": "{}"}), PARAMS, 1),
    "a tool that is not there": (request("tools/call", {"name": "rm -rf"}), PARAMS, 1),
    "a number as cursor": (request("tools/list", {"cursor": 1}), PARAMS, 1),
    "a cursor of somebody else": (request("tools/list", {"cursor": "bm90IG91cnM"}), PARAMS, 1),
    "initialize without anything": (request("initialize"), PARAMS, 1),
    "initialize in an unknown tongue": (
        request("initialize", {"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        PARAMS,
        1,
    ),
    "initialize by nobody": (
        request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": 1}}),
        PARAMS,
        1,
    ),
    "a method that is not there": (request("tools/destroy"), -32601, 1),
    "a method of a capability that is not offered": (request("logging/setLevel", {"level": "debug"}), -32601, 1),
    "a resource that is not there": (request("resources/read", {"uri": "file:///etc/passwd"}), -32002, 1),
    "a prompt that is not there": (request("prompts/get", {"name": "x"}), PARAMS, 1),
}

TABLE: dict[str, tuple[bytes, int, Any]] = RAW | {
    name: (json.dumps(value).encode(), code, id) for name, (value, code, id) in SHAPES.items()
}
