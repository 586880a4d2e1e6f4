"""What can be played: a tool call, any other request, a raw line, an HTTP request, bytes on a socket, a command.

A text `<<memo>>` anywhere in a step stands for the value that an earlier step kept under the name `memo`.
"""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One `tools/call`. `keep`: name to the path of a value in its answer. `until`: ask again while this path is
    there and neither empty nor zero, for what the server does in the background."""

    name: str
    tool: str
    arguments: Json
    keep: dict[str, str] = field(default_factory=dict[str, str])
    until: str = ""
    more: Json = field(default_factory=dict[str, Any])  # beside name and arguments


@dataclass(frozen=True, slots=True)
class MethodStep:
    """Any request of JSON-RPC, in the era that is being spoken."""

    name: str
    method: str
    params: Json | None = None


@dataclass(frozen=True, slots=True)
class LineStep:
    """A line as it is, which is answered with `answers` lines."""

    name: str
    line: str
    answers: int = 1


@dataclass(frozen=True, slots=True)
class WebStep:
    """A request over HTTP; a header of None is not sent. `names_only`: of a metrics page, the names of its series.

    `until`: ask again until this is its status.
    """

    name: str
    method: str = "POST"
    path: str = "/mcp"
    headers: dict[str, str | None] = field(default_factory=dict[str, str | None])
    body: Any = None
    names_only: bool = False
    until: int = 0


@dataclass(frozen=True, slots=True)
class SocketStep:
    """Pieces that are sent one by one on a connection of their own; what comes back until it is closed."""

    name: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandStep:
    """A command of the program in a process of its own. `keep`: name to the path in what it prints."""

    name: str
    words: tuple[str, ...]
    stdin: str = ""
    keep: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class KeyStep:
    """From here on, HTTP requests carry this key; an empty text for none."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class EndStep:
    """The server ends, and with it all that it does in the background."""

    name: str


Step = ToolStep | MethodStep | LineStep | WebStep | SocketStep | CommandStep | KeyStep | EndStep


def call(path: str, says: str, params: Json | None = None, *, until: str = "", **keep: str) -> ToolStep:
    """A tool through the gateway: `call("memory.save", "a new memo", {…}, memo="memo_id")`."""
    module, _, tool = path.partition(".")
    arguments: Json = {"module": module, "tool_name": tool}
    if params is not None:
        arguments["params"] = params
    return ToolStep(f"{path}: {says}", "call", arguments, keep, until)


def direct(tool: str, says: str, arguments: Json, **keep: str) -> ToolStep:
    """A tool by its listed name."""
    return ToolStep(f"{tool}: {says}", tool, arguments, keep)
