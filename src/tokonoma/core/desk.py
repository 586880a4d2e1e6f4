"""The desk is what a tool receives: the only way to read and write, so that no check can be forgotten."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

# Modules, also those of plugins, import these two from here.
from tokonoma.core.addresses import format_address as format_address
from tokonoma.core.addresses import parse_address as parse_address
from tokonoma.core.errors import Unavailable, is_storage_error
from tokonoma.core.ids import Opaque
from tokonoma.core.log import log

if TYPE_CHECKING:
    from tokonoma.core.call import Call, Principal
    from tokonoma.core.module import ServerInfo
    from tokonoma.core.policy import DeskPolicy
    from tokonoma.core.query import Hits, LikeRecord, Query, SearchFilter

Classification = Literal["public", "internal", "pii", "secret"]
CLASSIFICATIONS: tuple[Classification, ...] = ("public", "internal", "pii", "secret")  # from open to closed

Row = tuple[Any, ...]


class SourceText:
    """The whole text that documents were cut from. Detectors read it as a whole, once for all its parts: the second
    half of a private key has no first line by which it could be recognised."""

    __slots__ = ("detections", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.detections: dict[str, Any] = {}  # by the version of the detectors

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceText) and other.text == self.text


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
    changed_at: int = 0  # when it was last changed, in milliseconds; 0: `at`
    valid_from: int | None = None  # what it says holds from here on, in milliseconds; None: always has
    valid_until: int | None = None
    supersedes: Sequence[str] = ()  # addresses of the records that it replaces


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
    kind: str = ""  # where the module's own tools ask for it, such as the type of an item
    details: Mapping[str, str] = field(default_factory=dict[str, str])  # short values beside the text, such as a status


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """What a search of a module found, as it is now. `rank` is its place in the list of hits."""

    address: str  # of lines in a file
    file: str  # the address without the lines
    lines: tuple[int, int]
    signals: tuple[str, ...]
    score: float
    rank: int
    problem: str = ""  # changed: since the search; missing: gone, or not for this caller any more


@dataclass(frozen=True, slots=True)
class RecordLink:
    """That one record leads to another one, which may be of another module."""

    kind: str  # link, backlink, mentions, cites, supersedes, … or the tag of a relation
    address: str  # of the other one
    title: str = ""  # where the module knows it, as the caller may see it
    incoming: bool = False  # the other one leads here


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

    def put_all(self, documents: Sequence[Document]) -> list[Classification]:
        """`put` for many documents, each at an address of its own: new ones are written together, which takes a part of
        the time."""
        ...

    def drop(self, address: str) -> None: ...

    # For texts that get into their place after the commit, as files do: what was put in this transaction is embedded
    # only after a later one was given the result. Without a later one, the records are to be dropped.
    def hold_vectors(self) -> list[int]: ...
    def queue_vectors(self, held: Sequence[int]) -> None: ...

    def classify(self, label: Classification, space: str, *texts: str) -> Classification:
        """The classification of texts that are no document of their own, such as a relation's reason."""
        ...

    @property
    def masks_key(self) -> str:
        """That of the policy in this transaction: see DeskPolicy."""
        ...

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        """The text, line for line, without what is hidden from any caller: for an index of the module's own."""
        ...

    def find_change(self, before: str, source: SourceText) -> int:
        """From where on something else is found in a text than in the text that it begins with; else its end."""
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

    def read_all(self, addresses: Sequence[str]) -> dict[str, Record]:
        """By address, those of these records that are there and that this caller may see, as they were last synced.
        Whoever shows one of them cites it."""
        ...

    def as_module(self, name: str) -> "Desk":
        """The same desk for the code of another module: what it reads is masked like every reading of that module."""
        ...

    def mark_used(self, address: str, trace_id: str) -> None:
        """Note that this search of the record's module led to its use; Missing if the module knows no such search."""

    def list_found(self, module: str, trace_id: str) -> "Sequence[FoundPlace] | None":
        """What a search of this caller found in a module; None if the module knows no such search."""
        ...

    def find(self, query: "Query", where: "SearchFilter") -> "Hits":
        """Search the shared index; the caller's scope and `where` filter before anything is ranked."""
        ...

    def find_near(
        self, addresses: Sequence[str], where: "SearchFilter", least: float, most: int
    ) -> Mapping[str, Mapping[str, float]] | None:
        """For many records at once: up to `most` others each that are near in meaning, with a cosine of `least` or
        more. Those without a vector are left out; None if no embedding model is available."""
        ...

    def find_like(
        self, address: str, text: str, where: "SearchFilter", least: float, most: int
    ) -> "Sequence[LikeRecord]":
        """For one record that was just saved, by its text: up to `most` others with a likeness of `least` or more that
        were not replaced, the likest first. Nothing where that is not quickly known: with a model outside of this
        process, or among very many records."""
        ...

    def find_successors(self, addresses: Sequence[str]) -> Mapping[str, str]:
        """Of these records, those that were replaced, each with the record that now stands in its place: the last one,
        if that was replaced in turn. Only what this caller may see."""
        ...

    def compare_texts(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]] | None:
        """How near each text is in meaning to each of the others, up to 1, also across languages. None if no embedding
        model is available. Nothing that a policy detects leaves for the model."""
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


def note_down(save: Callable[[], object]) -> None:
    """Store what a read leaves for later, such as a trace. On a full or read-only disk the read goes on without it."""
    try:
        save()
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        log("warning", "not_stored", reason=error.reason)
