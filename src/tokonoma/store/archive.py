"""A backup of PostgreSQL is an archive: a zip with one COPY stream a table, and a manifest. No driver is needed."""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tokonoma.core.errors import Unready
from tokonoma.store.contents import Contents, damaged, foreign

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK = 1 << 18
# What reading a broken zip may raise; a broken flag, for one, looks like encryption (RuntimeError).
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    RuntimeError,
    OSError,
)


@dataclass(frozen=True, slots=True)
class Table:
    """`sha256` is of the stream; `digest` is of the rows in whatever order, so that a table can be compared with it."""

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str
    digest: str


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A column that counts up by itself, and the number that comes next."""

    table: str
    column: str
    next: int


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    created_at: int
    migrations: Mapping[str, Sequence[str]]
    tables: tuple[Table, ...]
    sequences: tuple[Sequenced, ...]


class Digest:
    """Counts and hashes rows. The sum of the rows' hashes does not depend on their order."""

    __slots__ = ("_sum", "rows")

    def __init__(self) -> None:
        self._sum = 0
        self.rows = 0

    def add(self, row: bytes) -> None:
        self._sum += int.from_bytes(hashlib.sha256(row).digest(), "big")
        self.rows += 1

    def shown(self) -> str:
        return f"{self._sum % (1 << 256):064x}"


class Archive:
    """Being written. Rows are what COPY gives: one line each."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._tables: list[Table] = []

    def add(self, name: str, columns: tuple[str, ...], rows: Iterator[bytes]) -> int:
        digest, stream = Digest(), hashlib.sha256()
        with self._file.open(_member(name), "w", force_zip64=True) as out:
            for row in rows:
                out.write(row)
                stream.update(row)
                digest.add(row)
        self._tables.append(Table(name, columns, digest.rows, stream.hexdigest(), digest.shown()))
        return digest.rows

    def finish(self, created_at: int, migrations: Mapping[str, Sequence[str]], sequences: Sequence[Sequenced]) -> None:
        manifest = Manifest(FORMAT, created_at, migrations, tuple(self._tables), tuple(sequences))
        self._file.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))


@contextmanager
def writing(path: Path) -> Generator[Archive]:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as file:
        yield Archive(file)


@contextmanager
def reading(path: Path) -> Generator[tuple[Manifest, Callable[[Table], IO[bytes]]]]:
    """The manifest, and a way to open the stream of a table."""
    try:
        file = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise damaged(path, "it is not a whole archive") from error
    with file:
        yield _manifest(path, file), lambda table: file.open(_member(table.name))


def verify(path: Path) -> Contents:
    """Read every byte and compare it with the manifest."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise foreign(path)
    with reading(path) as (manifest, stream):
        for table in manifest.tables:
            try:
                _compare(path, table, stream(table))
            except _DAMAGE as error:
                raise damaged(path, f"the rows of {table.name} cannot be read") from error
    tables = {table.name: table.rows for table in manifest.tables}
    return Contents(path, "postgresql", manifest.created_at, path.stat().st_size, tables, manifest.migrations)


def _compare(path: Path, table: Table, stream: IO[bytes]) -> None:
    found, rows = hashlib.sha256(), 0
    with stream:
        while chunk := stream.read(_CHUNK):
            found.update(chunk)
            rows += chunk.count(b"\n")  # a line break inside a value is written as two other characters
    if rows != table.rows or found.hexdigest() != table.sha256:
        raise damaged(path, f"the rows of {table.name} are not those that were saved")


def _manifest(path: Path, file: zipfile.ZipFile) -> Manifest:
    if _MANIFEST not in file.namelist():
        raise foreign(path)
    try:
        found: dict[str, Any] = json.loads(file.read(_MANIFEST))
        if int(found["format"]) > FORMAT:
            raise Unready(
                f"The backup {path} was made by a newer version of Tokonoma. Install that version to restore it.",
                reason="newer_schema",
            )
        return Manifest(
            int(found["format"]),
            int(found["created_at"]),
            {str(name): [str(each) for each in names] for name, names in found["migrations"].items()},
            tuple(_table(each) for each in found["tables"]),
            tuple(Sequenced(each["table"], each["column"], int(each["next"])) for each in found["sequences"]),
        )
    except _DAMAGE as error:
        raise damaged(path, "its manifest cannot be read") from error


def _table(found: dict[str, Any]) -> Table:
    columns = tuple(str(each) for each in found["columns"])
    return Table(str(found["name"]), columns, int(found["rows"]), str(found["sha256"]), str(found["digest"]))


def _member(table: str) -> str:
    return f"tables/{table}.copy"
