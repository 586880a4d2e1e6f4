"""The headers that repeat parts of a modern request, so that proxies can route it: they must say what the body says."""

import binascii
from collections.abc import Mapping
from functools import lru_cache

from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.protocol import HEADER_MISMATCH, LEGACY, META_VERSION, MODERN
from tokonoma.server.mcp.versions import check_envelope, check_version, is_modern, unsupported

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_OPEN, _CLOSE = "=?base64?", "?="


def claims_modern(message: Message, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a message over HTTP means to be modern: by any version that is not of the handshake era."""
    if is_modern(message):
        return True
    version = _header(headers, b"mcp-protocol-version")
    return version is not None and version not in LEGACY


def check_modern(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Refuse a modern request whose envelope is incomplete, or whose headers say something else."""
    version = _header(headers, b"mcp-protocol-version")
    if version is not None and version not in MODERN and META_VERSION not in message.meta:
        raise unsupported(message, version)
    check_envelope(message)
    if version is None or version != message.meta[META_VERSION]:
        raise message.broken("MCP-Protocol-Version must repeat the version in _meta", HEADER_MISMATCH)
    if _header(headers, b"mcp-method") != message.method:
        raise message.broken("Mcp-Method must repeat the method", HEADER_MISMATCH)
    _check_name(message, headers)
    check_version(message)


def check_notification(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Notifications carry no envelope, only a version that must be known."""
    version = _header(headers, b"mcp-protocol-version")
    if version is not None and version not in LEGACY and version not in MODERN:
        raise unsupported(message, version)


def decoded(value: str) -> str | None:
    """A header value, out of its `=?base64?…?=` if it has one; None if that is malformed."""
    if not (value.startswith(_OPEN) and value.endswith(_CLOSE) and len(value) >= len(_OPEN) + len(_CLOSE)):
        return value
    payload = value[len(_OPEN) : -len(_CLOSE)].encode()
    try:
        raw = binascii.a2b_base64(payload, strict_mode=True)
        return raw.decode() if binascii.b2a_base64(raw, newline=False) == payload else None
    except ValueError:
        return None


def _check_name(message: Message, headers: Mapping[bytes, bytes]) -> None:
    field = _NAMED.get(message.method)
    named = message.params.get(field) if field is not None else None
    if named is None:
        return
    header = _header(headers, b"mcp-name")
    if header is None or decoded(header) != named:
        raise message.broken(f"Mcp-Name must repeat params.{field}", HEADER_MISMATCH)


def _header(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else _text(value)


@lru_cache(maxsize=256)  # versions, methods and names: few, and the same again and again
def _text(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1")
