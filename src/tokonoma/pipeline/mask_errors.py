"""veil: an error speaks of what it met, so what it says is looked through like any answer. Also what the journal keeps
of a tool's name that nobody knows."""

from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.errors import Refusal
from tokonoma.core.policy import Policy


def veil(policy: Callable[[], Policy]) -> Callable[[Call], Iterator[None]]:
    def stage(call: Call) -> Iterator[None]:
        call.policy_version = policy().version
        try:
            yield
        except Refusal as error:
            current = policy()
            view = call.view or current.view(call.who)
            if call.entry is None:
                call.module, call.tool = (str(current.cleared(view, name).value) for name in (call.module, call.tool))
            told = current.cleared(view, {"message": error.message, "details": error.details})
            if not told.found:
                raise
            call.found += told.found
            message, details = told.value["message"], told.value["details"]
            raise type(error)(message, reason=error.reason, **details) from None

    return stage
