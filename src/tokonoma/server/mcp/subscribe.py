"""`resources/subscribe` and `resources/unsubscribe` of the era with a handshake, where a session watches resources."""

from collections.abc import Callable, Mapping
from typing import Any

from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.resource_calls import LIST, SUBSCRIBE, require_found, require_uri
from tokonoma.server.mcp.watch import ResourceWatch

UNSUBSCRIBE = "resources/unsubscribe"

Value = dict[str, Any]


def convert_for(
    message: Message, watch: ResourceWatch | None, note: Callable[[Mapping[str, str]], None] = lambda marks: None
) -> Callable[[Value], Value]:
    """What becomes of the value of a call. A client that has read the list is told when it changes. `note` is told
    what is watched, before it is."""

    def subscribe(value: Value) -> Value:
        require_found(value, message.params["uri"])
        assert watch is not None
        note(value["found"])
        watch.add(value["found"])
        return {}

    def follow_list(value: Value) -> Value:
        if watch is not None and "mark" in value:
            watch.add({}, value["mark"])
        return value

    if message.method == SUBSCRIBE:
        return subscribe
    return follow_list if message.method == LIST else lambda value: value


def unsubscribe(message: Message, watch: ResourceWatch | None) -> bytes:
    uri = require_uri(message)
    if watch is not None:
        watch.remove(uri)
    return rpc.encode_result(message.id, {})
