"""Finding the principal of an HTTP caller. Runs for every request, so what was found is remembered for a moment."""

import hashlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from tokonoma.auth import api_keys as keys
from tokonoma.auth.credentials import find_credential
from tokonoma.auth.offer import OAuthOffer
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated
from tokonoma.core.network import is_loopback

_MAX_CACHED = 1024  # credentials
_CACHE_SECONDS = 1.0
_MAX_TOKEN = 4096  # characters: nothing longer is even hashed


class _Access(NamedTuple):
    """Who needs a credential, as it was last read."""

    until: float  # when it must be read again
    key_required: bool
    oauth: bool


class Authenticator:
    """Caches what it found for a second: within that time a revocation, a change or a first key takes effect in every
    process, and an expiry too. Asking the store for each request would cost 0.3 ms or more on PostgreSQL, and a change
    of threads (docs/adr/0026-who-is-let-in.md)."""

    def __init__(
        self, open_read: Callable[[], AbstractContextManager[Rows]], require_key: bool, offer: OAuthOffer | None = None
    ) -> None:
        self._open_read, self._require_key = open_read, require_key
        self.offer = offer or OAuthOffer()
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._access = _Access(0.0, False, False)

    def recall(self, caller: Caller) -> Principal | None:
        """What `authenticate` found for this caller within the last second; None if the store must be asked."""
        credential = _identify_credential(caller)
        if credential:
            return self._recall(credential)
        access = self._access
        is_open = not self._require_key and not access.key_required and not access.oauth
        return OWNER if is_open and time.monotonic() < access.until and _is_local(caller) else None

    def authenticate(self, caller: Caller) -> Principal:
        """Return the holder of the credential; without one, the owner on this machine while none is required."""
        name, token, credential = caller.key, caller.token, _identify_credential(caller)
        if name is not None:
            return self._cache(credential, lambda rows: find_credential(rows, name))
        access = self._read_access()  # also for who has a token: if it is not good, the answer says where to sign in
        if token is not None and len(token) > _MAX_TOKEN:
            raise Unauthenticated("This is no credential of this server.", reason="token")
        if token is not None and _is_jwt(token):
            return self._cache(credential, lambda rows: self._find_bearer(rows, token, caller.origin))
        if token is not None:
            return self._cache(credential, lambda rows: keys.verify_token(rows, token))
        if not self._require_key and not access.key_required and not access.oauth and _is_local(caller):
            return OWNER
        message = "An API key is required: send it as `Authorization: Bearer …`."
        if access.oauth:
            message = "Sign in with OAuth, or send an API key as `Authorization: Bearer …`."
        if caller.forwarded:
            raise Unauthenticated(message, reason="forwarded")
        raise Unauthenticated(message, reason="no_key")

    def renew(self, caller: Caller) -> Principal:
        """What the store says of this caller now, whatever is remembered."""
        self._known.pop(_identify_credential(caller), None)
        self._access = self._access._replace(until=0.0)
        return self.authenticate(caller)

    def forget(self) -> None:
        """Read the stored keys again with the next request."""
        self._known.clear()
        self._access = self._access._replace(until=0.0)

    def always_require_key(self) -> None:
        """For a server that other machines can reach: `keys open` must not make a caller its owner."""
        self._require_key = True

    def refuse_oauth(self, problem: str) -> None:
        """Keep OAuth off, whatever the settings say."""
        self.offer = replace(self.offer, problem=problem)
        self.forget()

    def requires_key(self) -> bool:
        """Whether callers on this machine need a credential, too."""
        access = self._read_access()
        return self._require_key or access.key_required or access.oauth

    def offers_oauth(self, origin: str) -> bool:
        """Whether clients may sign in under this origin. May ask the store."""
        return self._read_access().oauth and self.offer.covers(origin)

    def recalls_oauth(self, origin: str) -> bool:
        """The same from memory, as the last request that asked the store found it."""
        return self._access.oauth and self.offer.covers(origin)

    def _read_access(self) -> _Access:
        access = self._access
        if time.monotonic() >= access.until:
            with self._open_read() as rows:
                key_required, oauth = keys.is_key_required(rows), self.offer.is_on(rows)
            access = self._access = _Access(time.monotonic() + _CACHE_SECONDS, key_required, oauth)
        return access

    def _find_bearer(self, rows: Rows, token: str, origin: str) -> Principal:
        if not self.offer.is_on(rows):
            raise Unauthenticated("Clients cannot sign in with OAuth here.", reason="oauth_off")
        from tokonoma.auth.oauth.bearer import find_bearer  # joserfc: 30 ms that a server without clients never needs

        return find_bearer(rows, token, self.offer.list_origins(origin))

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
    token = caller.token
    if token is None or len(token) > _MAX_TOKEN:
        return b"" if token is None else b"-"
    # An access token is good for one origin only, so what is known of it is too.
    text = f"{caller.origin} {token}" if _is_jwt(token) else token
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _is_jwt(token: str) -> bool:
    return token.startswith("ey") and token.count(".") == 2


def _is_local(caller: Caller) -> bool:
    """Behind a proxy on this machine every caller would seem to be local, and so be the owner."""
    return is_loopback(caller.remote or "") and not caller.forwarded
