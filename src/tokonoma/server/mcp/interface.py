"""What the wire needs from the house behind it. The wire knows MCP; the front knows tools and callers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokonoma.core.call import Caller, Principal, Progress
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Refusal


@dataclass(slots=True)
class ToolRequest:
    """One `tools/call`, as the wire read it."""

    name: str
    arguments: Mapping[str, Any]
    caller: Caller
    trace_parent: str | None = None
    progress: Progress | None = None
    bytes_in: int = 0
    # What the client can be asked for in between (`elicitation`, `sampling`, `roots`), and what it brings back.
    # Empty in the handshake era: a server that keeps no session cannot ask there.
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: str | None = None


@dataclass(slots=True)
class ToolResult:
    """The parts of a CallToolResult. A failure is an answer too: `is_error`, and no structured content.

    `structured` may be the JSON text itself, as bytes: it then goes out as it is, without being built a second time.
    `asks` (or `state`) makes it an InputRequiredResult: the client answers the asks and calls again.
    `refusal` makes it a protocol error, as if `start` had raised it: for a tool that turns out not to be there.
    """

    content: Sequence[Mapping[str, Any]]
    structured: Mapping[str, Any] | bytes | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asks: Mapping[str, Mapping[str, Any]] | None = None
    state: str | None = None
    refusal: Refusal | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # what HTTP adds to its response


OnDone = Callable[[ToolResult], None]


class Dispatcher(Protocol):
    """A Refusal raised by any of these comes before the call has begun, and becomes a protocol error: `Missing` and
    `Invalid` -32602, `Unready(reason="capability", required={…})` -32021, `Unauthenticated` 401, `Limited` 429."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def version(self) -> str: ...

    def identify(self, caller: Caller) -> Principal:
        """Who this is; raises Unauthenticated. Called on the event loop for every HTTP request: it must be quick."""
        ...

    def get_instructions(self, caller: Caller) -> str:
        """How an agent should use this server."""
        ...

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """The tools that this caller sees, in the shape of `tools/list`. Must not import pydantic or the store."""
        ...

    def start_call(self, order: ToolRequest, done: OnDone) -> CancelToken:
        """Begin the call and return at once; `done` is called exactly once, from any thread. `Stop.set` cancels it.

        Raises Missing for a tool that this caller cannot see.
        """
        ...
