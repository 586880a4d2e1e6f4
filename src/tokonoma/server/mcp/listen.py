"""`subscriptions/listen` (2026-07-28): a request that stays open and carries notifications until one side ends it."""

import threading
from collections.abc import Callable
from typing import Any, cast

from tokonoma.core.call import Caller
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher, ToolResult
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import modern_fields
from tokonoma.server.mcp.resource_calls import MAX_URI
from tokonoma.server.mcp.tool_call import SendMessage
from tokonoma.server.mcp.versions import META_SUBSCRIPTION
from tokonoma.server.mcp.watch import MAX_WATCHED, ResourceWatch, build_check, read_value

LISTEN = "subscriptions/listen"


class Listening:
    """One such request. `send` gets the acknowledgement, the notifications and, if the server ends it, the result.
    `on_end` is called once."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        message: Message,
        caller: Caller,
        send: SendMessage,
        on_end: "Callable[[Listening], None]",
    ) -> None:
        assert message.id is not None
        self.id: rpc.RequestId = message.id
        self._dispatcher, self._message, self._caller, self._send = dispatcher, message, caller, send
        self._on_end = on_end
        self._over = threading.Lock()  # acquired once, never released
        self._watch = ResourceWatch(dispatcher, caller, lambda sent: send(sent, False), self.finish, message.id)

    def start(self) -> None:
        """Ask what of it exists for this caller, then acknowledge that; raises rpc.ProtocolError."""
        try:
            uris, self._lists = _parse_filter(self._message)
            self._dispatcher.start_call(build_check(self._caller, uris, self._lists), self._acknowledge)
        except Exception as error:
            raise rpc.to_protocol_error(self._message, error) from error

    def _acknowledge(self, result: ToolResult) -> None:
        if result.refusal is not None:
            error = rpc.to_protocol_error(self._message, result.refusal)
            self._end(rpc.encode_protocol_error(error))
            return
        value = read_value(result)
        agreed: dict[str, Any] = {"resourcesListChanged": True} if self._lists else {}
        if value["found"]:
            agreed["resourceSubscriptions"] = list(value["found"])
        if not self._over.locked():
            self._watch.send("notifications/subscriptions/acknowledged", notifications=agreed)
            self._watch.add(value["found"], value["list"] if self._lists else None)
        if self._over.locked():  # cancelled meanwhile
            self._watch.end()

    def cancel(self) -> None:
        """The client has ended it: nothing is sent any more."""
        self._end(None)

    def narrow(self, lost: bool = False) -> None:
        """The caller may use less from now on; see `ResourceWatch`."""
        self._watch.narrow(lost)

    def finish(self) -> None:
        """The server ends it, or the caller's key has ended: the request is answered."""
        fields = modern_fields(self._dispatcher)
        fields["_meta"][META_SUBSCRIPTION] = self.id
        self._end(rpc.encode_result(self.id, fields))

    def _end(self, last: bytes | None) -> None:
        if self._over.acquire(blocking=False):
            self._watch.end()
            if last is not None:
                self._send(last, True)
            self._on_end(self)


def _parse_filter(message: Message) -> tuple[list[str], bool]:
    """The resources, and whether their list is asked for too. The lists of tools and prompts are not announced as
    changing, so nothing is agreed to for them."""
    wanted = message.params.get("notifications")
    if type(wanted) is not dict:
        raise message.error("notifications must be an object")
    fields = cast("dict[str, Any]", wanted)
    uris: Any = fields.get("resourceSubscriptions") or []
    if type(uris) is not list or not all(
        type(each) is str and len(each) <= MAX_URI for each in cast("list[Any]", uris)
    ):
        raise message.error(f"resourceSubscriptions must be a list of strings of at most {MAX_URI} characters")
    unique = list(dict.fromkeys(cast("list[str]", uris)))
    if len(unique) > MAX_WATCHED:
        raise message.error(f"resourceSubscriptions may have at most {MAX_WATCHED} entries")
    return unique, fields.get("resourcesListChanged") is True
