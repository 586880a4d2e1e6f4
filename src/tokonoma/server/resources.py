"""Resources of the modules: the templates of addresses, and who is told when something has changed."""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from tokonoma.core.call import Call
from tokonoma.core.concurrency import Job
from tokonoma.core.module import ModuleInfo
from tokonoma.gateway import NAMESPACES, RECENT
from tokonoma.server.mcp.interface import ChangeListener

RESOURCE_CALLS = {
    "resources/list": "resources_list",
    "resources/read": "resources_read",
    "resources/check": "resources_check",
    "completion/complete": "resources_complete",
}
"""Which of the gateway's tools answers a method. `resources/check` is the server's own: no client can ask for it."""

POLL = 1.0
"""Seconds between two looks at what other processes have written."""

PAUSE = 1.0
"""Seconds between two checks at least: many writes in a row are told once."""

_MARKDOWN = "text/markdown"


def list_templates(modules: Sequence[ModuleInfo]) -> list[dict[str, Any]]:
    """Of the modules with the tools that the caller sees, in the shape of `resources/templates/list`."""
    readable = [each for each in modules if each.address and any(tool.effect == "read" for tool in each.entries)]
    found = [_describe(module.name, module.address, module.summary) for module in readable]
    if readable:
        found.append(_describe(RECENT, "{module}", "The newest records of a module"))
        found.append(_describe(NAMESPACES, "{+namespace}", "A namespace: what is in it, and its newest records"))
    return found


def _describe(name: str, address: str, description: str) -> dict[str, Any]:
    return {
        "uriTemplate": f"tokonoma://{name}/{address}",
        "name": name,
        "description": description,
        "mimeType": _MARKDOWN,
    }


class ChangeFeed:
    """Tells listeners that something was written. Without listeners it does nothing, and no thread waits.

    `has_changed` says whether any process has written since it was last asked, or a file of these resources is another
    than then; `start` runs a job.
    """

    def __init__(self, has_changed: Callable[[Collection[str]], bool], start: Callable[[Job], None]) -> None:
        self._has_changed, self._start = has_changed, start
        self._listeners: set[ChangeListener] = set()
        self._lock = threading.Lock()
        self._written = False  # by this process, since the last look
        self._next_check = 0.0

    def listen(self, listener: ChangeListener) -> None:
        with self._lock:
            self._listeners.add(listener)
        if listener.polls:
            self.note_write()  # what was written since it last looked may not be seen otherwise

    def stop_listening(self, listener: ChangeListener) -> None:
        with self._lock:
            self._listeners.discard(listener)

    def observe(self, call: Call, outcome: str, duration_us: int) -> None:
        """A call of this process has ended."""
        if call.journaled:  # it has written
            self.note_write()

    def note_write(self) -> None:
        """This process has written something."""
        if self._listeners:
            self._written = True
            self._start(Job("resources", self._look))

    def _look(self) -> float | None:
        """A step of the job: seconds until the next one, None if no listener waits for other processes' writes."""
        with self._lock:
            listeners = list(self._listeners)
        polls = any(each.polls for each in listeners)
        early = self._next_check - time.monotonic()
        if early > 0 and self._written:
            return early
        written, self._written = self._written, False
        if polls and self._has_changed({uri for each in listeners for uri in each.uris}):
            written = True
        if written:
            for each in listeners:
                each.check()
            self._next_check = time.monotonic() + PAUSE
        return POLL if polls else None
