"""The door: who a caller over HTTP is. Asked for every request, so it must be quick on either database."""

import hashlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.auth import api_keys as keys
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated

_MAX_REMEMBERED = 1024  # credentials remembered
_REMEMBER_SECONDS = 1.0  # seconds


class Authenticator:
    """What was found is remembered for a second: within that time a revocation, or a first key, is felt everywhere."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Rows]], require_key: bool) -> None:
        self._open_read, self._require_key = reading, require_key
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._key_required = (0.0, False)  # until when it is known whether a key is required

    def authenticate(self, caller: Caller) -> Principal:
        """Whoever holds the key; without one, the owner on this machine while no key exists."""
        if caller.key is not None:
            return self._remember(caller.key.encode(), lambda rows: keys.find_active(rows, caller.key or ""))
        if caller.token is not None:
            return self._find_holder(caller.token)
        if not self.requires_key() and is_loopback(caller.remote or ""):
            return OWNER
        raise Unauthenticated("An API key is required: send it as `Authorization: Bearer …`.", reason="no_key")

    def forget(self) -> None:
        """Look at the stored keys again with the next request."""
        self._known.clear()
        self._key_required = (0.0, False)

    def requires_key(self) -> bool:
        """Whether a caller has to show a key."""
        if self._require_key:
            return True
        until, required = self._key_required
        if time.monotonic() >= until:
            with self._open_read() as rows:
                required = keys.keys_exist(rows)
            self._key_required = (time.monotonic() + _REMEMBER_SECONDS, required)
        return required

    def _find_holder(self, token: str) -> Principal:
        mark = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()  # the secret itself is not kept
        return self._remember(mark, lambda rows: keys.verify_token(rows, token))

    def _remember(self, mark: bytes, find: Callable[[Rows], Principal]) -> Principal:
        until, found = self._known.get(mark, (0.0, None))
        if found is not None and time.monotonic() < until:
            return found
        with self._open_read() as rows:
            found = find(rows)
        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        self._known[mark] = (time.monotonic() + _REMEMBER_SECONDS, found)
        return found


def is_loopback(address: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return address in ("localhost", "::1") or address.startswith("127.")
