"""The end of the row: the tool itself, with a desk of its own."""

from collections.abc import Callable
from typing import Any

from tokonoma.catalogue.registry import Bound
from tokonoma.core.call import Call
from tokonoma.core.module import Entry
from tokonoma.pipeline.desk import CallDesk, Rooms


def work(bound: Callable[[Entry], Bound], rooms: Rooms) -> Callable[[Call], Any]:
    outside = None

    def run(call: Call) -> Any:
        nonlocal outside
        tool = bound(call.chosen).tool
        value = tool.run(CallDesk(rooms, call), **call.arguments)
        if not tool.outside:
            return value
        if outside is None:
            from tokonoma.pipeline.async_tools import Outside  # asyncio: only for who talks to the outside

            outside = Outside()
        return outside.start(value, call.stop)

    return run
