"""A module is a folder with a `Module` value: a name, a summary, tools, tables, and how to read one of its records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.desk import Classification, Desk, Document, Record, Rows, Statements
from tokonoma.core.errors import DEFAULT_CODES, ErrorCodes

Effect = Literal["read", "write", "destroy"]
ListDocuments = Callable[[Rows, str | None, int], Sequence[Document]]
"""rows, after, limit: a page of a module's records in the order of their addresses, after one address (None: from the
first)"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A plain typed function `run(desk, …)`. Schemas come from its signature, the description from its docstring."""

    name: str
    run: Callable[..., Any]
    title: str
    effect: Effect = "read"
    outside: bool = False  # an `async def` that talks to another service
    idempotent: bool = False
    listed: str = ""  # name in tools/list; by default `module_tool`
    aliases: tuple[str, ...] = ()
    time_limit: float | None = None  # seconds; None: the server's default
    # It reads, but also stores what its caller read, cited or found: nothing if that caller may only read.
    keeps_log: bool = False
    sees_secrets: bool = False  # it gets secrets unmasked, because it inspects them, and stores nothing
    payload: int | None = None  # bytes that its parameters may have as JSON; None: as many as a message
    extra: bool = False  # hidden unless a credential's reach names it
    # A tool that is described by data instead of a signature: `run(desk, params)` takes all parameters as one mapping.
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    description: str = ""  # instead of the docstring


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that a user chooses in a client to start with. `{name}` in it becomes the value of an argument."""

    name: str  # listed as `module_name`
    title: str
    description: str
    text: str
    arguments: tuple[PromptArgument, ...] = ()
    tools: tuple[str, ...] = ()  # of the module; whoever cannot see all of them does not see the prompt
    instruction: str = ""  # the same in one line, for the server's instructions: every client pays for it


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of one module's tables. With `rewrites` it changes rows, and a backup is made first."""

    name: str
    statements: tuple[str, ...]
    rewrites: bool = False
    sqlite: tuple[str, ...] = ()  # for this database only, after the statements for both
    postgresql: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    summary: str
    tools: tuple[Tool, ...]
    tables: tuple[Migration, ...] = ()
    record_tables: frozenset[str] = frozenset()  # their rows have `space` and `label`: read through {visible} only
    textless_tables: frozenset[str] = frozenset()  # those of them that hold no text: nothing in them is masked
    read: Callable[[Rows, str], Record | None] | None = None
    read_document: Callable[[Rows, str], Document | None] | None = None  # one record, as `documents` returns it
    documents: ListDocuments | None = None  # for a reindex; None: it puts nothing into the index
    unclassified_tables: frozenset[str] = frozenset()  # they hold texts without a label, such as older versions
    reclassify: Callable[[Statements, Mapping[str, Classification]], None] | None = None  # address → classification
    unindexed_documents: ListDocuments | None = None  # records outside the index, such as a trash: classified too
    prompts: tuple[Prompt, ...] = ()
    envelope: bool = False  # its answers are sent as {data, policy_version, request_id, trace_id}
    codes: ErrorCodes = field(default_factory=lambda: DEFAULT_CODES)
    owner_tools: tuple[Tool, ...] = ()  # for the owner's own commands: in no catalogue, and not callable by name
    bind: "Callable[[ServerInfo], Module] | None" = None  # this module, with access to the running server's locations
    refresh: Callable[[Desk, str], None] | None = None  # called before a record is read: updates it from its source
    on_used: Callable[[Desk, str, str], None] | None = None  # address, trace: a record that a search found was used


@dataclass(frozen=True, slots=True, eq=False)
class ToolInfo:
    """A tool as the catalogue knows it, before its module has been imported."""

    module: str
    name: str
    listed: str
    title: str
    description: str
    effect: Effect
    outside: bool
    idempotent: bool
    aliases: tuple[str, ...]
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    signature: str
    time_limit: float | None = None
    payload: int | None = None
    raw: bool = False
    envelope: bool = False
    extra: bool = False
    keeps_log: bool = False

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """A module as the catalogue knows it: where its `Module` value is, and its tools."""

    name: str
    summary: str
    source: str  # "package.module:ATTRIBUTE"
    entries: Sequence[ToolInfo]
    types: Mapping[str, str] = field(default_factory=dict[str, str])  # that several signatures repeat, by name
    prompts: Sequence[Prompt] = ()


class ServerInfo(Protocol):
    """What a module may know of the running server."""

    version: str
    started_at: int  # milliseconds since the epoch

    # The modules that this principal can see, each with the tools that it can see.
    def visible_modules(self, principal: Principal) -> Sequence[ModuleInfo]: ...

    # One tool by any of its names; Missing names the nearest ones.
    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo: ...

    def health(self) -> Mapping[str, Any]: ...  # each part with `ok`, and what to do if it is not
    def locations(self) -> Mapping[str, str]: ...  # paths and URLs, without credentials
    def vectors(self) -> Sequence[Mapping[str, Any]]: ...  # by embedding model: made, waiting, failed

    # Bytes and rows of what is stored, for the owner; for any other principal what it can see of these classifications.
    def sizes(self, principal: Principal, seen: Sequence[Classification]) -> Mapping[str, int]: ...

    # The newest journal entries of this principal (of all, for the owner), and the position before the next page.
    def recent_entries(
        self, principal: Principal, limit: int, after: Sequence[Any] | None
    ) -> tuple[list[dict[str, Any]], Sequence[Any] | None]: ...
