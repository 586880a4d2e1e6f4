"""A conversation in memory: lines in, messages out."""

import json
import queue
from typing import Any

from server.fixture import Workshop

from tokonoma.core.call import Caller
from tokonoma.server.mcp.session import StdioSession


class Talk:
    def __init__(self, shop: Workshop | None = None, after_list: Any = None) -> None:
        self.shop = shop or Workshop()
        self.written: queue.Queue[bytes] = queue.Queue()
        self.caller = Caller("stdio")
        self.session = StdioSession(self.shop, self.caller, self.written.put, after_list)

    def say(self, message: Any) -> None:
        self.session.handle_line(message if isinstance(message, bytes) else json.dumps(message).encode())

    def hear(self) -> Any:
        """The next message; a test that waits for one that never comes is ended from outside."""
        return json.loads(self.written.get())

    def ask(self, message: Any) -> Any:
        self.say(message)
        return self.hear()

    def silent(self) -> bool:
        """Nothing more to hear, once every call has ended."""
        assert self.session.drain(60)
        return self.written.empty()
