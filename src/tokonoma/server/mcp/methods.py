"""The methods that are answered at once, in both eras: all that do not take the way of a call."""

from collections.abc import Callable
from typing import Any, cast

from tokonoma.core.call import Caller
from tokonoma.core.errors import Invalid
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.versions import META_SERVER, MODERN, agree_version, format_client

TOOLS_PER_PAGE = 256
"""All built-in tools fit into one page: some clients never ask for a second."""

CACHE_MS = 60_000
"""How long a client may cache a list. The cache is private, since every credential sees its own tools."""

CAPABILITIES: dict[str, Any] = {
    "tools": {},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "completions": {},
}

MethodResult = dict[str, Any]
MethodHandler = Callable[[Dispatcher, Message, Caller], MethodResult]


def answer_request(dispatcher: Dispatcher, message: Message, caller: Caller, modern: bool) -> bytes:
    """Answer a request that starts no call; raises rpc.ProtocolError."""
    method = (MODERN_METHODS if modern else LEGACY_METHODS).get(message.method)
    if method is None:
        raise message.error("Method not found", rpc.METHOD_NOT_FOUND, message.method)
    try:
        value = method(dispatcher, message, caller)
        if modern:
            value = {**value, "ttlMs": CACHE_MS, "cacheScope": "private", **modern_fields(dispatcher)}
        return rpc.encode_result(message.id, value)
    except Exception as error:
        raise rpc.to_protocol_error(message, error) from error


def modern_fields(dispatcher: Dispatcher) -> MethodResult:
    """Return the fields of every modern result."""
    return {"resultType": "complete", "_meta": {META_SERVER: _server_info(dispatcher)}}


def _server_info(dispatcher: Dispatcher) -> dict[str, str]:
    return {"name": dispatcher.name, "title": dispatcher.title, "version": dispatcher.version}


def _initialize(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    version = message.require_text("protocolVersion")
    client = format_client(message.params.get("clientInfo"))
    if type(message.params.get("capabilities")) is not dict:
        raise message.error("capabilities must be an object")
    if client is None:
        raise message.error("clientInfo must be an object with name and version")
    caller.client, caller.protocol_version = client, agree_version(version)
    return {
        "protocolVersion": caller.protocol_version,
        "capabilities": CAPABILITIES,
        "serverInfo": _server_info(dispatcher),
        "instructions": dispatcher.get_instructions(caller),
    }


def _discover(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    return {
        "supportedVersions": list(MODERN),
        "capabilities": CAPABILITIES,
        "instructions": dispatcher.get_instructions(caller),
    }


def _list_tools(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    tools = dispatcher.list_tools(caller)
    start = _read_start(message)
    page: MethodResult = {"tools": list(tools[start : start + TOOLS_PER_PAGE])}
    if start + TOOLS_PER_PAGE < len(tools):
        page["nextCursor"] = str(start + TOOLS_PER_PAGE)
    return page


def _read_start(message: Message) -> int:
    """The place in the caller's own list of tools: a number, as it tells nothing else and the store may not be open."""
    cursor = _read_cursor(message) or "0"
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise Invalid("This cursor is not from this tool. Leave it out to start at the first page.", field="cursor")
    return int(cursor)


def _list_prompts(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    _refuse_cursor(message)
    return {"prompts": list(dispatcher.list_prompts(caller))}


def _get_prompt(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    name, arguments = message.require_text("name"), cast("Any", message.params.get("arguments") or {})
    if type(arguments) is not dict or not all(type(each) is str for each in cast("dict[str, Any]", arguments).values()):
        raise message.error("arguments must be an object whose values are strings")
    return dict(dispatcher.get_prompt(caller, name, cast("dict[str, str]", arguments)))


def _list_templates(dispatcher: Dispatcher, message: Message, caller: Caller) -> MethodResult:
    _refuse_cursor(message)
    return {"resourceTemplates": list(dispatcher.list_templates(caller))}


def _refuse_cursor(message: Message) -> None:
    """For a list that has one page."""
    if _read_cursor(message) is not None:
        raise message.error("This cursor was not made by this server")


def _read_cursor(message: Message) -> str | None:
    return None if message.params.get("cursor") is None else message.require_text("cursor")


_BOTH: dict[str, MethodHandler] = {
    "tools/list": _list_tools,
    "resources/templates/list": _list_templates,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
}
LEGACY_METHODS: dict[str, MethodHandler] = {
    **_BOTH,
    "initialize": _initialize,
    "ping": lambda dispatcher, message, caller: {},
}
MODERN_METHODS: dict[str, MethodHandler] = {
    **_BOTH,
    "server/discover": _discover,
}
