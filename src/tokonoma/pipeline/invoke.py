"""The end of the pipeline: the tool itself, with a desk of its own."""

import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tokonoma.catalogue import BUILT_IN_MODULES
from tokonoma.catalogue.registry import GATEWAY, LoadedTool
from tokonoma.core.call import Call
from tokonoma.core.concurrency import Deferred
from tokonoma.core.errors import Unavailable
from tokonoma.core.module import Tool, ToolInfo
from tokonoma.pipeline.desk import CallDesk
from tokonoma.pipeline.desk_tx import DeskParts

if TYPE_CHECKING:
    from tokonoma.pipeline.async_tools import AsyncTools, Submit


class ToolInvoker:
    """`record_sent` commits a journal entry before a call that changes something outside leaves this process."""

    def __init__(
        self,
        load: Callable[[ToolInfo], LoadedTool],
        parts: DeskParts,
        submit: "Submit",
        record_sent: Callable[[Call], None],
    ) -> None:
        self._load, self._parts, self._submit, self._record_sent = load, parts, submit, record_sent
        self._lock = threading.Lock()
        self._async_tools: AsyncTools | None = None

    def __call__(self, call: Call) -> Any:
        tool = self._load(call.chosen_tool).tool
        if call.chosen_tool.module not in BUILT_IN_MODULES:
            call.read_unclassified = True  # where a plugin has its texts from is not known: all of them are screened
        desk = CallDesk(self._parts, call)
        if not tool.outside:
            # A batch may hold deletions; each of its steps is a call of its own, and it is never run twice.
            deletes = tool.effect == "destroy" and call.chosen_tool.module != GATEWAY
            return self._delete(tool, desk, call) if deletes else tool.run(desk, **call.arguments)
        if tool.effect != "read":
            self._record_sent(call)
        call.cancel_token.outcome = "its request to the other service may have been sent"
        return self._start(tool.run, desk, call)

    def _delete(self, tool: Tool, desk: CallDesk, call: Call) -> Any:
        """On a full disk a deletion gets the room that is kept for it. What failed has changed nothing."""
        try:
            return tool.run(desk, **call.arguments)
        except Unavailable as error:
            if error.reason != "disk_full" or not self._parts.database.give_up_reserve():
                raise
        return tool.run(CallDesk(self._parts, call), **call.arguments)

    def close(self) -> None:
        if self._async_tools is not None:
            self._async_tools.close()

    def _start(self, run: Callable[..., Any], desk: CallDesk, call: Call) -> Deferred[Any]:
        """An `async def` gets an async desk. A plain `def` prepares on this worker and returns a coroutine."""
        from tokonoma.pipeline.async_tools import AsyncTools, CallAsyncDesk  # asyncio: only for outside tools

        with self._lock:
            if self._async_tools is None:
                self._async_tools = AsyncTools(self._submit)
        connect = partial(self._parts.connect, call)
        given = CallAsyncDesk(desk, self._submit, connect) if inspect.iscoroutinefunction(run) else desk
        return self._async_tools.start(run(given, **call.arguments), call.cancel_token)
