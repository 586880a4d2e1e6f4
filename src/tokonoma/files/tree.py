"""Whole folders of files, for backups: listed, copied while others write, and put back. No link is ever followed.

Names are taken exactly as they are, odd ones too: each part is opened relative to the folder before it.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import IO

from tokonoma.core.ids import random_hex
from tokonoma.core.paths import MAX_PATH_DEPTH, PathParts
from tokonoma.files.folder import FileStamp, RootFolder, to_stamp

FileIdentity = tuple[int, int]
"""device, inode"""

_SYSTEM = ".system"
_STAGED = (_SYSTEM, "restore")
_TRIES = 5
_CHUNK = 1 << 20
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class TreeListing:
    """The files of a root, kept versions included; and what is not copied, with the reason."""

    files: list[PathParts] = field(default_factory=list[PathParts])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class CopiedFile:
    size: int
    sha256: str
    mode: int
    mtime: int  # nanoseconds
    steady: bool  # False: it changed during every try


def list_tree(folder: RootFolder, skip: frozenset[FileIdentity] = frozenset()) -> TreeListing:
    """`skip` are files and folders of the server itself that may lie inside."""
    listing = TreeListing()
    _list_folder(folder.descriptor, (), skip, listing)
    return listing


def _list_folder(descriptor: int, parts: PathParts, skip: frozenset[FileIdentity], listing: TreeListing) -> None:
    with os.scandir(descriptor) as entries:
        found = sorted(entries, key=attrgetter("name"))
    for entry in found:
        inside = (*parts, entry.name)
        try:
            status = entry.stat(follow_symlinks=False)
            if (status.st_dev, status.st_ino) in skip or (parts == (_SYSTEM,) and entry.name != "versions"):
                continue
            if entry.name.startswith(".") and inside != (_SYSTEM,):
                listing.left_out.append(("/".join(inside), "hidden"))
            elif stat.S_ISDIR(status.st_mode) and len(inside) < MAX_PATH_DEPTH:
                with _open(entry.name, _FOLDER_FLAGS, descriptor) as below:
                    _list_folder(below, inside, skip, listing)
            elif why := _find_obstacle(status):
                listing.left_out.append(("/".join(inside), why))
            else:
                listing.files.append(inside)
        except FileNotFoundError:
            continue  # removed during the listing
        except OSError as error:
            listing.left_out.append(("/".join(inside), error.strerror or "not readable"))


def _find_obstacle(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "a link"
    if stat.S_ISDIR(status.st_mode):
        return "too deep"
    if not stat.S_ISREG(status.st_mode):
        return "not a file"
    return "a hard link" if status.st_nlink > 1 else ""


class UnreadableFile(Exception):
    """Says why; empty if the file is gone."""


def copy_file(folder: RootFolder, parts: PathParts, out: IO[bytes]) -> CopiedFile:
    """Copy a file into an empty one. If it changes meanwhile, it is copied again."""
    for remaining in reversed(range(_TRIES)):
        out.seek(0)
        out.truncate()
        with ExitStack() as stack:
            try:
                parent = stack.enter_context(_open_parent(folder, parts))
                opened = stack.enter_context(_open(parts[-1], _FILE_FLAGS, parent))
            except OSError as error:
                why = "" if isinstance(error, FileNotFoundError) else error.strerror or "not readable"
                raise UnreadableFile(why) from error
            before = os.fstat(opened)
            if why := _find_obstacle(before):
                raise UnreadableFile(why)  # replaced since the listing
            size, digest = _copy_chunks(opened, out)
            steady = _is_unchanged(parent, parts[-1], before) and size == before.st_size
        if steady or not remaining:
            return CopiedFile(size, digest, stat.S_IMODE(before.st_mode) & 0o777, before.st_mtime_ns, steady)
    raise AssertionError  # the last try returns


def _copy_chunks(opened: int, out: IO[bytes] | None) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    while chunk := os.read(opened, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if out is not None:
            out.write(chunk)
    return size, digest.hexdigest()


def _is_unchanged(parent: int, name: str, before: os.stat_result) -> bool:
    """The name is looked at, not the open file: a save by another program is a new file of that name."""
    try:
        return to_stamp(os.stat(name, dir_fd=parent, follow_symlinks=False)) == to_stamp(before)
    except FileNotFoundError:
        return False


def hash_file(folder: RootFolder, parts: PathParts) -> tuple[FileStamp, str] | None:
    """A file's stamp and SHA-256; None if there is no regular file."""
    try:
        with _open_parent(folder, parts) as parent, _open(parts[-1], _FILE_FLAGS, parent) as opened:
            status = os.fstat(opened)
            return None if not stat.S_ISREG(status.st_mode) else (to_stamp(status), _copy_chunks(opened, None)[1])
    except OSError:
        return None


def find_blocked(folder: RootFolder, files: Iterable[PathParts]) -> list[tuple[str, str]]:
    """The files that cannot be put into place, because a link, a folder or something else is there."""
    blocked: list[tuple[str, str]] = []
    for parts in files:
        try:
            with _open_parent(folder, parts) as parent:
                status = os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
            why = "a folder" if stat.S_ISDIR(status.st_mode) else _find_obstacle(status)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or "not readable"
        if why:
            blocked.append(("/".join(parts), why))
    return blocked


def stage_file(folder: RootFolder, name: str, data: IO[bytes], mode: int, mtime: int) -> str:
    """Write new content, durably, where nobody reads it yet; its SHA-256."""
    digest = hashlib.sha256()
    with _open_parent(folder, (*_STAGED, name), create=True) as staged:
        opened = os.open(name, _NEW_FILE_FLAGS, 0o600, dir_fd=staged)
        with os.fdopen(opened, "wb") as file:
            while chunk := data.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fchmod(opened, mode & 0o777)
            os.utime(opened, ns=(mtime, mtime))
            os.fsync(opened)
    return digest.hexdigest()


def place_staged(folder: RootFolder, name: str, parts: PathParts) -> None:
    """Rename staged content to its place."""
    with _open_parent(folder, parts, create=True) as target, _open_parent(folder, (*_STAGED, name)) as staged:
        source = staged
        if os.fstat(target).st_dev != os.fstat(staged).st_dev:
            # Another file system is mounted here, and a rename cannot cross it.
            name, source = _copy_across(staged, name, target), target
        os.rename(name, parts[-1], src_dir_fd=source, dst_dir_fd=target)
        os.fsync(target)


def _copy_across(staged: int, name: str, target: int) -> str:
    hidden = f".{random_hex(8)}.partial"
    with _open(name, _FILE_FLAGS, staged) as source:
        status = os.fstat(source)
        with os.fdopen(os.open(hidden, _NEW_FILE_FLAGS, 0o600, dir_fd=target), "wb") as file:
            _copy_chunks(source, file)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
            os.utime(file.fileno(), ns=(status.st_mtime_ns, status.st_mtime_ns))
            os.fsync(file.fileno())
    return hidden


def has_staged(folder: RootFolder) -> bool:
    """Whether a restore was interrupted here."""
    with suppress(OSError), _open_parent(folder, (*_STAGED, "x")):
        return True
    return False


def remove_staged(folder: RootFolder) -> None:
    """Remove what was staged, and the server's folder if nothing else is in it."""
    with suppress(FileNotFoundError), _open_parent(folder, _STAGED) as system:
        shutil.rmtree(_STAGED[-1], dir_fd=system)
    with suppress(OSError):
        os.rmdir(_SYSTEM, dir_fd=folder.descriptor)


@contextmanager
def _open(name: str, flags: int, parent: int) -> Generator[int]:
    opened = os.open(name, flags, dir_fd=parent)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _open_parent(folder: RootFolder, parts: PathParts, *, create: bool = False) -> Generator[int]:
    """The folder of a file, by exact names; OSError if one of them is missing or a link."""
    opened = os.dup(folder.descriptor)
    try:
        for part in parts[:-1]:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=opened)
                    os.fsync(opened)
            deeper = os.open(part, _FOLDER_FLAGS, dir_fd=opened)
            os.close(opened)
            opened = deeper
        yield opened
    finally:
        os.close(opened)
