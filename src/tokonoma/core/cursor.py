"""Opaque cursors: where the next page starts, with a checksum against changes."""

import base64
import binascii
import json
import zlib
from typing import Any

from tokonoma.core.errors import Invalid


def encode(kind: str, *position: Any) -> str:
    body = json.dumps([kind, *position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(body + zlib.crc32(body).to_bytes(4, "big")).decode().rstrip("=")


def decode(kind: str, cursor: str) -> list[Any]:
    """The position that `encode` got; Invalid for anything that `encode(kind, …)` did not return."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        body, check = raw[:-4], raw[-4:]
        if zlib.crc32(body).to_bytes(4, "big") != check:
            raise ValueError("check sum")
        found, *position = json.loads(body)
        if found != kind:
            raise ValueError("kind")
    except (ValueError, binascii.Error, TypeError) as error:
        raise Invalid(
            "This cursor is not from this tool. Leave it out to start at the first page.", field="cursor"
        ) from error
    return position
