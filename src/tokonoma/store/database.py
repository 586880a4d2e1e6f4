"""The store as the rest of the house sees it: blocks that read and blocks that write, the same on both databases."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import unquote

from tokonoma.core.cancellation import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unready
from tokonoma.store.dialect import DatabaseKind, Dialect

SpanFactory = Callable[[str], AbstractContextManager[None]]
"""Wraps a block, for those who trace: called with `store.read` or `store.write`."""

BlockT = TypeVar("BlockT")


class Database(Protocol):
    @property
    def kind(self) -> DatabaseKind: ...
    @property
    def location(self) -> str:
        """Shown to people: a path, or an address without credentials."""
        ...

    @property
    def dialect(self) -> Dialect: ...

    def reading(self, stop: CancelToken | None = None) -> AbstractContextManager[Rows]:
        """One snapshot: what others commit meanwhile is not seen until the block is left."""
        ...

    def writing(self, stop: CancelToken | None = None) -> AbstractContextManager[Statements]:
        """One transaction: committed on leaving, rolled back on an exception. Blocks of one thread do not nest.

        A statement that fails spoils the transaction, also if its error was caught: leaving the block raises it again.
        """
        ...

    def find_problems(self) -> list[str]:
        """What is wrong inside, in words; empty when sound."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def close(self) -> None: ...


def open_database(url: str, *, durable: bool = True, span: SpanFactory | None = None) -> Database:
    """Open `sqlite:///path` or `postgresql://…`. Only `durable=False`, for tests, may lose commits in a power cut."""
    # The drivers are imported here, and not before: the start of a process must not pay for one that it does not use.
    scheme = url.partition(":")[0].lower()
    if scheme == "sqlite":
        from tokonoma.store.sqlite.database import SqliteDatabase

        return SqliteDatabase(parse_sqlite_url(url), durable=durable, span=span)
    if scheme in ("postgresql", "postgres"):
        try:
            from tokonoma.store.postgres.database import PostgresDatabase
        except ImportError as error:
            raise Unready(
                "PostgreSQL needs a driver that is not installed. Install it with: pip install 'tokonoma[postgres]'",
                reason="driver",
            ) from error
        return PostgresDatabase(url, durable=durable, span=span)
    raise Unready(
        "The database URL must start with `sqlite:///` (a path) or `postgresql://`.",
        reason="database_url",
        scheme=scheme,
    )


@contextmanager
def trace_block(span: SpanFactory, name: str, block: AbstractContextManager[BlockT]) -> Generator[BlockT]:
    """The block inside a span, so that one that nobody traces pays nothing."""
    with span(name), block as inside:
        yield inside


def parse_sqlite_url(url: str) -> Path:
    """The file that a `sqlite:` URL names. Paths are absolute: a server is started from folders that nobody knows."""
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
    """The version of the SQLite that the driver brings, and whether it can search by words."""
    import apsw

    return apsw.sqlite_lib_version(), "ENABLE_FTS5" in apsw.compile_options


def format_sqlite_url(path: Path) -> str:
    """The URL of a file: the inverse of `sqlite_path`, for every name that a file can have."""
    return "sqlite://" + path.absolute().as_uri().removeprefix("file://")
