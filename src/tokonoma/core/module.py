"""A module is a folder with a `Module` value: a name, a summary, tools, tables, and how to read one of its records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tokonoma.core.desk import Classification, Desk, Document, Record, Rows, Statements
from tokonoma.core.errors import DEFAULT_CODES, ErrorCodes

if TYPE_CHECKING:
    from tokonoma.core.server_info import ServerInfo

Effect = Literal["read", "write", "destroy"]
ListDocuments = Callable[[Rows, str | None, int], Sequence[Document]]
"""A page of a module's records as it would put them: after this address (None: from the first), at most so many, by
address in the order of code points."""


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
    sees_secrets: bool = False  # it must see secrets as they are, since it is asked about them, and keeps nothing
    payload: int | None = None  # bytes that its parameters may have as JSON; None: as many as a message
    extra: bool = False  # hidden unless a credential's reach names it
    # A tool that is described by data instead of a signature: `run(desk, params)` takes all parameters as one mapping.
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    description: str = ""  # instead of the docstring


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of one module's tables. `rewrites` says that it touches rows: a backup is made first."""

    name: str
    statements: tuple[str, ...]
    rewrites: bool = False
    sqlite: tuple[str, ...] = ()  # what only this database needs, after the statements for both
    postgresql: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    summary: str
    tools: tuple[Tool, ...]
    tables: tuple[Migration, ...] = ()
    record_tables: frozenset[str] = (
        frozenset()
    )  # tables whose rows carry `space` and `label`: read through {visible} only
    read: Callable[[Rows, str], Record | None] | None = None
    documents: ListDocuments | None = None  # for a reindex; None: it puts nothing into the index
    unclassified_tables: frozenset[str] = (
        frozenset()
    )  # tables with texts but no class, such as older versions of records
    reclassify: Callable[[Statements, Mapping[str, Classification]], None] | None = (
        None  # address → the class it has from now on
    )
    unindexed_documents: ListDocuments | None = (
        None  # records that the index does not hold, such as a trash: they have a class too
    )
    envelope: bool = False  # its answers travel as {data, policy_version, request_id, trace_id}
    codes: ErrorCodes = field(default_factory=lambda: DEFAULT_CODES)
    owner_tools: tuple[
        Tool, ...
    ] = ()  # for the owner's own commands: in no catalogue, and no name asked for leads there
    bind: "Callable[[ServerInfo], Module] | None" = None  # this module, told where its house keeps things
    refresh: "Callable[[Desk, str], None] | None" = (
        None  # before a record is read: the index follows what it is made of
    )
    on_used: "Callable[[Desk, str, str], None] | None" = None  # address, trace: a record that a search led to was used


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

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """A module as the catalogue knows it: where its `Module` value lives, and its entries."""

    name: str
    summary: str
    source: str  # "package.module:ATTRIBUTE"
    entries: Sequence[ToolInfo]
