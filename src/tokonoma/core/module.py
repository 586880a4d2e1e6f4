"""A module is a folder with a `Module` value: a name, a summary, tools, tables, and how to read one of its records."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from tokonoma.core.call import Call, InnerStep, Principal
from tokonoma.core.concurrency import Deferred
from tokonoma.core.desk import Classification, Desk, Document, FoundPlace, Record, RecordLink, Rows, Statements
from tokonoma.core.errors import DEFAULT_CODES, ErrorCodes

if TYPE_CHECKING:
    from tokonoma.core.query import SearchFilter

T = TypeVar("T")

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
    signature: str = ""  # instead of the one that its schemas make
    projects: bool = False  # its parameter `fields` says which parts of an answer it returns; `+path` adds one


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that a user chooses in a client to start with. `{name}` in it becomes the value of an argument."""

    name: str  # listed as `module_name`; one of the house as it is
    title: str
    description: str
    text: str  # a line that begins with `{?name}` is left out if that argument is not given
    arguments: tuple[PromptArgument, ...] = ()
    tools: tuple[str, ...] = ()  # of the module; whoever cannot see all of them does not see the prompt
    instruction: str = ""  # the same in one line, for the server's instructions: every client pays for it
    translations: Mapping[str, "Prompt"] = field(default_factory=dict[str, "Prompt"])  # by language: ja

    def translate(self, language: str) -> "Prompt":
        return self.translations.get(language, self)


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
    count_documents: Callable[[Rows], int] | None = None  # how many `documents` lists; None: what the index holds
    unclassified_tables: frozenset[str] = frozenset()  # they hold texts without a label, such as older versions
    reclassify: Callable[[Statements, Mapping[str, Classification]], None] | None = None  # address → classification
    unindexed_documents: ListDocuments | None = None  # records outside the index, such as a trash: classified too
    prompts: tuple[Prompt, ...] = ()
    # What follows `tokonoma://<module>/` in the address of a record, as a URI template (RFC 6570): `{id}`, `{+path}`.
    # With two parts, `{manual_id}/{+path}`, the first names a collection of records, which clients are offered as one.
    address: str = ""
    envelope: bool = False  # its answers are sent as {data, policy_version, request_id, trace_id}
    codes: ErrorCodes = field(default_factory=lambda: DEFAULT_CODES)
    owner_tools: tuple[Tool, ...] = ()  # for the owner's own commands: in no catalogue, and not callable by name
    bind: "Callable[[ServerInfo], Module] | None" = None  # this module, with access to the running server's locations
    refresh: Callable[[Desk, str], None] | None = None  # called before a record is read: updates it from its source
    # Address → what changes when its source does, without reading it: for files that other programs edit.
    read_stamp: Callable[[str], object] | None = None
    on_used: Callable[[Desk, str, str], None] | None = None  # address, trace: a record that a search found was used
    list_found: Callable[[Desk, str], Sequence[FoundPlace] | None] | None = None  # trace → what that search found
    # Its tools for which the meta-tools `search` and `fetch` stand: who does not see them finds and reads nothing of
    # this module there. Empty: it is never searched with the others, as a module that asks another service.
    search_tool: str = ""
    read_tool: str = ""
    # Called before such a search: updates the index from the module's files. Returns the addresses of files that are
    # not indexed as they are now: nothing of them is shown.
    sync: Callable[[Desk], Collection[str]] | None = None
    # The searches that find all that this caller may find of it; None: one search of the module does.
    search_filters: "Callable[[Desk], Sequence[SearchFilter] | None] | None" = None
    # address, whether it may take long: where a record leads, and what of this module leads to it. The record may be of
    # any module; the desk is that of this one.
    list_links: Callable[[Desk, str, bool], Sequence[RecordLink]] | None = None
    notes: tuple[str, ...] = ()  # what holds for all its tools: shown once, with the signatures


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
    projects: bool = False

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class ConnectedAccount:
    """An account of a service as callers meet it: its name, and the namespace that it serves."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """A module as the catalogue knows it: where its `Module` value is, and its tools."""

    name: str
    summary: str
    source: str  # "package.module:ATTRIBUTE"
    entries: Sequence[ToolInfo]
    types: Mapping[str, str] = field(default_factory=dict[str, str])  # that several signatures repeat, by name
    prompts: Sequence[Prompt] = ()
    address: str = ""  # this and the next three as in Module
    search_tool: str = ""
    read_tool: str = ""
    notes: Sequence[str] = ()
    accounts: Sequence[ConnectedAccount] | None = None  # of a service or a server; None: it needs none
    upstream: bool = False  # another MCP server


class ServerInfo(Protocol):
    """What a module may know of the running server."""

    version: str
    started_at: int  # milliseconds since the epoch

    # The modules that this principal can see, each with the tools that it can see.
    def visible_modules(self, principal: Principal) -> Sequence[ModuleInfo]: ...

    # The services that this principal could use if an account were connected.
    def list_unconnected(self, principal: Principal) -> Sequence[str]: ...

    # One tool by any of its names; Missing names the nearest ones.
    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo: ...

    def load_module(self, name: str) -> Module: ...  # one that `visible_modules` has named

    # Calls of other tools for the same caller, one after the other, each through the whole pipeline: the steps yield a
    # call and get its value.
    def run_calls(self, parent: Call, steps: Generator[InnerStep, Any, T]) -> Deferred[T]: ...

    # The mark of a resource of another server that is watched for this principal already; None if it is not.
    def find_watch_mark(self, info: "ModuleInfo", principal: Principal, address: str) -> str | None: ...

    def health(self) -> Mapping[str, Any]: ...  # each part with `ok`, and what to do if it is not
    def locations(self) -> Mapping[str, str]: ...  # paths and URLs, without credentials
    def vectors(self) -> Sequence[Mapping[str, Any]]: ...  # by embedding model: made, waiting, failed

    # Bytes and rows of what is stored, for the owner; for any other principal what it can see of these classifications.
    def sizes(self, principal: Principal, seen: Sequence[Classification]) -> Mapping[str, int]: ...

    # For a sync with another home: its id, a page of records, where the next begins; and what became of given records.
    def read_for_sync(self, after: str) -> tuple[str, str, str]: ...
    def write_from_sync(self, records: str) -> Mapping[str, Any]: ...

    # The newest journal entries of this principal (of all, for the owner), and the position before the next page.
    def recent_entries(
        self, principal: Principal, limit: int, after: Sequence[Any] | None
    ) -> tuple[list[dict[str, Any]], Sequence[Any] | None]: ...
