"""Finding the principal of an HTTP caller. Runs for every request, so it must be quick on both databases."""

import hashlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.auth import api_keys as keys
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated
from tokonoma.core.network import is_loopback

_MAX_CACHED = 1024  # credentials
_CACHE_SECONDS = 1.0


class Authenticator:
    """Caches what it found for a second: within that time a revocation, a change or a first key takes effect in every
    process, and an expiry too. Asking the store for each request would cost 0.3 ms or more on PostgreSQL, on the event
    loop (docs/adr/0026-who-is-let-in.md)."""

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
        # Behind a proxy on this machine every caller would seem to be local, and so be the owner.
        if not self.requires_key() and is_loopback(caller.remote or "") and not caller.forwarded:
            return OWNER
        message = "An API key is required: send it as `Authorization: Bearer …`."
        if caller.forwarded:
            raise Unauthenticated(message, reason="forwarded")
        raise Unauthenticated(message, reason="no_key")

    def forget(self) -> None:
        """Read the stored keys again with the next request."""
        self._known.clear()
        self._key_required = (0.0, False)

    def always_require_key(self) -> None:
        """For a server that other machines can reach: `keys open` must not make a caller its owner."""
        self._require_key = True

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
