"""The methods of resources and of completion that take the way of a call: from a message to a request, and back."""

from collections.abc import Mapping
from typing import Any, cast

from tokonoma.core.call import Caller
from tokonoma.core.errors import Missing
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import TOOL_CALL, Dispatcher, ToolRequest
from tokonoma.server.mcp.message import Message, ProtocolError
from tokonoma.server.mcp.methods import CACHE_MS
from tokonoma.server.mcp.versions import parse_trace_parent
from tokonoma.server.mcp.watch import CHECK

LIST, READ, SUBSCRIBE, COMPLETE = "resources/list", "resources/read", "resources/subscribe", "completion/complete"
PROMPT = "prompts/get"
NOT_FOUND = "Resource not found"
MAX_URI = 8192  # characters

MODERN_CALLS = frozenset({TOOL_CALL, LIST, READ, COMPLETE})
LEGACY_CALLS = MODERN_CALLS | {SUBSCRIBE}

_CACHE_MS = {LIST: CACHE_MS, READ: 0}  # a record may change at any time


def takes_call(dispatcher: Dispatcher, message: Message, caller: Caller, modern: bool) -> bool:
    """Whether a request is answered by a call: also for a prompt that another server has."""
    if message.method == PROMPT:
        return dispatcher.relays_prompt(caller, message.require_text("name"))
    return message.method in (MODERN_CALLS if modern else LEGACY_CALLS)


def parse_resource_request(message: Message, caller: Caller) -> ToolRequest:
    method, arguments = message.method, dict[str, Any]()
    if method == PROMPT:
        given = message.require_object("arguments", message.params.get("arguments"))
        arguments = {"name": message.require_text("name"), "arguments": given}
    elif method == LIST:
        arguments = {} if message.params.get("cursor") is None else {"cursor": message.require_text("cursor")}
    elif method == COMPLETE:
        arguments = _parse_completion(message)
    elif method == READ:
        arguments = {"uri": require_uri(message)}
    else:
        method, arguments = CHECK, {"uris": [require_uri(message)]}
    trace_parent = parse_trace_parent(message.meta.get("traceparent"))
    return ToolRequest(method, arguments, caller, trace_parent, bytes_in=message.size, method=method)


def require_uri(message: Message) -> str:
    uri = message.require_text("uri")
    if len(uri) > MAX_URI:
        raise message.error(f"uri is longer than {MAX_URI} characters")
    return uri


def require_found(value: Mapping[str, Any], uri: str) -> None:
    if uri not in value["found"]:
        raise Missing(NOT_FOUND, reason="resource")


def to_resource_error(message: Message, error: Exception, modern: bool) -> ProtocolError:
    """A resource that is not there and one that is hidden: the same error."""
    if isinstance(error, Missing) and error.reason == "resource":
        code = rpc.INVALID_PARAMS if modern else rpc.RESOURCE_NOT_FOUND
        return message.error(NOT_FOUND, code, {"uri": message.params.get("uri")})
    return rpc.to_protocol_error(message, error)


def add_cache_fields(method: str, value: dict[str, Any]) -> dict[str, Any]:
    """How long a modern client may keep it; a completion is not kept."""
    return {**value, "ttlMs": _CACHE_MS[method], "cacheScope": "private"} if method in _CACHE_MS else value


def _parse_completion(message: Message) -> dict[str, Any]:
    ref = message.require_object("ref", message.params.get("ref"))
    argument = message.require_object("argument", message.params.get("argument"))
    context = message.require_object("context", message.params.get("context"))
    known = message.require_object("context.arguments", context.get("arguments"))
    kind, target = ref.get("type"), ref.get("uri" if ref.get("type") == "ref/resource" else "name")
    name, value = argument.get("name"), argument.get("value")
    if kind not in ("ref/resource", "ref/prompt") or not all(type(each) is str for each in (target, name, value)):
        raise message.error("ref must have a type with its uri or name, and argument a name and a value")
    if not all(type(each) is str for each in known.values()):
        raise message.error("context.arguments must be an object whose values are strings")
    template = cast("str", target) if kind == "ref/resource" else ""  # the arguments of prompts are free texts
    return {"template": template, "argument": name, "value": value, "context": known}
