"""The two eras of MCP: with a handshake (`initialize`), and stateless, where each request carries an envelope in
`_meta` and repeats parts of itself in HTTP headers, so that proxies can route it."""

import binascii
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tokonoma.server.mcp.message import HEADER_MISMATCH, UNSUPPORTED_VERSION, Message, ProtocolError, is_id

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)

STRUCTURED_SINCE = "2025-06-18"
"""The first version with structured content. Versions are dates, and so are compared as text."""

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

# Version ff does not exist. Version 00 ends after the flags; a later one may go on after another dash.
_TRACE_PARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|\Z)", re.DOTALL
)
_NAME_FIELDS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BASE64_START, _BASE64_END = "=?base64?", "?="


def is_modern(message: Message) -> bool:
    """Decided by the version key alone: no client of the handshake era writes it, and `initialize` is of that era."""
    return META_VERSION in message.meta and message.method != "initialize"


def claims_modern(message: Message, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a message over HTTP is meant to be modern: by any version that is not of the handshake era."""
    if is_modern(message):
        return True
    version = _decode(headers.get(b"mcp-protocol-version"))
    return version is not None and version not in LEGACY


def agree_version(asked: str) -> str:
    """Return the version of the handshake era that a session uses."""
    return asked if asked in LEGACY else LEGACY[-1]


def takes_structured(version: str | None) -> bool | None:
    """Whether a client knows structured content; None if it has not told its version."""
    return None if version not in LEGACY and version not in MODERN else version >= STRUCTURED_SINCE


def check_envelope(message: Message) -> None:
    """Refuse a modern request whose envelope is incomplete."""
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in message.meta]
    if missing:
        raise message.error(f"params._meta is missing {', '.join(missing)}")


def check_version(message: Message) -> None:
    """Refuse a version that this server does not support, and an envelope whose parts have the wrong type."""
    version = message.meta[META_VERSION]
    if type(version) is not str:
        raise message.error(f"{META_VERSION} must be a string")
    if version not in MODERN:
        raise _unsupported_version(message, version)
    if type(message.meta[META_CAPABILITIES]) is not dict:
        raise message.error(f"{META_CAPABILITIES} must be an object")
    if message.meta.get(META_CLIENT) is not None and format_client(message.meta[META_CLIENT]) is None:
        raise message.error(f"{META_CLIENT} must be an object with name and version")


def check_modern(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Refuse a modern request over HTTP whose envelope is incomplete, or whose headers contradict its body."""
    version = _decode(headers.get(b"mcp-protocol-version"))
    if version is not None and version not in MODERN and META_VERSION not in message.meta:
        raise _unsupported_version(message, version)
    check_envelope(message)
    if version is None or version != message.meta[META_VERSION]:
        raise message.error("MCP-Protocol-Version must repeat the version in _meta", HEADER_MISMATCH)
    if _decode(headers.get(b"mcp-method")) != message.method:
        raise message.error("Mcp-Method must repeat the method", HEADER_MISMATCH)
    field = _NAME_FIELDS.get(message.method)
    name = message.params.get(field) if field is not None else None
    if name is not None:
        header = _decode(headers.get(b"mcp-name"))
        if header is None or decode_header(header) != name:
            raise message.error(f"Mcp-Name must repeat params.{field}", HEADER_MISMATCH)
    check_version(message)


def check_notification(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Refuse a notification of an unknown version. Notifications carry no envelope."""
    version = _decode(headers.get(b"mcp-protocol-version"))
    if version is not None and version not in LEGACY and version not in MODERN:
        raise _unsupported_version(message, version)


def decode_header(value: str) -> str | None:
    """Decode a header value from `=?base64?…?=` if it is encoded; None if that is malformed."""
    enclosed = value.startswith(_BASE64_START) and value.endswith(_BASE64_END)
    if not enclosed or len(value) < len(_BASE64_START) + len(_BASE64_END):
        return value
    payload = value[len(_BASE64_START) : -len(_BASE64_END)].encode()
    try:
        raw = binascii.a2b_base64(payload, strict_mode=True)
        return raw.decode() if binascii.b2a_base64(raw, newline=False) == payload else None
    except ValueError:
        return None


def format_client(info: Any) -> str | None:
    """Return `name/version` of an Implementation, as the journal shows it; None if it is not one."""
    match info:
        case {"name": str(name), "version": str(version)}:
            return f"{name}/{version}"[:200]
        case _:
            return None


def read_progress_token(message: Message) -> str | int | None:
    token = message.meta.get("progressToken")
    if token is None or is_id(token):
        return token
    raise message.error("progressToken must be a string or an integer")


def parse_trace_parent(value: Any) -> str | None:
    """Return a W3C traceparent, or None: a malformed one is ignored, not refused."""
    found = _TRACE_PARENT.match(value) if type(value) is str else None
    return None if found is None else found[0]


def _unsupported_version(message: Message, version: str) -> ProtocolError:
    data = {"supported": list(MODERN), "requested": version}
    return message.error("Unsupported protocol version", UNSUPPORTED_VERSION, data)


@lru_cache(maxsize=256)  # versions, methods and names: few, and the same again and again
def _decode(header: bytes | None) -> str | None:
    return None if header is None else header.strip(b" \t").decode("latin-1")
