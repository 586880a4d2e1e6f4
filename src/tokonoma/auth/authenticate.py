"""Finding the principal of an HTTP caller. Runs for every request, so what was found is remembered for a moment."""

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
    process, and an expiry too. Asking the store for each request would cost 0.3 ms or more on PostgreSQL, and a change
    of threads (docs/adr/0026-who-is-let-in.md)."""

    def __init__(self, open_read: Callable[[], AbstractContextManager[Rows]], require_key: bool) -> None:
        self._open_read, self._require_key = open_read, require_key
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._key_required = (0.0, False)  # valid until, and whether a key is required

    def recall(self, caller: Caller) -> Principal | None:
        """What `authenticate` found for this caller within the last second; None if the store must be asked."""
        credential = _identify_credential(caller)
        if credential:
            return self._recall(credential)
        until, required = self._key_required
        is_open = not self._require_key and not required and time.monotonic() < until
        return OWNER if is_open and _is_local(caller) else None

    def authenticate(self, caller: Caller) -> Principal:
        """Return the holder of the key; without a key, the owner on this machine while no key exists."""
        name, token, credential = caller.key, caller.token, _identify_credential(caller)
        if name is not None:
            return self._cache(credential, lambda rows: keys.find_active(rows, name))
        if token is not None:
            return self._cache(credential, lambda rows: keys.verify_token(rows, token))
        if not self.requires_key() and _is_local(caller):
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

    def _recall(self, credential: bytes) -> Principal | None:
        until, holder = self._known.get(credential, (0.0, None))
        return holder if time.monotonic() < until else None

    def _cache(self, credential: bytes, find: Callable[[Rows], Principal]) -> Principal:
        holder = self._recall(credential)
        if holder is not None:
            return holder
        with self._open_read() as rows:
            holder = find(rows)
        if len(self._known) >= _MAX_CACHED:
            self._known.clear()
        self._known[credential] = (time.monotonic() + _CACHE_SECONDS, holder)
        return holder


def _identify_credential(caller: Caller) -> bytes:
    """What the cache knows it by, empty if there is none. The secret itself is not stored."""
    if caller.key is not None:
        return b"name:" + caller.key.encode()
    return b"" if caller.token is None else hashlib.sha256(caller.token.encode("utf-8", "surrogatepass")).digest()


def _is_local(caller: Caller) -> bool:
    """Behind a proxy on this machine every caller would seem to be local, and so be the owner."""
    return is_loopback(caller.remote or "") and not caller.forwarded
