"""Finding the principal of an HTTP caller. Runs for every request, so it must be quick on both databases."""

import hashlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from ipaddress import ip_address

from tokonoma.auth import api_keys as keys
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated

_MAX_CACHED = 1024  # credentials
_CACHE_SECONDS = 1.0


class Authenticator:
    """Caches what it found for a second: after that time a revocation, or a first key, takes effect everywhere."""

    def __init__(self, open_read: Callable[[], AbstractContextManager[Rows]], require_key: bool) -> None:
        self._open_read, self._require_key = open_read, require_key
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._key_required = (0.0, False)  # valid until, and whether a key is required

    def authenticate(self, caller: Caller) -> Principal:
        """Return the holder of the key; without a key, the owner on this machine while no key exists."""
        name, token = caller.key, caller.token
        if name is not None:
            return self._cache(name.encode(), lambda rows: keys.find_active(rows, name))
        if token is not None:
            digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()  # the secret itself is not stored
            return self._cache(digest, lambda rows: keys.verify_token(rows, token))
        if not self.requires_key() and is_loopback(caller.remote or ""):
            return OWNER
        raise Unauthenticated("An API key is required: send it as `Authorization: Bearer …`.", reason="no_key")

    def forget(self) -> None:
        """Read the stored keys again with the next request."""
        self._known.clear()
        self._key_required = (0.0, False)

    def requires_key(self) -> bool:
        if self._require_key:
            return True
        until, required = self._key_required
        if time.monotonic() >= until:
            with self._open_read() as rows:
                required = keys.is_key_required(rows)
            self._key_required = (time.monotonic() + _CACHE_SECONDS, required)
        return required

    def _cache(self, credential: bytes, find: Callable[[Rows], Principal]) -> Principal:
        until, holder = self._known.get(credential, (0.0, None))
        if holder is not None and time.monotonic() < until:
            return holder
        with self._open_read() as rows:
            holder = find(rows)
        if len(self._known) >= _MAX_CACHED:
            self._known.clear()
        self._known[credential] = (time.monotonic() + _CACHE_SECONDS, holder)
        return holder


def is_loopback(address: str) -> bool:
    """Whether an address can only be reached from this machine. `A via B` (a proxy) is no address."""
    try:
        return address == "localhost" or ip_address(address.strip("[]")).is_loopback
    except ValueError:  # a name, which may resolve to any address
        return False
