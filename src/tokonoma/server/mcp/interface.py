"""What the protocol needs from the server behind it. The protocol knows MCP; the dispatcher knows tools and callers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokonoma.core.call import Caller, Principal, Progress
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Refusal

TOOL_CALL = "tools/call"


@dataclass(slots=True)
class ToolRequest:
    """One `tools/call`, as it was read from the wire; or another `method` that takes the way of a call."""

    name: str
    arguments: Mapping[str, Any]
    caller: Caller
    trace_parent: str | None = None
    progress: Progress | None = None
    bytes_in: int = 0
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the client; empty with a handshake
    method: str = TOOL_CALL
    input_responses: Mapping[str, Any] = field(default_factory=dict[str, Any])  # answers to `ToolResult.asks`
    request_state: str = ""  # of the result that asked, as the client has repeated it


@dataclass(slots=True)
class ToolResult:
    """The parts of a CallToolResult. A failure is a result too: `is_error`, and no structured content.

    `structured` may be the JSON text itself, as bytes: it is then sent unchanged, and `content` gets its text copy.
    `refusal` makes it a protocol error, as if `start_call` had raised it: for a tool that does not exist, and for any
    failure of another method. `asks` are questions to the user, by name: the client sends the call again with the
    answers and the `request_state`. Only for a request whose capabilities allow it.
    """

    content: Sequence[Mapping[str, Any]]
    structured: Mapping[str, Any] | bytes | None = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refusal: Exception | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # added to the HTTP response
    asks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    request_state: str = ""

    @property
    def text(self) -> str:
        """The value or the error as JSON text."""
        return self.structured.decode() if isinstance(self.structured, bytes) else str(self.content[0]["text"])


OnDone = Callable[[ToolResult], None]
OnLoss = Callable[[Refusal, bool], None]
"""Why a caller may no longer use what it has open, and whether its credential has ended. If not, its reach has become
smaller."""


class ChangeListener(Protocol):
    """An observer of changes. Its methods are called from any thread, and return at once."""

    @property
    def polls(self) -> bool:
        """Whether changes by other processes count too. If not, those by this process do."""
        ...

    @property
    def uris(self) -> Sequence[str]:
        """The resources that matter to it."""
        ...

    def check(self) -> None:
        """Something was written: look whether it matters."""


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

    def relays_prompt(self, caller: Caller, name: str) -> bool:
        """Whether a prompt of this name is another server's: then `prompts/get` takes the way of a call."""
        ...

    def list_templates(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return the templates of addresses that this caller may read, as `resources/templates/list` does."""
        ...

    def listen(self, listener: ChangeListener) -> None:
        """Tell it from now on, until `stop_listening`."""
        ...

    def stop_listening(self, listener: ChangeListener) -> None: ...

    def follow_access(self, caller: Caller, on_loss: OnLoss) -> Callable[[], None]:
        """Look about once a second whether this caller may still use what it has open. `on_loss` is called from any
        thread; what is returned ends it."""
        ...

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        """Start the call and return at once; `done` is called exactly once, from any thread. The token cancels it.

        Raises Missing for a tool that this caller cannot see.
        """
        ...
