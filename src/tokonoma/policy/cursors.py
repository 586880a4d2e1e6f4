"""Cursors: where the next page starts, sealed. A caller can neither read nor change what one holds, nor use another's.

A position may be a title or a path of which the caller sees only a masked form. So it is encrypted and authenticated,
bound to the list and the caller, and padded, because a length tells something too. Every process on the database has
the same key.
"""

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from tokonoma.core.call import Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Invalid
from tokonoma.policy.versions import read_head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_PURPOSE = b"tokonoma cursor"
_NONCE = 12  # bytes, random for each cursor
_BLOCK = 16


class CursorSealer:
    """`reading` opens the database; the key is derived from its secret on the first use."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Rows]]) -> None:
        self._reading = reading
        self._cipher: AESGCM | None = None

    def seal(self, who: Principal, kind: str, position: tuple[Any, ...]) -> str:
        body = json.dumps(position, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        nonce = os.urandom(_NONCE)
        padded = body + b" " * (-len(body) % _BLOCK)
        return _to_text(nonce + self._get_cipher().encrypt(nonce, padded, _bind(who, kind)))

    def open(self, who: Principal, kind: str, cursor: str) -> list[Any]:
        """The position that `seal` got; Invalid for anything that it did not return for this list and this caller."""
        from cryptography.exceptions import InvalidTag

        try:
            raw = base64.b32decode(cursor.upper() + "=" * (-len(cursor) % 8))
            if _to_text(raw) != cursor:  # some letters hold spare bits
                raise ValueError("spare bits")
            body = self._get_cipher().decrypt(raw[:_NONCE], raw[_NONCE:], _bind(who, kind))
        except (ValueError, InvalidTag) as error:
            raise Invalid(
                "This cursor is not from this tool. Leave it out to start at the first page.", field="cursor"
            ) from error
        return json.loads(body.decode("utf-8", "surrogatepass"))

    def _get_cipher(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # 8 MB: not before the first cursor

            with self._reading() as rows:
                secret = read_head(rows).salt
            self._cipher = AESGCM(hmac.digest(secret, _PURPOSE, hashlib.sha256))
        return self._cipher


def _bind(who: Principal, kind: str) -> bytes:
    return json.dumps([kind, who.kind, who.name, who.person]).encode()


def _to_text(data: bytes) -> str:
    """Lower-case letters and digits only: no detector of keys and tokens takes them for one."""
    return base64.b32encode(data).decode().rstrip("=").lower()
