"""Contents of a backup, and the archive of PostgreSQL: a zip with a COPY stream per table and a manifest; no driver."""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from tokonoma.core.errors import Invalid, Unready
from tokonoma.store.dialect import DatabaseKind

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK = 1 << 18
# What reading a damaged zip may raise; a damaged flag, for example, looks like encryption (RuntimeError).
_ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError)
DAMAGE = (*_ZIP_DAMAGE, LookupError, TypeError, ValueError, RuntimeError, OSError)


@dataclass(frozen=True, slots=True)
class BackupFiles:
    """The files of the vault and the manuals in a backup."""

    included: bool  # False: left out on request
    count: int
    size: int  # bytes
    left_out: Sequence[str]  # links, hidden names and others, with the reason
    changing: Sequence[str]  # changed while they were copied, again and again


@dataclass(frozen=True, slots=True)
class BackupContents:
    """The contents of a verified backup."""

    path: Path
    kind: DatabaseKind
    created_at: int  # milliseconds since the epoch
    size: int  # bytes
    tables: Mapping[str, int]  # rows of each
    migrations: Mapping[str, Sequence[str]]  # names of each set, in their order
    files: BackupFiles | None = None  # None: an earlier version made it, or it is a plain copy of the database


@dataclass(frozen=True, slots=True)
class ArchivedTable:
    """`sha256` is of the stream; `digest` is of the rows in any order, for the comparison with a table."""

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str
    digest: str


@dataclass(frozen=True, slots=True)
class ArchivedSequence:
    """An identity column and its next number."""

    table: str
    column: str
    next: int


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    created_at: int
    migrations: Mapping[str, Sequence[str]]
    tables: tuple[ArchivedTable, ...]
    sequences: tuple[ArchivedSequence, ...]


class RowDigest:
    """Counts and hashes rows. The sum of the rows' hashes does not depend on their order."""

    __slots__ = ("_sum", "rows")

    def __init__(self) -> None:
        self._sum = 0
        self.rows = 0

    def add(self, row: bytes) -> None:
        self._sum += int.from_bytes(hashlib.sha256(row).digest(), "big")
        self.rows += 1

    def to_hex(self) -> str:
        return f"{self._sum % (1 << 256):064x}"


def write_table(file: zipfile.ZipFile, name: str, columns: tuple[str, ...], rows: Iterator[bytes]) -> ArchivedTable:
    """Write a table into an archive. The rows come from COPY: one line each."""
    digest, stream = RowDigest(), hashlib.sha256()
    with file.open(f"tables/{name}.copy", "w", force_zip64=True) as out:
        for row in rows:
            out.write(row)
            stream.update(row)
            digest.add(row)
    return ArchivedTable(name, columns, digest.rows, stream.hexdigest(), digest.to_hex())


def write_manifest(file: zipfile.ZipFile, manifest: Manifest) -> None:
    file.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))


@contextmanager
def read_archive(path: Path) -> Generator[tuple[Manifest, Callable[[ArchivedTable], IO[bytes]]]]:
    """The manifest, and a function that opens the stream of a table."""
    try:
        file = zipfile.ZipFile(path)
    except DAMAGE as error:
        raise damaged_backup(path, "it is not a whole archive") from error
    with file:
        yield _read_manifest(path, file), lambda table: file.open(f"tables/{table.name}.copy")


def verify_archive(path: Path) -> BackupContents:
    """Read every byte and compare it with the manifest."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise not_a_backup(path)
    with read_archive(path) as (manifest, stream):
        for table in manifest.tables:
            try:
                _compare_table(path, table, stream(table))
            except DAMAGE as error:
                raise damaged_backup(path, f"the rows of {table.name} cannot be read") from error
    tables = {table.name: table.rows for table in manifest.tables}
    return BackupContents(path, "postgresql", manifest.created_at, path.stat().st_size, tables, manifest.migrations)


def _compare_table(path: Path, table: ArchivedTable, stream: IO[bytes]) -> None:
    found, rows = hashlib.sha256(), 0
    with stream:
        while chunk := stream.read(_CHUNK):
            found.update(chunk)
            rows += chunk.count(b"\n")  # COPY escapes a line break inside a value
    if rows != table.rows or found.hexdigest() != table.sha256:
        raise damaged_backup(path, f"the rows of {table.name} were changed")


def _read_manifest(path: Path, file: zipfile.ZipFile) -> Manifest:
    if _MANIFEST not in file.namelist():
        raise not_a_backup(path)
    try:
        found: dict[str, Any] = json.loads(file.read(_MANIFEST))
        if int(found["format"]) > FORMAT:
            raise Unready(
                f"The backup {path} was made by a newer version of Tokonoma. Install that version to restore it.",
                reason="newer_schema",
            )
        tables = tuple(replace(ArchivedTable(**each), columns=tuple(each["columns"])) for each in found["tables"])
        sequences = tuple(ArchivedSequence(**each) for each in found["sequences"])
        return Manifest(int(found["format"]), int(found["created_at"]), dict(found["migrations"]), tables, sequences)
    except DAMAGE as error:
        raise damaged_backup(path, "its manifest cannot be read") from error


def damaged_backup(path: Path, what: str) -> Invalid:
    return Invalid(f"The backup {path} is damaged ({what}). Nothing was changed. Use another backup.", reason="damaged")


def not_a_backup(path: Path) -> Invalid:
    return Invalid(f"{path} is not a backup of Tokonoma. Nothing was changed.", reason="not_a_backup")
