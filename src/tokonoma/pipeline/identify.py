"""identify: who calls. stdio is the owner; over HTTP it is the key that the request carries."""

from collections.abc import Callable

from tokonoma.core.call import Call, Caller, Principal


def identify(find: Callable[[Caller], Principal]) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        call.identified = find(call.caller)

    return stage
