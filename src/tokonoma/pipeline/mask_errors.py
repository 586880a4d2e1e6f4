"""mask_errors: the text of an error is screened like any answer, and so is a tool name that does not exist."""

from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.errors import Refusal, limit_refusal
from tokonoma.core.policy import Policy


def mask_errors(policy: Callable[[], Policy]) -> Callable[[Call], Iterator[None]]:
    def stage(call: Call) -> Iterator[None]:
        call.policy_version = policy().version
        try:
            yield
        except Refusal as error:
            limit_refusal(error)
            current = policy()
            view = call.view or current.view_for(call.principal)
            if call.tool_info is None:
                call.module, call.tool = (
                    str(current.screen_result(view, name).value) for name in (call.module, call.tool)
                )
            screened = current.screen_result(view, {"message": error.message, "details": error.details})
            if not screened.detections:
                raise
            call.detections += screened.detections
            message, details = screened.value["message"], screened.value["details"]
            raise type(error)(message, reason=error.reason, **details) from None

    return stage
