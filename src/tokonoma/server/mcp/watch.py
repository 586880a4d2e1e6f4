"""What one client wants to know of: changes of resources, and of their list. No I/O.

A mark stands for what the caller would read. It is asked for as a call of that caller, so a client hears nothing of
what it may not see. A resource that has vanished for it is silent, whether it was deleted or hidden: to tell of one
and not of the other would say that a hidden record is still there.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from tokonoma.core.call import Caller
from tokonoma.core.errors import Limited, Missing, Refusal, Unauthenticated
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher, ToolRequest, ToolResult
from tokonoma.server.mcp.versions import META_SUBSCRIPTION

MAX_WATCHED = 64
"""Resources that one session, or one stream, may watch."""

CHECK = "resources/check"


class ResourceWatch:
    """`send` gets notifications, `on_end` is called once if the caller's key has ended; both from any thread.
    `subscription`: the id of the request that asked for them; None with a handshake."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        send: Callable[[bytes], None],
        on_end: Callable[[], None],
        subscription: rpc.RequestId | None = None,
    ) -> None:
        self._dispatcher, self._send, self._on_end = dispatcher, send, on_end
        self._caller = replace(caller, principal=None)  # who it is, and whether it still may, is asked each time
        self._meta = {} if subscription is None else {"_meta": {META_SUBSCRIPTION: subscription}}
        self._marks: dict[str, str] = {}
        self._list_mark: str | None = None  # None: the list is not watched
        self._lock = threading.Lock()
        self._is_checking = self._check_again = self._has_ended = False
        self._reach_number = 0  # of the caller, which becomes smaller now and then

    @property
    def polls(self) -> bool:
        """With a handshake, a client is told of the list without asking for it: that alone is no reason to poll."""
        return bool(self._marks) or (bool(self._meta) and self._list_mark is not None)

    @property
    def uris(self) -> list[str]:
        with self._lock:
            return list(self._marks)

    def add(self, marks: Mapping[str, str], list_mark: str | None = None) -> None:
        """Watch these resources, and with a mark of it the list; Limited if they are too many."""
        with self._lock:
            if len({*self._marks, *marks}) > MAX_WATCHED:
                raise Limited(f"No more than {MAX_WATCHED} resources can be watched at once. Unsubscribe from some.")
            if self._has_ended:
                return
            self._marks.update(marks)
            if list_mark is not None:
                self._list_mark = list_mark
        self._dispatcher.listen(self)

    def follow(self, marks: Mapping[str, str]) -> None:
        """Watch these resources and no others: what the client has asked another server for. Those that are new here
        have the marks of then."""
        with self._lock:
            if self._has_ended or marks.keys() == self._marks.keys():
                return
            self._marks = {uri: self._marks.get(uri, mark) for uri, mark in marks.items()}
            is_idle = not self._marks and self._list_mark is None
        if is_idle:
            self._dispatcher.stop_listening(self)
        else:
            self._dispatcher.listen(self)
            self.check()

    def remove(self, uri: str) -> None:
        with self._lock:
            self._marks.pop(uri, None)
            is_idle = not self._marks and self._list_mark is None
        if is_idle:
            self._dispatcher.stop_listening(self)

    def end(self) -> None:
        """Send nothing any more."""
        with self._lock:
            self._has_ended = True
            self._marks.clear()
            self._list_mark = None
        self._dispatcher.stop_listening(self)

    def send(self, method: str, **params: Any) -> None:
        self._send(rpc.encode_notification(method, {**params, **self._meta}))

    def narrow(self, lost: bool) -> None:
        """The caller may use less from now on: what a check finds that began before is not sent. `lost`: messages that
        were not sent yet were discarded, so what can still be seen is told again."""
        with self._lock:
            self._reach_number += 1
            if lost:
                self._marks = dict.fromkeys(self._marks, "")
                self._list_mark = None if self._list_mark is None else ""
            is_idle = not self._marks and self._list_mark is None
        if not is_idle:
            self.check()

    def check(self) -> None:
        with self._lock:
            if self._has_ended or self._is_checking:
                self._check_again = True
                return
            self._is_checking, self._check_again = True, False
            number = self._reach_number
            request = build_check(self._caller, list(self._marks), self._list_mark is not None)
        try:
            self._dispatcher.start_call(request, lambda result: self._finish_check(result, number))
        except Refusal as refusal:
            self._finish_check(ToolResult([], refusal=refusal), number)

    def _finish_check(self, result: ToolResult, number: int) -> None:
        try:
            if result.refusal is not None:
                self._fail(result.refusal)
            elif number == self._reach_number:
                self._compare(read_value(result))
        finally:
            with self._lock:
                self._is_checking = False
                again = self._check_again and not self._has_ended
        if again:
            self.check()

    def _compare(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            changed = [uri for uri, mark in value["found"].items() if self._marks.get(uri, mark) != mark]
            self._marks.update({uri: value["found"][uri] for uri in changed})
            list_mark = value.get("list")
            is_other_list = list_mark is not None and self._list_mark not in (None, list_mark)
            if is_other_list:
                self._list_mark = list_mark
        for uri in changed:
            self.send("notifications/resources/updated", uri=uri)
        if is_other_list:
            self.send("notifications/resources/list_changed")

    def _fail(self, error: Exception) -> None:
        """Of a key that was revoked or has expired, this is the end; anything else may be better the next time."""
        if isinstance(error, Unauthenticated | Missing):
            self.end()
            self._on_end()


def build_check(caller: Caller, uris: list[str], lists: bool) -> ToolRequest:
    return ToolRequest(CHECK, {"uris": uris, "lists": lists}, caller, method=CHECK)


def read_value(result: ToolResult) -> dict[str, Any]:
    """The value of a method that took the way of a call."""
    structured = result.structured
    return orjson.loads(structured) if isinstance(structured, bytes) else dict(structured or {})
