"""The store as other rooms see it: reading and writing blocks and errors, the same on both databases."""

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol, TypeVar
from urllib.parse import unquote

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Conflict, Invalid, Refusal, Unavailable, Unready
from tokonoma.store.dialect import DatabaseKind, Dialect

SpanFactory = Callable[[str], AbstractContextManager[None]]
"""Wraps a block in a span, for tracing: called with `store.read` or `store.write`"""

BlockT = TypeVar("BlockT")

ErrorReason = Literal[
    "busy", "disk_full", "closed", "read_only", "corrupt", "disk", "database", "exists", "linked", "text", "number"
]
_ERRORS: Mapping[ErrorReason, str] = {
    "busy": "The database was busy with other writers for too long; nothing was changed. Try again.",
    "disk_full": "The disk of the database is full; nothing was changed. Free some space and try again.",
    "closed": "The database was closed; nothing was changed.",
    "read_only": "The database at {location} is read-only; nothing was changed. Check the permissions of the file and"
    " its folder, or connect to the primary server.",
    "corrupt": "The database at {location} is damaged. Stop all processes that use it, keep a copy of it, run"
    " `tokonoma doctor`, and restore a backup with `tokonoma restore BACKUP`, or read what is left of it with"
    " `tokonoma recover FOLDER`.",
    "disk": "The disk under {location} failed to read or write; nothing was changed. Check the disk, then run"
    " `tokonoma doctor`.",
    "database": "The database does not answer; nothing was changed. Try again.",
    "exists": "A record with this key already exists; nothing was changed.",
    "linked": "Another record refers to this one, or the referenced record does not exist; nothing was changed.",
    "text": "A text contains a character that the database cannot store (NUL, or a lone surrogate). Remove it and try"
    " again.",
    "number": "A number is too large: integers must fit into 64 bits.",
}
_RETRY_AFTER: Mapping[str, int] = {"busy": 1, "database": 1, "disk_full": 30}
"""Seconds after which it may work again. A server that is back is noticed within a second."""

# All others are Unavailable.
_KINDS: Mapping[str, type[Refusal]] = {"exists": Conflict, "linked": Conflict, "text": Invalid, "number": Invalid}


class Database(Protocol):
    kind: DatabaseKind
    location: str  # for messages: a path, or a URL without credentials
    dialect: Dialect

    def reading(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Rows]:
        """One snapshot: the block does not see later commits."""
        ...

    def writing(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Statements]:
        """One transaction: committed at the end of the block, rolled back on an exception. Blocks of a thread do not
        nest: on PostgreSQL each has a connection, and who has one must not wait for another.

        A statement that fails ends the transaction, also if its error was caught: the block raises it again at its end.
        """
        ...

    def find_problems(self) -> list[str]: ...  # in words; empty if nothing is wrong
    def has_checksums(self) -> bool: ...  # whether every page that is read is compared with its checksum
    def size(self) -> int: ...  # bytes on disk

    def update_statistics(self) -> int:
        """Let the planner of queries look at tables that have grown since it did so last; how many it looked at. Each
        is read in part only, in a transaction of its own, and a call without such tables costs next to nothing."""
        ...

    def save_copy(self, target: Path, *, sound: bool = True) -> dict[str, int]:
        """Copy everything into an empty file; the rows of each table. `sound=False` copies damaged data as it is."""
        ...

    def load_copy(self, source: Path) -> None: ...  # replace everything by a verified copy
    def keep_reserve(self) -> None: ...  # keep some room on the disk for deletions, if the disk is ours
    def give_up_reserve(self) -> bool: ...  # use that room; False if there is none
    def check_room(self) -> None: ...  # refuse with `disk_full` while the room was given up and cannot be kept again
    def close(self) -> None: ...


def open_database(url: str, *, durable: bool = True, span: SpanFactory | None = None) -> Database:
    """Open `sqlite:///path` or `postgresql://…`. Only `durable=False`, for tests, may lose commits in a power cut."""
    # The drivers are imported here, so that the start does not pay for one that it does not use.
    scheme = url.partition(":")[0].lower()
    if scheme == "sqlite":
        from tokonoma.store.sqlite import SqliteDatabase

        return SqliteDatabase(parse_sqlite_url(url), durable=durable, span=span)
    if scheme in ("postgresql", "postgres"):
        try:
            from tokonoma.store.postgres import PostgresDatabase
        except ImportError as error:
            raise Unready(
                "PostgreSQL needs a driver that is not installed. Install it with: pip install 'tokonoma[postgres]'",
                reason="driver",
            ) from error
        return PostgresDatabase(url, durable=durable, span=span)
    raise Unready(
        "The database URL must start with `sqlite:///` (a path) or `postgresql://`.",
        reason="database_url",
    )


@contextmanager
def trace_block(span: SpanFactory, name: str, block: AbstractContextManager[BlockT]) -> Generator[BlockT]:
    """The block inside a span; without tracing this is not called."""
    with span(name), block as inside:
        yield inside


def parse_sqlite_url(url: str) -> Path:
    """The file of a `sqlite:` URL. Paths are absolute, because a server may be started from any folder."""
    start, _, rest = url.partition("://")
    path = unquote(rest)
    while path.startswith("//"):  # sqlite:////srv/x, as other programs write an absolute path
        path = path[1:]
    if path.startswith("/~/") or path[2:3] == ":":  # /~/x and /C:/x
        path = path[1:]
    found = Path(path).expanduser()
    if start.lower() != "sqlite" or "?" in rest or not found.is_absolute() or not found.name:
        raise Unready(
            f"`{url}` does not name a database file. Write an absolute path after two slashes,"
            " as in `sqlite:///home/me/tokonoma.db`; there are no parameters, and no database in memory.",
            reason="database_url",
        )
    return found


def read_sqlite_info() -> tuple[str, bool]:
    """The SQLite version of the driver, and whether it has full-text search."""
    import apsw

    return apsw.sqlite_lib_version(), "ENABLE_FTS5" in apsw.compile_options


def format_sqlite_url(path: Path) -> str:
    """The URL of a file: the inverse of `parse_sqlite_url`, for every possible file name."""
    return "sqlite://" + path.absolute().as_uri().removeprefix("file://")


class TransactionBlock:
    """What reading and writing blocks of both databases share."""

    __slots__ = ("_cancel_token",)

    def __init__(self, cancel_token: CancelToken | None) -> None:
        self._cancel_token = cancel_token

    def _check_cancelled(self) -> None:
        if self._cancel_token is not None and self._cancel_token.reason:
            raise self._cancel_token.to_error()

    def rows(self, sql: str, /, **params: Any) -> list[Row]:
        raise NotImplementedError

    def row(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.rows(sql, **params)
        return rows[0] if rows else None


def store_error(reason: ErrorReason, location: str = "") -> Refusal:
    """An error in the same words for both databases. A driver's own text never leaves the store."""
    later = {"retry_after": _RETRY_AFTER[reason]} if reason in _RETRY_AFTER else {}
    return _KINDS.get(reason, Unavailable)(_ERRORS[reason].format(location=location), reason=reason, **later)


def raise_refusal(refusal: BaseException, error: BaseException) -> NoReturn:
    if refusal is error:
        raise error
    raise refusal from error


def contains_nul(params: Mapping[str, Any]) -> bool:
    """PostgreSQL stores no NUL, and both databases refuse the same texts."""
    for value in params.values():  # noqa: SIM110 - a loop is fastest, and this runs before every statement
        if type(value) is str and "\0" in value:
            return True
    return False
