"""The desk is what a tool receives: the only way to read and write, so that no check can be forgotten."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tokonoma.core.errors import Invalid, Unavailable, is_storage_error
from tokonoma.core.ids import Opaque
from tokonoma.core.log import log

if TYPE_CHECKING:
    from tokonoma.core.call import Call, Principal
    from tokonoma.core.module import ServerInfo
    from tokonoma.core.policy import DeskPolicy
    from tokonoma.core.query import Hits, Query, SearchFilter

Classification = Literal["public", "internal", "pii", "secret"]
CLASSIFICATIONS: tuple[Classification, ...] = ("public", "internal", "pii", "secret")  # from open to closed

Row = tuple[Any, ...]

_ADDRESS = re.compile(r"tokonoma://([a-z][a-z0-9_]*)/(.+)")


class SourceText:
    """The whole text that documents were cut from. Detectors read it as a whole, once for all its parts: the second
    half of a private key has no first line by which it could be recognised."""

    __slots__ = ("detections", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.detections: dict[str, Any] = {}  # by the version of the detectors


@dataclass(frozen=True, slots=True)
class Document:
    """A record's row in the shared index. A search can filter by its `facts`: nested keys are joined by dots."""

    address: str
    namespace: str
    text: str
    title: str = ""
    classification: Classification = "internal"
    facts: Sequence[tuple[str, "str | float | bool"]] = ()  # a key may occur several times
    thread: str = ""  # records of one thread raise each other's score, in the order in which they were first put
    at: int = 0  # the record's own time, in milliseconds; 0: when it was put
    expires_at: int | None = None  # from then on no search finds it
    source: SourceText | None = None  # what the text was cut from, where it is a part of something
    start: int = 0  # the place of the text in its source
    author: str | None = None  # who wrote it, where the module knows; "": nobody knows; None: see `Tx.put`
    aside: Sequence[str] = ()  # other texts of the record, which are not searched: they decide its class, too


@dataclass(frozen=True, slots=True)
class Record:
    """A record of any module, as its address leads to it."""

    address: str
    module: str
    namespace: str
    classification: Classification
    title: str
    text: str
    revision: int | str | None = None
    part_classifications: frozenset[Classification] = frozenset()  # of its parts; a reader must be cleared for all
    source: SourceText | None = None  # as in Document
    start: int = 0
    author: str | None = None  # where the module knows; None: the index tells


class Rows(Protocol):
    """Reading. SQL takes `:name` parameters on both databases; rows are tuples."""

    def rows(self, sql: str, /, **params: Any) -> list[Row]: ...
    def row(self, sql: str, /, **params: Any) -> Row | None: ...


class Statements(Rows, Protocol):
    """Reading and writing inside one transaction."""

    def run(self, sql: str, /, **params: Any) -> int:
        """Execute one statement; returns the number of rows changed."""
        ...

    def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None: ...


class Tx(Statements, Protocol):
    """A desk's transaction: it also updates the shared index with the module's own tables."""

    def put(self, document: Document, *, same_text: bool = False) -> Classification:
        """Index the document; returns its classification: the one given, or a stricter one by policy. The module's own
        row is updated too. The caller becomes its author, unless the document names one. With `same_text`, and in
        upkeep, whoever wrote this text before stays its author; if nobody did, it is unknown."""
        ...

    def drop(self, address: str) -> None: ...

    def classify(self, label: Classification, space: str, *texts: str) -> Classification:
        """The classification of texts that are no document of their own, such as a relation's reason."""
        ...

    @property
    def masks_key(self) -> str:
        """That of the policy in this transaction: see DeskPolicy."""
        ...

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        """The text without what is hidden from any caller, line for line: what an index of the module's own may
        hold."""
        ...


class Desk(Protocol):
    @property
    def call(self) -> "Call": ...
    @property
    def principal(self) -> "Principal": ...
    @property
    def server(self) -> "ServerInfo": ...

    @property
    def policy(self) -> "DeskPolicy":
        """The policy in force, for this caller."""
        ...

    @property
    def may_write(self) -> bool:
        """False for a tool that reads, and for one that also keeps a log if its caller may only read."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """One transaction, one commit; the call's journal entry is stored in it. Fails unless `may_write`."""
        ...

    def write_derived(self) -> AbstractContextManager[Tx]:
        """A transaction without a journal entry, as often as needed: for data derived from files, and for the state of
        a file after the call's entry was stored. Nothing that a caller sent is written here."""
        ...

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        """`{visible}` (or `{visible:alias}`) in the SQL becomes the caller's filter over `space` and `label`."""
        ...

    def row(self, sql: str, /, **params: Any) -> Row | None: ...

    def read(self, address: str) -> Record:
        """Any module's record, guarded; Missing if there is none that this caller may see."""
        ...

    def mark_used(self, address: str, trace_id: str) -> None:
        """Note that this search of the record's module led to its use; Missing if the module knows no such search."""

    def find(self, query: "Query", where: "SearchFilter") -> "Hits":
        """Search the shared index; the caller's scope and `where` filter before anything is ranked."""
        ...

    def cite(self, address: str, author: str | None = None) -> None:
        """Say that the answer holds text of this record, which the caller may see: the answer names its author.
        `read` does it by itself. `author`: where the module knows; "": nobody does."""

    def read_authors(self, addresses: Sequence[str]) -> dict[str, str]:
        """Who wrote these records, as far as the caller may see them and it is known."""
        ...

    def seal_cursor(self, kind: str, *position: Any) -> Opaque:
        """A cursor that only this caller can use, and only with `open_cursor` of the same kind. Nobody can read it."""
        ...

    def open_cursor(self, kind: str, cursor: str) -> list[Any]:
        """The position in a cursor; Invalid if this caller did not get it for this kind."""
        ...

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the client."""

    def check(self) -> None:
        """Raise if the call was cancelled or its time is over."""

    def now(self) -> int:
        """Milliseconds since the epoch, by the server's clock."""
        ...

    def start_job(self, name: str, step: Callable[[], float | None], on_stop: Callable[[], object]) -> None:
        """Go on with something in the background: `step` runs again after the seconds that it returns, until None. A
        job of this name that already runs is left alone. `on_stop` is called if the server closes before that."""
        ...


class AsyncTx(Protocol):
    """A transaction of an `async def` tool. Do not await another service inside it: other writers wait meanwhile."""

    async def rows(self, sql: str, /, **params: Any) -> list[Row]: ...
    async def row(self, sql: str, /, **params: Any) -> Row | None: ...
    async def run(self, sql: str, /, **params: Any) -> int: ...
    async def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None: ...
    async def put(self, document: Document, *, same_text: bool = False) -> Classification: ...
    async def drop(self, address: str) -> None: ...


class AsyncDesk(Protocol):
    """What an `async def` tool receives: the same door as `Desk`, without blocking the event loop."""

    @property
    def call(self) -> "Call": ...
    @property
    def principal(self) -> "Principal": ...
    def now(self) -> int: ...
    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...
    async def rows(self, sql: str, /, **params: Any) -> list[Row]: ...
    async def row(self, sql: str, /, **params: Any) -> Row | None: ...
    async def read(self, address: str) -> Record: ...
    async def find(self, query: "Query", where: "SearchFilter") -> "Hits": ...
    def cite(self, address: str, author: str | None = None) -> None: ...
    async def seal_cursor(self, kind: str, *position: Any) -> Opaque: ...
    async def open_cursor(self, kind: str, cursor: str) -> list[Any]: ...
    def write(self) -> AbstractAsyncContextManager[AsyncTx]: ...


class Addresses(Protocol):
    """Leads from any address to its record; implemented by the registry, which asks the owning module."""

    def is_visible(self, principal: "Principal", address: str) -> bool: ...
    def read_record(self, rows: Rows, address: str) -> Record | None: ...

    def refresh(self, desk: Desk, address: str) -> None:
        """Let the module update the index if the source of the record has changed."""

    def mark_used(self, desk: Desk, address: str, trace_id: str) -> None: ...


def format_address(module: str, name: str) -> str:
    return f"tokonoma://{module}/{name}"


def note_down(save: Callable[[], object]) -> None:
    """Store what a read leaves for later, such as a trace. On a full or read-only disk the read goes on without it."""
    try:
        save()
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        log("warning", "not_stored", reason=error.reason)


def parse_address(address: str) -> tuple[str, str]:
    """`tokonoma://items/12` → `("items", "12")`."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise Invalid(f"{address!r} is not an address. An address looks like tokonoma://memory/<id>.", field="address")
    return found[1], found[2]
