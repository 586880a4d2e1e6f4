"""Tools of the owner's own commands: unlisted ones, which no client can ask for, through the whole pipeline."""

import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import orjson

from tokonoma.app import App
from tokonoma.core.call import Call, Caller
from tokonoma.core.errors import Limited


def call_owner_tool(app: App, module: str, tool: str, params: Mapping[str, Any]) -> Any:
    """The value of an unlisted tool, asked by the owner. A limit that is set is waited for; Ctrl-C ends the call."""
    while True:
        try:
            return _run_once(app, module, tool, params)
        except Limited as error:
            threading.Event().wait(float(error.details.get("retry_after", 1)))


def _run_once(app: App, module: str, tool: str, params: Mapping[str, Any]) -> Any:
    size = len(orjson.dumps(params))
    call = Call(
        module, tool, params, Caller("cli"), tool_info=app.registry.find_owner_tool(module, tool), bytes_in=size
    )
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    app.calls.submit(call, lambda _, error: ended.put(error))
    while True:
        try:
            error = ended.get()
            break
        except KeyboardInterrupt:
            call.cancel_token.cancel("cancelled")
    if error is not None:
        raise error
    return call.value
