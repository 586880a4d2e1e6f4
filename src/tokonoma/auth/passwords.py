"""Passwords: scrypt, one at a time per process, with bounded tries that all processes count together."""

import hashlib
import hmac
import ipaddress
import secrets
import threading
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.auth.people import read_password
from tokonoma.auth.rate_limit import OpenWrite, RateLimiter
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Invalid, Limited, Unauthenticated
from tokonoma.core.network import parse_ip

MIN_LENGTH = 12  # characters
MAX_LENGTH = 1024  # bytes
TRIES = 5  # per minute, of one address and for one person
_COST = 16  # n = 2^16, r = 8: 64 MiB and about 0.2 s
_SALT = 16  # bytes
MAX_WAITING = 3  # tries at their turn or before it: each holds a thread
_DUMMY = bytes([_COST]) + bytes(_SALT + 32)  # for people who have no password, or do not exist

_turn = threading.Lock()  # 64 MiB each: several at once would let strangers fill the memory
_waiting = threading.Semaphore(MAX_WAITING)


def hash_password(text: str) -> bytes:
    """What is stored: the cost, a salt and the hash. Invalid for a password that is too short or too long."""
    folded = unicodedata.normalize("NFKC", text)
    if len(folded) < MIN_LENGTH or len(folded.encode()) > MAX_LENGTH:
        message = f"A password has at least {MIN_LENGTH} characters and at most {MAX_LENGTH} bytes."
        raise Invalid(message, field="password")
    salt = secrets.token_bytes(_SALT)
    return bytes([_COST]) + salt + _derive(folded.encode(), salt, _COST)


def verify_password(stored: bytes | None, text: str) -> bool:
    """Takes the same time whether there is a stored password or not. Limited if too many wait."""
    kept = stored or _DUMMY
    cost, salt, expected = kept[0], kept[1 : 1 + _SALT], kept[1 + _SALT :]
    given = unicodedata.normalize("NFKC", text[:MAX_LENGTH]).encode(errors="replace")
    if not _waiting.acquire(blocking=False):
        raise Limited("Too many people sign in at this moment. Try again in a minute.", reason="busy", retry_after=60)
    try:
        with _turn:
            derived = _derive(given, salt, cost)
    finally:
        _waiting.release()
    return hmac.compare_digest(derived, expected) and stored is not None


def _derive(password: bytes, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(password, salt=salt, n=2**cost, r=8, p=1, maxmem=2 ** (cost + 11), dklen=32)


class PasswordCheck:
    """One per process. Tries are counted in the store, by address and by person."""

    def __init__(self, open_read: Callable[[], AbstractContextManager[Rows]], open_write: OpenWrite) -> None:
        self._open_read = open_read
        self._tries = RateLimiter(open_write, TRIES, 60.0)

    def check(self, name: str, text: str, remote: str | None) -> tuple[str, bytes]:
        """The id of the person and the stored password that was met. Unauthenticated, in the same words and after the
        same time, whatever is wrong; Limited after too many tries."""
        self._count(f"sign-in from {_group_address(remote)}")
        self._count(f"sign-in as {hashlib.sha256(name.encode(errors='replace')).hexdigest()}")
        person, stored = "", None
        if name.isprintable():  # no name holds what a database cannot
            with self._open_read() as rows:
                person, stored = read_password(rows, name)
        if not verify_password(stored, text) or stored is None:
            raise Unauthenticated("This name and this password do not belong together.", reason="password")
        return person, stored

    def _count(self, bucket: str) -> None:
        quota = self._tries.take(bucket)
        if not quota.allowed:
            message = f"Too many tries. Try again in {quota.wait} seconds."
            raise Limited(message, reason="tries", retry_after=quota.wait)


def _group_address(remote: str | None) -> str:
    """An IPv6 network of 64 bits counts as one address: its holder has all of them."""
    address = parse_ip(remote or "")
    if address is not None and address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
