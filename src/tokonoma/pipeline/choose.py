"""choose: which tool is meant. What the caller's mask hides does not exist."""

from collections.abc import Callable

from tokonoma.core.call import Call, Principal
from tokonoma.core.module import Entry


def choose(find: Callable[[str, str, Principal], Entry]) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        if call.entry is None:  # the edge has already chosen for the gateway's own tools
            call.entry = find(call.module, call.tool, call.who)
            call.module, call.tool = call.entry.module, call.entry.name

    return stage
