"""Sealing: AES-256-GCM with a random nonce, bound to one place. Pure.

A sealed value opens only where it was stored: provider, account, field and key are additional data of the cipher. In
front of it stand a version, its length and a mark of its place. They are not needed to open it; they tell a value that
was cut off or exchanged from one whose bits were changed. A value with any other bit is never returned.
"""

import hashlib
import os
import struct
from dataclasses import dataclass

from tokonoma.core.errors import Unavailable

SEE_STATUS = "See `tokonoma keyring status`."
KEY_SIZE = 32  # bytes: AES-256
_VERSION = 1
_HEADER = struct.Struct(">BI8s")  # version, bytes that follow the header, mark of the place
_NONCE_SIZE = 12
_TAG_SIZE = 16


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """Where a secret is stored. The shown name is for messages; the rest is bound to the sealed value."""

    provider: str
    account: str  # its id
    field: str
    shown: str = ""

    def bind(self, key_id: str) -> bytes:
        return "\0".join(("tokonoma", self.provider, self.account, self.field, key_id)).encode()

    def describe(self) -> str:
        return f"{self.field!r} of {self.shown or f'the {self.provider} account {self.account}'}"


def seal(key: bytes, place: SecretPlace, key_id: str, secret: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # 8 MB: not before the first secret

    bound, nonce = place.bind(key_id), os.urandom(_NONCE_SIZE)
    body = nonce + AESGCM(key).encrypt(nonce, secret, bound)
    return _HEADER.pack(_VERSION, len(body), _mark_place(bound)) + body


def open_sealed(key: bytes, place: SecretPlace, key_id: str, sealed: bytes) -> bytes:
    """What was sealed. Unavailable, with the reason `truncated`, `swapped` or `damaged`, for anything but the bytes
    that `seal` has returned for this place and this key."""
    bound = place.bind(key_id)
    header, body = sealed[: _HEADER.size], sealed[_HEADER.size :]
    secret = _decrypt(key, body, bound)
    if secret is not None and header == _HEADER.pack(_VERSION, len(body), _mark_place(bound)):
        return secret
    what = place.describe()
    if secret is None and (len(header) < _HEADER.size or len(body) < _HEADER.unpack(header)[1]):
        message = f"The stored value {what} is cut off: bytes are missing at its end."
        raise Unavailable(f"{message} {SEE_STATUS}", reason="truncated")
    if secret is None and _HEADER.unpack(header)[2] != _mark_place(bound):
        message = f"The stored value {what} was sealed for another place: rows were exchanged."
        raise Unavailable(f"{message} {SEE_STATUS}", reason="swapped")
    message = f"The stored value {what} is damaged: its bytes have changed since it was sealed."
    raise Unavailable(f"{message} {SEE_STATUS}", reason="damaged")


def _decrypt(key: bytes, body: bytes, bound: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(body) < _NONCE_SIZE + _TAG_SIZE:
        return None
    try:
        return AESGCM(key).decrypt(body[:_NONCE_SIZE], body[_NONCE_SIZE:], bound)
    except InvalidTag:
        return None


def _mark_place(bound: bytes) -> bytes:
    return hashlib.sha256(bound).digest()[:8]
