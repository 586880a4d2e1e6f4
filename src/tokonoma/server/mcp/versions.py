"""Which era a request belongs to, and the envelope that every modern request carries in its `_meta`."""

from typing import Any, cast

from tokonoma.server.mcp.message import Message, ProtocolError, is_id
from tokonoma.server.mcp.protocol import (
    META_CAPABILITIES,
    META_CLIENT,
    META_VERSION,
    MODERN,
    UNSUPPORTED_VERSION,
)

_HEXADECIMAL = frozenset("0123456789abcdef")


def is_modern(message: Message) -> bool:
    """The version key alone decides: no client of the handshake era writes it, and `initialize` is of that era."""
    return META_VERSION in message.meta and message.method != "initialize"


def check_envelope(message: Message) -> None:
    """Refuse a modern request whose envelope is incomplete."""
    if META_VERSION not in message.meta or META_CAPABILITIES not in message.meta:
        missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in message.meta]
        raise message.error(f"params._meta lacks {', '.join(missing)}")


def check_version(message: Message) -> None:
    """Refuse a version that is not spoken here, and an envelope whose parts have the wrong shape."""
    version = message.meta[META_VERSION]
    if type(version) is not str:
        raise message.error(f"{META_VERSION} must be a string")
    if version not in MODERN:
        raise unsupported_version(message, version)
    if type(message.meta[META_CAPABILITIES]) is not dict:
        raise message.error(f"{META_CAPABILITIES} must be an object")
    if message.meta.get(META_CLIENT) is not None and format_client(message.meta[META_CLIENT]) is None:
        raise message.error(f"{META_CLIENT} must be an object with name and version")


def unsupported_version(message: Message, version: str) -> ProtocolError:
    data = {"supported": list(MODERN), "requested": version}
    return message.error("Unsupported protocol version", UNSUPPORTED_VERSION, data)


def format_client(info: Any) -> str | None:
    """`name/version` of an Implementation, as it is shown in journals; None if it is not one."""
    if type(info) is not dict:
        return None
    fields = cast("dict[str, Any]", info)
    name, version = fields.get("name"), fields.get("version")
    if type(name) is not str or type(version) is not str:
        return None
    return f"{name}/{version}"[:200]


def capabilities_of(message: Message) -> dict[str, Any]:
    """What the client of a modern request can be asked for; `check_version` has looked at its shape."""
    return cast("dict[str, Any]", message.meta[META_CAPABILITIES])


def read_progress_token(message: Message) -> str | int | None:
    token = message.meta.get("progressToken")
    if token is None or is_id(token):
        return token
    raise message.error("progressToken must be a string or an integer")


def parse_trace_parent(value: Any) -> str | None:
    """A W3C traceparent, or None: a malformed one is to be ignored, not refused."""
    if type(value) is not str or len(value) < 55:
        return None
    version, trace, span, flags = value[:2], value[3:35], value[36:52], value[53:55]
    if value[2] != "-" or value[35] != "-" or value[52] != "-" or version == "ff":
        return None
    # Version 00 ends after the flags; a later one may go on after another dash.
    if len(value) > 55 and (version == "00" or value[55] != "-"):
        return None
    if not _HEXADECIMAL.issuperset(version + trace + span + flags) or not trace.strip("0") or not span.strip("0"):
        return None
    return value[:55]
