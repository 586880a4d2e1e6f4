"""The methods that are answered at once, in both eras. All but `tools/call`."""

from collections.abc import Callable
from typing import Any

from tokonoma.core import cursor
from tokonoma.core.call import Caller
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import to_protocol_error
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.protocol import (
    INVALID_PARAMS,
    LEGACY,
    META_SERVER,
    METHOD_NOT_FOUND,
    MODERN,
    RESOURCE_NOT_FOUND,
)
from tokonoma.server.mcp.versions import format_client

TOOLS_PER_PAGE = 256
"""Tools in one page: the whole house fits, so that clients which never ask for a second page miss nothing."""

CACHE_MS = 60_000
"""How long a client may keep a list; it belongs to the caller, since every credential sees its own tools."""

# Resources and prompts are announced because their lists are answered, though there are none:
# many clients ask for them without looking, and take an error for a broken server.
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}

MethodResult = dict[str, Any]
MethodHandler = Callable[[Dispatcher, Message, Caller], MethodResult]


def answer_request(front: Dispatcher, message: Message, caller: Caller, modern: bool) -> bytes:
    """The answer to any request but `tools/call`; raises Broken."""
    method = (MODERN_METHODS if modern else LEGACY_METHODS).get(message.method)
    if method is None:
        raise message.error("Method not found", METHOD_NOT_FOUND, message.method)
    try:
        value = method(front, message, caller)
        if modern:
            value = {**value, "ttlMs": CACHE_MS, "cacheScope": "private", **modern_fields(front)}
        return encode.encode_result(message.id, value)
    except Exception as error:
        raise to_protocol_error(message, error) from error


def modern_fields(front: Dispatcher) -> MethodResult:
    """What every modern result carries."""
    return {"resultType": "complete", "_meta": {META_SERVER: build_server_info(front)}}


def build_server_info(front: Dispatcher) -> dict[str, str]:
    return {"name": front.name, "title": front.title, "version": front.version}


def initialize(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    asked = message.params.get("protocolVersion")
    client = format_client(message.params.get("clientInfo"))
    if type(asked) is not str:
        raise message.error("protocolVersion must be a string")
    if type(message.params.get("capabilities")) is not dict:
        raise message.error("capabilities must be an object")
    if client is None:
        raise message.error("clientInfo must be an object with name and version")
    caller.client = client
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": build_server_info(front),
        "instructions": front.get_instructions(caller),
    }


def discover(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    return {
        "supportedVersions": list(MODERN),
        "capabilities": CAPABILITIES,
        "instructions": front.get_instructions(caller),
    }


def ping(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    return {}


def list_tools(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    tools = front.list_tools(caller)
    after = _read_cursor(message)
    start = 0 if after is None else int(cursor.decode("tools", after)[0])
    page: MethodResult = {"tools": list(tools[start : start + TOOLS_PER_PAGE])}
    if start + TOOLS_PER_PAGE < len(tools):
        page["nextCursor"] = cursor.encode("tools", start + TOOLS_PER_PAGE)
    return page


def make_empty_list(name: str) -> MethodHandler:
    def answer(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
        if _read_cursor(message) is not None:
            raise message.error("This cursor was not made by this server")
        return {name: []}

    return answer


def _read_cursor(message: Message) -> str | None:
    found = message.params.get("cursor")
    if found is None or type(found) is str:
        return found
    raise message.error("cursor must be a string")


def refuse_resource(code: int) -> MethodHandler:
    def answer(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
        uri = message.params.get("uri")
        if type(uri) is not str:
            raise message.error("uri must be a string")
        raise message.error("Resource not found", code, {"uri": uri})

    return answer


def refuse_prompt(front: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    name = message.params.get("name")
    if type(name) is not str:
        raise message.error("name must be a string")
    raise message.error("Unknown prompt", INVALID_PARAMS, {"name": name})


_BOTH: dict[str, MethodHandler] = {
    "tools/list": list_tools,
    "resources/list": make_empty_list("resources"),
    "resources/templates/list": make_empty_list("resourceTemplates"),
    "prompts/list": make_empty_list("prompts"),
    "prompts/get": refuse_prompt,
}
LEGACY_METHODS: dict[str, MethodHandler] = {
    **_BOTH,
    "initialize": initialize,
    "ping": ping,
    "resources/read": refuse_resource(RESOURCE_NOT_FOUND),
}
MODERN_METHODS: dict[str, MethodHandler] = {
    **_BOTH,
    "server/discover": discover,
    "resources/read": refuse_resource(INVALID_PARAMS),
}
