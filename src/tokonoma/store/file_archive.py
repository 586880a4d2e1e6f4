"""The files in a backup: a zip with their contents and a manifest, at the end of the backup; a seal closes both.

On PostgreSQL it is the zip of the tables, on SQLite a zip after the last page, where SQLite does not read. The seal is
the zip's comment: the time, and a hash of all bytes before it.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from tokonoma.core.errors import Invalid
from tokonoma.core.paths import PathParts
from tokonoma.files.folder import RootFolder, open_root
from tokonoma.files.tree import FileIdentity, UnreadableFile, copy_file, list_tree
from tokonoma.store.archive import DAMAGE, BackupFiles, damaged_backup, not_a_backup

FileRoots = Mapping[str, str]
"""Folders whose files belong to a backup, by their names (manuals, vault)"""

FORMAT = 1
_MANIFEST = "files.json"
_SQLITE = b"SQLite format 3\0"
_MAX_MANIFEST = 1 << 30
_IN_MEMORY = 1 << 24  # bytes of one file; a larger one waits on the disk until it is known to be whole
_CHUNK = 1 << 20
_SEAL_SIZE = 128
_SEAL = re.compile(rb"tokonoma backup 1 at (\d{15}) sha256 ([0-9a-f]{64})\n+\Z")

ReadBytes = Callable[[int, int], bytes]
"""offset, size → bytes of the backup"""


@dataclass(frozen=True, slots=True)
class SavedFile:
    root: str
    path: str
    size: int
    sha256: str
    mode: int
    mtime: int  # nanoseconds
    member: str  # its name in the zip; never used as a path

    @property
    def parts(self) -> PathParts:
        return tuple(self.path.split("/"))


@dataclass(frozen=True, slots=True)
class FilesManifest:
    format: int
    included: bool  # False: left out on request
    files: tuple[SavedFile, ...] = ()
    left_out: tuple[str, ...] = ()  # links, hidden names and others, with the reason
    changing: tuple[str, ...] = ()  # changed while they were copied, again and again

    def summarize(self) -> BackupFiles:
        size = sum(file.size for file in self.files)
        return BackupFiles(self.included, len(self.files), size, self.left_out, self.changing)


def append_files(target: Path, roots: FileRoots | None, at: int, skip: frozenset[FileIdentity]) -> None:
    """Add the files of the roots to a copy of a database, and close it with the seal. None: without files."""
    with target.open("r+b") as file, _open_zip(file) as archive:
        writer = _FileWriter(archive, target.parent)
        for root, folder in (roots or {}).items():
            if Path(folder).is_dir():
                with open_root(folder) as opened:
                    writer.write_tree(root, opened, skip)
        archive.writestr(_MANIFEST, json.dumps(asdict(writer.to_manifest(included=roots is not None))))
        archive.comment = b"\n" * _SEAL_SIZE
    _write_seal(target, at)


def _open_zip(file: IO[bytes]) -> ZipFile:
    """An archive of tables is continued. In a copy of SQLite, bytes that look like a zip may be somebody's text: a new
    one begins after them."""
    mode = "a" if file.read(2) == b"PK" else "w"
    file.seek(0, os.SEEK_END)
    return ZipFile(file, mode, ZIP_DEFLATED, compresslevel=4)


class _FileWriter:
    def __init__(self, archive: ZipFile, scratch: Path) -> None:
        self._archive, self._scratch = archive, scratch
        self._files, self._left_out, self._changing = list[SavedFile](), list[str](), list[str]()

    def write_tree(self, root: str, folder: RootFolder, skip: frozenset[FileIdentity]) -> None:
        listing = list_tree(folder, skip)
        self._left_out += [f"{root}/{path} ({why})" for path, why in listing.left_out]
        for parts in listing.files:
            try:
                self._write_file(root, folder, parts)
            except UnreadableFile as error:
                if str(error):
                    self._left_out.append(f"{root}/{'/'.join(parts)} ({error})")

    def _write_file(self, root: str, folder: RootFolder, parts: PathParts) -> None:
        path = "/".join(parts)
        member = _choose_member(self._archive, f"files/{root}/{path}")
        with SpooledTemporaryFile(_IN_MEMORY, dir=str(self._scratch), prefix=".tokonoma-") as spool:
            copied = copy_file(folder, parts, spool)
            spool.seek(0)
            info = ZipInfo(member)
            info.compress_type, info.external_attr = ZIP_DEFLATED, copied.mode << 16
            with self._archive.open(info, "w", force_zip64=True) as out:
                while chunk := spool.read(_CHUNK):
                    out.write(chunk)
        self._files.append(SavedFile(root, path, copied.size, copied.sha256, copied.mode, copied.mtime, member))
        if not copied.steady:
            self._changing.append(f"{root}/{path}")

    def to_manifest(self, *, included: bool) -> FilesManifest:
        return FilesManifest(FORMAT, included, tuple(self._files), tuple(self._left_out), tuple(self._changing))


def _choose_member(archive: ZipFile, name: str) -> str:
    """A name that a zip can hold, for people who open the backup with other programs."""
    clean = name.encode("utf-8", "backslashreplace").decode()
    return clean if clean not in archive.NameToInfo else f"{clean}~{len(archive.NameToInfo)}"


def _write_seal(path: Path, at: int) -> None:
    found = hashlib.sha256()
    with path.open("r+b") as file:
        end = file.seek(-_SEAL_SIZE, os.SEEK_END)
        file.seek(0)
        for offset in range(0, end, _CHUNK):
            found.update(file.read(min(_CHUNK, end - offset)))
        file.write(f"tokonoma backup 1 at {at:015d} sha256 {found.hexdigest()}".encode().ljust(_SEAL_SIZE, b"\n"))
        file.flush()
        os.fsync(file.fileno())


def check_seal(path: Path, read: ReadBytes) -> int | None:
    """The time of the seal; None if there is none. Invalid if the bytes before it were changed."""
    end = path.stat().st_size - _SEAL_SIZE
    seal = _SEAL.match(read(end, _SEAL_SIZE)) if end > 0 else None
    if seal is None:
        return None
    found = hashlib.sha256()
    for offset in range(0, end, _CHUNK):
        found.update(read(offset, min(_CHUNK, end - offset)))
    if found.hexdigest().encode() != seal[2]:
        raise damaged_backup(path, "its bytes were changed")
    return int(seal[1])


@contextmanager
def read_files(path: Path) -> Generator[tuple[FilesManifest, Callable[[SavedFile], IO[bytes]]] | None]:
    """The manifest of the files and a function that opens one; None if the backup says nothing about files."""
    try:
        archive = ZipFile(path)
    except BadZipFile:
        yield None
        return
    with archive:
        first = min((info.header_offset for info in archive.infolist()), default=0)
        if first != _find_start(path) or _MANIFEST not in archive.NameToInfo:
            yield None
            return
        yield _read_manifest(path, archive), lambda file: archive.open(file.member)


def _find_start(path: Path) -> int:
    """Where the zip must begin: the pages of SQLite before it may hold any bytes, also those of another zip."""
    with path.open("rb") as file:
        header = file.read(32)
    if not header.startswith(_SQLITE):
        return 0
    page_size = int.from_bytes(header[16:18], "big")
    return int.from_bytes(header[28:32], "big") * (65_536 if page_size == 1 else page_size)


def verify_files(path: Path) -> BackupFiles | None:
    """Read every file and compare it with its hash."""
    with read_files(path) as found:
        if found is None:
            return None
        manifest, open_file = found
        for file in manifest.files:
            try:
                with open_file(file) as stream:
                    digest = hashlib.sha256()
                    while chunk := stream.read(_CHUNK):
                        digest.update(chunk)
            except DAMAGE as error:
                raise damaged_backup(path, f"the file {file.path!r} cannot be read") from error
            if digest.hexdigest() != file.sha256:
                raise damaged_backup(path, f"the file {file.path!r} was changed")
        return manifest.summarize()


def _read_manifest(path: Path, archive: ZipFile) -> FilesManifest:
    try:
        if archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST:
            raise ValueError
        found: dict[str, Any] = json.loads(archive.read(_MANIFEST))
        if int(found["format"]) > FORMAT:
            raise Invalid(f"The files in {path} were saved by a newer version of Tokonoma. Install that version.")
        files = tuple(SavedFile(**each) for each in found["files"])
        manifest = FilesManifest(
            int(found["format"]), bool(found["included"]), files, tuple(found["left_out"]), tuple(found["changing"])
        )
    except DAMAGE as error:
        raise damaged_backup(path, "the list of its files cannot be read") from error
    for file in files:
        _check_saved_file(path, file)
    places = {(file.root, file.parts) for file in files}
    inside = any((file.root, file.parts[:depth]) in places for file in files for depth in range(1, len(file.parts)))
    if len(places) != len(files) or inside:
        raise not_a_backup(path)  # two files in one place, or one file inside another
    return manifest


def _check_saved_file(path: Path, file: SavedFile) -> None:
    """The manifest may be hostile: a file goes below its root, and nowhere else."""
    if not all(type(each) is str for each in (file.root, file.path, file.sha256, file.member)):
        raise not_a_backup(path)
    hidden = [part for part in file.parts if part.startswith(".")]
    versions = file.parts[:2] == (".system", "versions") and len(hidden) == 1
    odd = "" in file.parts or "\0" in file.path or (hidden and not versions)
    numbers = (file.size, file.mode, file.mtime)
    if odd or len(file.parts) > 64 or not all(type(each) is int and abs(each) < 1 << 63 for each in numbers):
        raise not_a_backup(path)
