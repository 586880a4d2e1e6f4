"""identify: the principal of a call. stdio and the command line are the owner; HTTP callers show a credential."""

from collections.abc import Callable

from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.errors import Missing, Unauthenticated, format_refusal

_LOCAL = ("stdio", "cli")


class CallerIdentifier:
    """`load` gives the authenticator: a local caller never needs it, so a cold start does not import it. `on_refused`
    records a caller whose key is not valid; HTTP records its requests itself."""

    def __init__(
        self, load: Callable[[], Callable[[Caller], Principal]], on_refused: Callable[[Caller, str, str], None]
    ) -> None:
        self._load, self._on_refused = load, on_refused
        self._authenticate: Callable[[Caller], Principal] | None = None

    def __call__(self, caller: Caller) -> Principal:
        if caller.principal is not None:
            return caller.principal
        if caller.transport in _LOCAL and caller.key is None:
            return OWNER
        if self._authenticate is None:
            self._authenticate = self._load()
        try:
            return self._authenticate(caller)
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
