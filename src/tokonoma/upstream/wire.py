"""JSON-RPC and the two eras of MCP from the side of a client. Pure.

A server of the era with a handshake is asked to `initialize`; a stateless one (2026-07-28) gets an envelope in the
`_meta` of each request, and parts of it again as HTTP headers.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from tokonoma import __version__

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MAX_MESSAGE = 16 * 2**20
"""Bytes of one message."""

METHOD_NOT_FOUND = -32601
UNSUPPORTED_VERSION = -32022
CLIENT_INFO = {"name": "tokonoma", "title": "Tokonoma", "version": __version__}

_META = "io.modelcontextprotocol/"
SUBSCRIPTION = f"{_META}subscriptionId"
"""In the `_meta` of what a stateless server tells by itself: the request that asked for it."""

_NAME_FIELDS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_MIRRORED = ("string", "integer", "boolean")

JsonObject = dict[str, Any]


class RpcFailure(Exception):
    """The server has answered a request with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class ConnectionLost(Exception):
    """The connection is over: the process has ended, or the server has forgotten the session."""


class InputRequired(Exception):
    """The server asks for something that this client does not give: `asks` names the methods."""

    def __init__(self, asks: Sequence[str]) -> None:
        super().__init__(", ".join(asks))
        self.asks = tuple(asks)


def encode(message: Mapping[str, Any]) -> bytes:
    return orjson.dumps(message)


def parse_messages(content: bytes | str) -> list[JsonObject]:
    """The messages of a line or a body: one, or those of a batch, which older servers may send. ValueError for anything
    else."""
    value: Any = orjson.loads(content)
    found = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) for each in found):
        raise ValueError("not a message")
    return cast("list[JsonObject]", found)


def build_request(request_id: int, method: str, params: Mapping[str, Any]) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def build_notification(method: str, params: Mapping[str, Any] | None = None) -> JsonObject:
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}


def build_meta(version: str, capabilities: Mapping[str, Any]) -> JsonObject:
    """The envelope of a stateless request."""
    return {
        f"{_META}protocolVersion": version,
        f"{_META}clientInfo": CLIENT_INFO,
        f"{_META}clientCapabilities": dict(capabilities),
    }


def build_headers(version: str, method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The HTTP headers that repeat parts of a stateless message."""
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    name = params.get(_NAME_FIELDS.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = encode_header(name)
    return headers


def encode_header(value: str) -> str:
    """A text as the value of a header: as it is, or in base64 where a header could not hold it."""
    if _PLAIN.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{b64encode(value.encode('utf-8', 'replace')).decode()}?=" if value else ""


def find_mirrored(schema: Any) -> dict[str, str] | None:
    """Parameter → header, of the parameters that a tool wants repeated as headers (`x-mcp-header`). None if the schema
    marks something that cannot be one: such a tool is not used."""
    properties: Any = cast("JsonObject", schema).get("properties") if isinstance(schema, dict) else None
    found: dict[str, str] = {}
    for name, each in cast("JsonObject", properties).items() if isinstance(properties, dict) else ():
        if not isinstance(each, dict) or "x-mcp-header" not in each:
            continue
        part = cast("JsonObject", each)
        header = part["x-mcp-header"]
        if not isinstance(header, str) or not _HEADER_NAME.fullmatch(header) or part.get("type") not in _MIRRORED:
            return None
        found[name] = header
    return None if len({each.lower() for each in found.values()}) < len(found) else found


def mirror_params(schema: Any, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat parameters of a call."""
    headers: dict[str, str] = {}
    for name, header in (find_mirrored(schema) or {}).items():
        value = arguments.get(name)
        if isinstance(value, bool):
            headers[f"Mcp-Param-{header}"] = "true" if value else "false"
        elif isinstance(value, str | int):
            headers[f"Mcp-Param-{header}"] = encode_header(str(value))
    return headers


def choose_version(supported: Any) -> str | None:
    """`MODERN`, if a server that lists its versions has it; None if it is of the era with a handshake."""
    return MODERN if isinstance(supported, list) and MODERN in supported else None


def to_failure(error: Any) -> RpcFailure:
    told = cast("JsonObject", error) if isinstance(error, dict) else {}
    code, message = told.get("code"), told.get("message")
    return RpcFailure(
        code if isinstance(code, int) else -32603,
        message if isinstance(message, str) else "The server gave no reason.",
        told.get("data"),
    )
