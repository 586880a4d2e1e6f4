"""What the protocol needs from the server behind it. The protocol knows MCP; the dispatcher knows tools and callers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokonoma.core.call import Caller, Principal, Progress
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Refusal


@dataclass(slots=True)
class ToolRequest:
    """One `tools/call`, as it was read from the wire."""

    name: str
    arguments: Mapping[str, Any]
    caller: Caller
    trace_parent: str | None = None
    progress: Progress | None = None
    bytes_in: int = 0
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the client; empty with a handshake


@dataclass(slots=True)
class ToolResult:
    """The parts of a CallToolResult. A failure is a result too: `is_error`, and no structured content.

    `structured` may be the JSON text itself, as bytes: it is then sent unchanged, and `content` gets its text copy.
    `refusal` makes it a protocol error, as if `start_call` had raised it: for a tool that does not exist.
    """

    content: Sequence[Mapping[str, Any]]
    structured: Mapping[str, Any] | bytes | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refusal: Refusal | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # added to the HTTP response

    @property
    def text(self) -> str:
        """The value or the error as JSON text."""
        return self.structured.decode() if isinstance(self.structured, bytes) else str(self.content[0]["text"])


OnDone = Callable[[ToolResult], None]


class Dispatcher(Protocol):
    """A Refusal raised by a method comes before the call has started, and becomes a protocol error: `Missing` and
    `Invalid` -32602, `Unready(reason="capability", required={…})` -32021, `Unauthenticated` 401, `Limited` 429."""

    name: str
    title: str
    version: str

    def recall(self, caller: Caller) -> Principal | None:
        """Return the caller's principal if it is known at once. Runs on the event loop for every HTTP request."""
        ...

    def identify(self, caller: Caller) -> Principal:
        """Return the caller's principal, or raise Unauthenticated. It may ask a database, so it runs on a thread."""
        ...

    def get_instructions(self, caller: Caller) -> str: ...  # how an agent should use this server

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return the tools that this caller sees, as `tools/list` does. Must not import pydantic or the store."""
        ...

    def list_prompts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return the prompts that this caller sees, as `prompts/list` does."""
        ...

    def get_prompt(self, caller: Caller, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        """Return one of them, as `prompts/get` does. Raises Missing or Invalid."""
        ...

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        """Start the call and return at once; `done` is called exactly once, from any thread. The token cancels it.

        Raises Missing for a tool that this caller cannot see.
        """
        ...
