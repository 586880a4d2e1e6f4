"""choose: which tool is meant. What the caller's mask hides does not exist."""

from collections.abc import Callable

from tokonoma.catalogue.slips import describe_name
from tokonoma.core.call import Call, Principal
from tokonoma.core.concurrency import do_nothing
from tokonoma.core.module import ToolInfo


def choose(
    find: Callable[[str, str, Principal], ToolInfo], look: Callable[[], None] = do_nothing
) -> Callable[[Call], None]:
    """`look` is asked first whether other modules are there by now. Here the call holds no connection yet."""

    def stage(call: Call) -> None:
        look()
        if call.tool_info is None:  # the edge has already chosen for the gateway's own tools
            call.tool_info = find(call.module, call.tool, call.principal)
            slip = describe_name(call.tool, call.tool_info) if call.module else None
            call.corrections += [slip] if slip else []
            call.module, call.tool = call.tool_info.module, call.tool_info.name

    return stage
