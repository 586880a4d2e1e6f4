"""mask_errors: the text of an error is screened like any answer, and so is a tool name that does not exist."""

from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.errors import Missing, Refusal, limit_refusal
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
            if call.tool_info is None:  # names that the caller made up, except that of a module with another tool
                call.tool = str(current.screen_result(view, call.tool).value)
                if not (isinstance(error, Missing) and error.reason == "tool"):
                    call.module = str(current.screen_result(view, call.module).value)
            judge = current if call.tool_info is None else current.for_tool(call.principal, call.tool_info)
            screened = judge.screen_error(view, error.message, error.details)
            if not screened.detections:
                raise
            call.detections += screened.detections
            message, details = screened.value
            raise type(error)(message, reason=error.reason, **details) from None

    return stage
