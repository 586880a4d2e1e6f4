"""The files through which homes exchange their records: one for each home, which only that home writes.

A file has a header, a line for each record, and a last line with a hash of all that stands before it: a file that has
arrived in part is noticed and read next time. Any file of the folder with such a header counts, whatever its name: also
the second one that a file sync program makes when two machines have written the same file.
"""

import base64
import hashlib
import json
import platform
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokonoma.core.clock import format_time, now
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import random_hex
from tokonoma.core.namespaces import is_inside
from tokonoma.transfer.files import replace_file
from tokonoma.transfer.model import SourceError
from tokonoma.transfer.sync.bookkeeping import Bookkeeping, Key, SyncRecord
from tokonoma.transfer.sync.engine import PublishedRecord
from tokonoma.transfer.sync.merge import Body
from tokonoma.transfer.sync.versions import Version

FORMAT = 1
TYPE = "tokonoma-sync"
FOLDER = "tokonoma-sync"
_PAGE_BYTES = 2 * 1024 * 1024
_MOST_BYTES = 64 * 1024 * 1024
_LEFT_OVER = 3600  # seconds after which a draft belongs to no running sync


@dataclass(frozen=True, slots=True)
class HomeFile:
    path: Path
    home: str
    name: str  # of the machine, for people
    mark: str
    digest: str  # of its records


def list_files(folder: Path) -> tuple[list[HomeFile], list[tuple[Path, str]]]:
    """The files of all homes, and those that cannot be read, with the reason."""
    found: list[HomeFile] = []
    broken: list[tuple[Path, str]] = []
    for path in sorted((folder / FOLDER).glob("*.jsonl")):
        try:
            found.append(_check_file(path))
        except (OSError, SourceError) as error:
            broken.append((path, str(error) if isinstance(error, SourceError) else "It cannot be read."))
    return found, broken


def _check_file(path: Path) -> HomeFile:
    digest, last, first = hashlib.sha256(), b"", b""
    with path.open("rb") as file:
        for line in file:
            first = first or line
            if last and last is not first:
                digest.update(last)
            last = line
    header, footer = _parse_line(first), _parse_line(last)
    if header.get("type") != TYPE:
        raise SourceError("It is no file of a sync.")
    if header.get("format") != FORMAT:
        raise Invalid(f"{path} has the format {header.get('format')!r}; this program reads {FORMAT}. Update it.")
    if footer.get("type") != "end" or footer.get("sha256") != digest.hexdigest():
        raise SourceError("It has not arrived completely.")
    return HomeFile(path, str(header["home"]), str(header.get("name", "")), str(header["mark"]), footer["sha256"])


def read_records(file: HomeFile) -> Iterator[PublishedRecord]:
    """The records of a file, which must be the same as when it was checked."""
    digest = hashlib.sha256()
    records: list[PublishedRecord] = []
    with file.path.open("rb") as lines:
        for line in lines:
            raw = _parse_line(line)
            if raw.get("type") in (TYPE, "end"):
                continue
            digest.update(line)
            records.append(parse_record(raw))
    if digest.hexdigest() != file.digest:
        raise SourceError("It was changed while it was read.")
    yield from records


def parse_record(raw: dict[str, Any]) -> PublishedRecord:
    """A record as another home has published it; SourceError if it is none."""
    version, body = raw.get("version"), raw.get("body")
    named = isinstance(raw.get("kind"), str) and isinstance(raw.get("key"), str) and isinstance(raw.get("at"), int)
    counted = isinstance(version, dict) and all(
        isinstance(count, int) and count > 0
        for count in version.values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    )
    if not named or not counted or not isinstance(body, dict | None):
        raise SourceError("A line of it is no record.")
    return PublishedRecord(raw["kind"], raw["key"], raw["version"], raw["at"], raw.get("body"))


def write_file(
    folder: Path, books: Bookkeeping, files: Iterable[HomeFile], namespace: str, *, secrets: bool = False
) -> bool:
    """Publish the records of this home; False if the file already holds them."""
    found = books.read_current()
    lines = [format_line(*each) for each in found if is_published(each[1], each[2], namespace, secrets=secrets)]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    if any(file.home == books.home and file.digest == digest for file in files):
        return False
    mark = random_hex(8)
    header = {"type": TYPE, "format": FORMAT, "home": books.home, "name": platform.node(), "mark": mark}
    header["at"] = format_time(now())
    with replace_file(folder / FOLDER / f"{books.home}.jsonl") as file:
        file.write(_dump(header))
        file.writelines(lines)
        file.write(_dump({"type": "end", "records": len(lines), "sha256": digest}))
        books.note_file(mark)
    return True


def pack_page(books: Bookkeeping, after: str) -> tuple[str, str]:
    """A page of all records that may leave, and the key after which the next one begins; empty at the end."""
    kind, name = json.loads(after) if after else ("", "")
    lines: list[bytes] = []
    size = 0
    for key, record, body in books.read_current((str(kind), str(name))):
        if is_published(record, body, "/", secrets=False):
            lines.append(format_line(key, record, body))
            size += len(lines[-1])
        if size > _PAGE_BYTES:
            return pack_lines(lines), json.dumps(key)
    return pack_lines(lines), ""


def pack_lines(lines: Iterable[bytes]) -> str:
    return base64.b64encode(zlib.compress(b"".join(lines))).decode()


def unpack_page(packed: str) -> list[PublishedRecord]:
    """The records of a page; Invalid if it is none. What it unpacks to is bounded."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(base64.b64decode(packed, validate=True), _MOST_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise Invalid("The page of records is too large, or cut off.", field="records")
        return [parse_record(_parse_line(line)) for line in text.splitlines()]
    except (ValueError, zlib.error, SourceError) as error:
        raise Invalid("This is not a page of records.", field="records") from error


def remove_left_over(folder: Path) -> None:
    """Remove drafts that a killed sync has left."""
    for path in (folder / FOLDER).glob(".*.tmp"):
        if path.stat().st_mtime < now() / 1000 - _LEFT_OVER:
            path.unlink(missing_ok=True)


def is_published(record: SyncRecord, body: Body | None, namespace: str, *, secrets: bool) -> bool:
    """What has the class secret does not leave the home, unless its owner says so."""
    if record.boundary == "secret" and not secrets:
        return False
    return body is None or is_inside(body.get("namespace", "/"), namespace)


def format_line(key: Key, record: SyncRecord, body: Body | None) -> bytes:
    version: Version = dict(sorted(record.version.items()))
    line: dict[str, Any] = {"kind": key[0], "key": key[1], "version": version, "at": record.at}
    return _dump(line if body is None else {**line, "body": body})


def _dump(value: dict[str, Any]) -> bytes:
    # ASCII: a terminal that shows the file is not steered by it, and a lone surrogate is kept.
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parse_line(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise SourceError("It has not arrived completely.") from None
    if not isinstance(value, dict):
        raise SourceError("It is no file of a sync.")
    return value  # pyright: ignore[reportUnknownVariableType]
