"""How the commands ask: tools of `items` through the whole pipeline, as the owner."""

from typing import Any

import orjson

from tokonoma.app import App
from tokonoma.cli.call import send_request
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.modules.items.model import MODULE_NAME, parse_target


def call_items_tool(app: App, tool: str, **params: Any) -> Any:
    """The tool's value; a refusal says what the tool says."""
    given = {name: value for name, value in params.items() if value is not None}
    answer = send_request(app, "call", {"module": MODULE_NAME, "tool_name": tool, "params": given})
    told = orjson.loads(answer.content[0]["text"])
    if answer.is_error:
        error = told["error"]
        details = error.get("data", error).get("details", {})
        if details.get("constraint") == "revision":
            raise Conflict(error["message"], **details)
        pointer = f"\n{details['pointer']}" if "pointer" in details else ""
        raise Invalid(error["message"] + pointer)
    return told


def parse_address(written: str) -> dict[str, Any]:
    """`docs-12` as the tools want it."""
    target = parse_target(written)
    if target is None or target.item is None:
        raise Invalid(f"{written!r} is not the address of an item. One looks like docs-12.")
    return {"type": target.type or MODULE_NAME, "id": target.item}
