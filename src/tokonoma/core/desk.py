"""The desk is what a tool receives: the one door for reading and writing, so that no guard can be forgotten."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from tokonoma.core.call import Call, Principal
    from tokonoma.core.policy_api import DeskPolicy
    from tokonoma.core.query import Hits, Query, SearchFilter
    from tokonoma.core.server_info import ServerInfo

Classification = Literal["public", "internal", "pii", "secret"]
CLASSIFICATIONS: tuple[Classification, ...] = ("public", "internal", "pii", "secret")  # from open to closed

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A record's row in the shared index. `facts` are what it can be filtered by: nested keys joined by dots."""

    address: str
    namespace: str
    text: str
    title: str = ""
    classification: Classification = "internal"
    facts: Sequence[tuple[str, "str | float | bool"]] = ()  # a key may come several times
    thread: str = ""  # records of one thread lend each other weight, in the order in which they were first put
    at: int = 0  # the record's own time, in milliseconds; 0: when it was put
    expires_at: int | None = None  # from then on it is not found


@dataclass(frozen=True, slots=True)
class Record:
    """What any address leads to, whichever module owns it."""

    address: str
    module: str
    namespace: str
    classification: Classification
    title: str
    text: str
    revision: int | str | None = None
    part_classifications: frozenset[Classification] = (
        frozenset()
    )  # the classes of its parts, if they have their own: all must be seen


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
    """A desk's transaction: also keeps the shared index in step with the module's own tables."""

    def put(self, document: Document) -> Classification:
        """The class that it got: at least the one that was said, stricter if the policy says so. The module's own row
        follows by itself."""
        ...

    def drop(self, address: str) -> None: ...

    def classify(self, label: Classification, space: str, *texts: str) -> Classification:
        """The class of texts that are no document of their own, such as a relation's reason."""
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
        """What the policy in force says."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """One transaction, one commit; the call's journal entry is stored in it."""
        ...

    def write_derived(self) -> AbstractContextManager[Tx]:
        """A transaction beside the call's own, as many as it takes, without an entry: for what is derived from files,
        and for what became of a file after the call's entry was stored. Nothing that a caller says is written here."""
        ...

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        """`{visible}` (or `{visible:alias}`) in the SQL becomes the caller's filter over `space` and `label`."""
        ...

    def row(self, sql: str, /, **params: Any) -> Row | None: ...

    def read(self, address: str) -> Record:
        """Any module's record, guarded; Missing if there is none that this caller may see."""
        ...

    def mark_used(self, address: str, trace_id: str) -> None:
        """The record was used because of this search of its module's; Missing if the module knows no such search."""
        ...

    def find(self, query: "Query", where: "SearchFilter") -> "Hits":
        """Search the shared index; walls, classes and `where` filter before anything is ranked."""
        ...

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Progress for the client."""
        ...

    def check(self) -> None:
        """Raise if the call was cancelled or its time is over."""
        ...

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
    async def put(self, document: Document) -> Classification: ...
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
    def write(self) -> AbstractAsyncContextManager[AsyncTx]: ...
