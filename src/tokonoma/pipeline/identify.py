"""identify: the principal of a call. stdio and the command line are the owner; HTTP callers show a credential."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.errors import Missing, Unauthenticated, format_refusal

if TYPE_CHECKING:
    from tokonoma.auth.authenticate import Authenticator

_LOCAL = ("stdio", "cli")


class CallerIdentifier:
    """`load` gives the authenticator: a local caller never needs it, so a cold start does not import it. `on_refused`
    records a caller whose key is not valid; HTTP records its requests itself."""

    def __init__(self, load: "Callable[[], Authenticator]", on_refused: Callable[[Caller, str, str], None]) -> None:
        self._load, self._on_refused = load, on_refused
        self._authenticator: Authenticator | None = None

    def recall(self, caller: Caller) -> Principal | None:
        """The principal if it is known; None if the store must be asked, which may take a while."""
        if caller.principal is not None:
            return caller.principal
        if caller.transport in _LOCAL and caller.key is None:
            return OWNER
        return None if self._authenticator is None else self._authenticator.recall(caller)

    def renew(self, caller: Caller) -> Principal:
        """The principal as the store knows it now, for something that was open for a while."""
        if caller.transport in _LOCAL and caller.key is None:
            return OWNER
        return self._get_authenticator().renew(caller)

    def _get_authenticator(self) -> "Authenticator":
        if self._authenticator is None:
            self._authenticator = self._load()
        return self._authenticator

    def __call__(self, caller: Caller) -> Principal:
        known = self.recall(caller)
        if known is not None:
            return known
        try:
            return self._get_authenticator().authenticate(caller)
        except (Unauthenticated, Missing) as refusal:
            if caller.transport in _LOCAL:
                self._on_refused(caller, format_refusal(refusal), caller.transport)
            raise


def identify(
    find: Callable[[Caller], Principal], on_refused: Callable[[Caller, str, str], None]
) -> Callable[[Call], None]:
    """`on_refused` records a step of a batch whose key has ended since the batch began."""

    def stage(call: Call) -> None:
        try:
            call.identified = find(call.caller)
        except Unauthenticated as refusal:
            if call.caller.transport not in _LOCAL:
                on_refused(call.caller, format_refusal(refusal), "batch")
            raise

    return stage
