"""The end of the row: the tool itself, with a desk of its own."""

from collections.abc import Callable
from typing import Any

from tokonoma.catalogue.registry import LoadedTool
from tokonoma.core.call import Call
from tokonoma.core.module import ToolInfo
from tokonoma.pipeline.desk import CallDesk, DeskParts


def invoke(bound: Callable[[ToolInfo], LoadedTool], rooms: DeskParts) -> Callable[[Call], Any]:
    outside = None

    def run(call: Call) -> Any:
        nonlocal outside
        tool = bound(call.chosen_tool).tool
        value = tool.run(CallDesk(rooms, call), **call.arguments)
        if not tool.outside:
            return value
        if outside is None:
            from tokonoma.pipeline.async_tools import AsyncTools  # asyncio: only for who talks to the outside

            outside = AsyncTools()
        return outside.start(value, call.cancel_token)

    return run
