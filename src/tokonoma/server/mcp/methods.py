"""The methods that are answered at once, in both eras. All but `tools/call`."""

from collections.abc import Callable
from typing import Any

from tokonoma.core import cursor
from tokonoma.core.call import Caller
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import refused
from tokonoma.server.mcp.interface import Front
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.protocol import (
    INVALID_PARAMS,
    LEGACY,
    META_SERVER,
    METHOD_NOT_FOUND,
    MODERN,
    RESOURCE_NOT_FOUND,
)
from tokonoma.server.mcp.versions import client_of

PAGE = 256
"""Tools in one page: the whole house fits, so that clients which never ask for a second page miss nothing."""

FRESH_MS = 60_000
"""How long a client may keep a list; it belongs to the caller, since every credential sees its own tools."""

# Resources and prompts are announced because their lists are answered, though there are none:
# many clients ask for them without looking, and take an error for a broken server.
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}

Result = dict[str, Any]
Method = Callable[[Front, Message, Caller], Result]


def reply(front: Front, message: Message, caller: Caller, modern: bool) -> bytes:
    """The answer to any request but `tools/call`; raises Broken."""
    method = (MODERN_METHODS if modern else LEGACY_METHODS).get(message.method)
    if method is None:
        raise message.broken("Method not found", METHOD_NOT_FOUND, message.method)
    try:
        value = method(front, message, caller)
        if modern:
            value = {**value, "ttlMs": FRESH_MS, "cacheScope": "private", **complete(front)}
        return encode.result(message.id, value)
    except Exception as error:
        raise refused(message, error) from error


def complete(front: Front) -> Result:
    """What every modern result carries."""
    return {"resultType": "complete", "_meta": {META_SERVER: server_info(front)}}


def server_info(front: Front) -> dict[str, str]:
    return {"name": front.name, "title": front.title, "version": front.version}


def initialize(front: Front, message: Message, caller: Caller) -> Result:
    asked = message.params.get("protocolVersion")
    client = client_of(message.params.get("clientInfo"))
    if type(asked) is not str:
        raise message.broken("protocolVersion must be a string")
    if type(message.params.get("capabilities")) is not dict:
        raise message.broken("capabilities must be an object")
    if client is None:
        raise message.broken("clientInfo must be an object with name and version")
    caller.client = client
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": server_info(front),
        "instructions": front.instructions(caller),
    }


def discover(front: Front, message: Message, caller: Caller) -> Result:
    return {
        "supportedVersions": list(MODERN),
        "capabilities": CAPABILITIES,
        "instructions": front.instructions(caller),
    }


def ping(front: Front, message: Message, caller: Caller) -> Result:
    return {}


def tools_list(front: Front, message: Message, caller: Caller) -> Result:
    tools = front.tools(caller)
    after = _cursor(message)
    start = 0 if after is None else int(cursor.decode("tools", after)[0])
    page: Result = {"tools": list(tools[start : start + PAGE])}
    if start + PAGE < len(tools):
        page["nextCursor"] = cursor.encode("tools", start + PAGE)
    return page


def empty_list(name: str) -> Method:
    def answer(front: Front, message: Message, caller: Caller) -> Result:
        if _cursor(message) is not None:
            raise message.broken("This cursor was not made by this server")
        return {name: []}

    return answer


def _cursor(message: Message) -> str | None:
    found = message.params.get("cursor")
    if found is None or type(found) is str:
        return found
    raise message.broken("cursor must be a string")


def no_resource(code: int) -> Method:
    def answer(front: Front, message: Message, caller: Caller) -> Result:
        uri = message.params.get("uri")
        if type(uri) is not str:
            raise message.broken("uri must be a string")
        raise message.broken("Resource not found", code, {"uri": uri})

    return answer


def no_prompt(front: Front, message: Message, caller: Caller) -> Result:
    name = message.params.get("name")
    if type(name) is not str:
        raise message.broken("name must be a string")
    raise message.broken("Unknown prompt", INVALID_PARAMS, {"name": name})


_BOTH: dict[str, Method] = {
    "tools/list": tools_list,
    "resources/list": empty_list("resources"),
    "resources/templates/list": empty_list("resourceTemplates"),
    "prompts/list": empty_list("prompts"),
    "prompts/get": no_prompt,
}
LEGACY_METHODS: dict[str, Method] = {
    **_BOTH,
    "initialize": initialize,
    "ping": ping,
    "resources/read": no_resource(RESOURCE_NOT_FOUND),
}
MODERN_METHODS: dict[str, Method] = {
    **_BOTH,
    "server/discover": discover,
    "resources/read": no_resource(INVALID_PARAMS),
}
