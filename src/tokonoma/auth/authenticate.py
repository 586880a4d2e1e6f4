"""The door: who a caller over HTTP is. Asked for every request, so it must be quick on either database."""

import hashlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.auth import api_keys as keys
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated

_MOST = 1024  # credentials remembered
_REMEMBERED = 1.0  # seconds


class Door:
    """What was found is remembered for a second: within that time a revocation, or a first key, is felt everywhere."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Rows]], require_key: bool) -> None:
        self._reading, self._require_key = reading, require_key
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._closed = (0.0, False)  # until when it is known whether a key is required

    def principal(self, caller: Caller) -> Principal:
        """Whoever holds the key; without one, the owner on this machine while no key exists."""
        if caller.token is not None:
            return self._holder(caller.token)
        if not self.required() and is_loopback(caller.remote or ""):
            return OWNER
        raise Unauthenticated("An API key is required: send it as `Authorization: Bearer …`.", reason="no_key")

    def required(self) -> bool:
        """Whether a caller has to show a key."""
        if self._require_key:
            return True
        until, required = self._closed
        if time.monotonic() >= until:
            with self._reading() as rows:
                required = keys.exist(rows)
            self._closed = (time.monotonic() + _REMEMBERED, required)
        return required

    def _holder(self, token: str) -> Principal:
        mark = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()  # the secret itself is not kept
        until, found = self._known.get(mark, (0.0, None))
        if found is not None and time.monotonic() < until:
            return found
        with self._reading() as rows:
            found = keys.principal(rows, token)
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[mark] = (time.monotonic() + _REMEMBERED, found)
        return found


def is_loopback(address: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return address in ("localhost", "::1") or address.startswith("127.")
