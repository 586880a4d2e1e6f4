"""choose: which tool is meant. What the caller's mask hides does not exist."""

from collections.abc import Callable

from tokonoma.core.call import Call, Principal
from tokonoma.core.module import ToolInfo


def choose(find: Callable[[str, str, Principal], ToolInfo]) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        if call.tool_info is None:  # the edge has already chosen for the gateway's own tools
            call.tool_info = find(call.module, call.tool, call.principal)
            call.module, call.tool = call.tool_info.module, call.tool_info.name

    return stage
