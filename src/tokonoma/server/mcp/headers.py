"""The headers that repeat parts of a modern request, so that proxies can route it: they must say what the body says."""

import binascii
from collections.abc import Mapping
from functools import lru_cache

from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.protocol import HEADER_MISMATCH, LEGACY, META_VERSION, MODERN
from tokonoma.server.mcp.versions import check_envelope, check_version, is_modern, unsupported_version

_NAME_FIELDS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BASE64_START, _BASE64_END = "=?base64?", "?="


def claims_modern(message: Message, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a message over HTTP means to be modern: by any version that is not of the handshake era."""
    if is_modern(message):
        return True
    version = _get_header(headers, b"mcp-protocol-version")
    return version is not None and version not in LEGACY


def check_modern(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Refuse a modern request whose envelope is incomplete, or whose headers say something else."""
    version = _get_header(headers, b"mcp-protocol-version")
    if version is not None and version not in MODERN and META_VERSION not in message.meta:
        raise unsupported_version(message, version)
    check_envelope(message)
    if version is None or version != message.meta[META_VERSION]:
        raise message.error("MCP-Protocol-Version must repeat the version in _meta", HEADER_MISMATCH)
    if _get_header(headers, b"mcp-method") != message.method:
        raise message.error("Mcp-Method must repeat the method", HEADER_MISMATCH)
    _check_name(message, headers)
    check_version(message)


def check_notification(message: Message, headers: Mapping[bytes, bytes]) -> None:
    """Notifications carry no envelope, only a version that must be known."""
    version = _get_header(headers, b"mcp-protocol-version")
    if version is not None and version not in LEGACY and version not in MODERN:
        raise unsupported_version(message, version)


def decode_header(value: str) -> str | None:
    """A header value, out of its `=?base64?…?=` if it has one; None if that is malformed."""
    if not (
        value.startswith(_BASE64_START)
        and value.endswith(_BASE64_END)
        and len(value) >= len(_BASE64_START) + len(_BASE64_END)
    ):
        return value
    payload = value[len(_BASE64_START) : -len(_BASE64_END)].encode()
    try:
        raw = binascii.a2b_base64(payload, strict_mode=True)
        return raw.decode() if binascii.b2a_base64(raw, newline=False) == payload else None
    except ValueError:
        return None


def _check_name(message: Message, headers: Mapping[bytes, bytes]) -> None:
    field = _NAME_FIELDS.get(message.method)
    named = message.params.get(field) if field is not None else None
    if named is None:
        return
    header = _get_header(headers, b"mcp-name")
    if header is None or decode_header(header) != named:
        raise message.error(f"Mcp-Name must repeat params.{field}", HEADER_MISMATCH)


def _get_header(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else _decode_text(value)


@lru_cache(maxsize=256)  # versions, methods and names: few, and the same again and again
def _decode_text(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1")
