"""A root folder and what lies in it, reached part by part through descriptors.

Each part is opened relative to the folder before it, and never through a symlink. So what was checked is what is used:
who swaps a folder for a link between two steps makes us fail, not leave the root.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from tokonoma.core.errors import Conflict, Denied, Missing
from tokonoma.core.paths import MAX_PATH_DEPTH, PathParts, is_acceptable_name, join_path, name_key

MAX_FILE_BYTES = 16 * 2**20
"""Bytes of a file that is read here."""

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for
_SYMLINK_ERRNOS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})


class FileStamp(NamedTuple):
    """What differs when a file is not the one that it was."""

    size: int
    mtime: int  # nanoseconds, like ctime
    ctime: int
    inode: int


@dataclass(frozen=True, slots=True)
class FileContent:
    data: bytes
    stamp: FileStamp
    mode: int


class FileEntry(NamedTuple):
    """A file that was met while walking."""

    parts: PathParts
    stamp: FileStamp

    @property
    def path(self) -> str:
        return join_path(self.parts)


class RootFolder:
    """An open root. Its own path is the owner's setting and may lead over links; nothing below it may."""

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @contextmanager
    def open_folder(self, parts: PathParts, *, make: bool = False) -> Generator[int]:
        """The descriptor of a folder below the root; with `make`, folders that are missing are made."""
        opened = os.dup(self.descriptor)
        try:
            for place, part in enumerate(parts):
                deeper = _open_part(opened, part, parts[: place + 1], make=make)
                os.close(opened)
                opened = deeper
            yield opened
        finally:
            os.close(opened)

    def read(self, parts: PathParts, most: int = MAX_FILE_BYTES) -> FileContent:
        """A plain file, whole. Missing if there is none; Denied if it is anything else, or too large."""
        with self.open_folder(parts[:-1]) as folder:
            name = find_entry(folder, parts[-1])
            if name is None:
                raise file_missing_error(parts)
            opened = _open_file(name, folder, parts)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            check_regular_file(found, parts)
            if found.st_size > most:
                raise _too_large_error(parts, found.st_size, most)
            data = file.read(most + 1)
            if len(data) > most:
                raise _too_large_error(parts, len(data), most)
            return FileContent(data, to_stamp(os.fstat(opened)), stat.S_IMODE(found.st_mode))

    def read_stamp(self, parts: PathParts) -> FileStamp | None:
        """None if nothing lies there; Denied if it is no plain file."""
        try:
            with self.open_folder(parts[:-1]) as folder:
                name = find_entry(folder, parts[-1])
                if name is None:
                    return None
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, Missing):
            return None
        check_regular_file(found, parts)
        return to_stamp(found)

    def list_files(self, below: PathParts = ()) -> list[FileEntry]:
        """The plain files below a folder, in order of name. What is hidden, linked or oddly named is passed over."""
        met: list[FileEntry] = []
        with self.open_folder(below) as folder:
            _collect_files(folder, below, met)
        return met

    def resolve_names(self, parts: PathParts) -> PathParts:
        """The names as they are spelt on the disk, as far as they are there."""
        spelt: list[str] = []
        for part in parts:
            with self.open_folder(tuple(spelt)) as folder:
                name = find_entry(folder, part)
            if name is None:
                break
            spelt.append(name)
            if len(spelt) < len(parts) and not self._is_folder(tuple(spelt)):
                break
        return (*spelt, *parts[len(spelt) :])

    def _is_folder(self, parts: PathParts) -> bool:
        with self.open_folder(parts[:-1]) as folder:
            return stat.S_ISDIR(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode)


@contextmanager
def open_root(path: str, *, make: bool = True) -> Generator[RootFolder]:
    if make:
        Path(path).mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Missing("The folder of these files is not there.", reason="root") from None
    try:
        yield RootFolder(descriptor)
    finally:
        os.close(descriptor)


def find_entry(folder: int, part: str) -> str | None:
    """The name on the disk that a part means: itself, or the one that differs in case or composition alone."""
    try:
        os.stat(part, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        pass
    else:
        return part
    alike = [name for name in os.listdir(folder) if name_key(name) == name_key(part)]
    if len(alike) > 1:
        raise Conflict(f"{part!r} may mean any of {sorted(alike)}: rename all but one.", reason="ambiguous")
    return alike[0] if alike else None


def to_stamp(found: os.stat_result) -> FileStamp:
    # Some file systems number from the top of 64 bits, where databases have a sign.
    return FileStamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino & (2**63 - 1))


def check_regular_file(found: os.stat_result, parts: PathParts) -> None:
    """Denied for a link, a folder, a pipe, a device, a socket, and for a file that has another name elsewhere."""
    if stat.S_ISLNK(found.st_mode):
        raise _symlink_error(parts)
    if stat.S_ISDIR(found.st_mode):
        raise Denied(f"{join_path(parts)} is a folder. Name a file in it.", reason="scope", path=join_path(parts))
    if not stat.S_ISREG(found.st_mode):
        raise Denied(f"{join_path(parts)} is no plain file.", reason="scope", path=join_path(parts))
    if found.st_nlink > 1:
        raise Denied(
            f"{join_path(parts)} has a second name (a hard link), which may lie outside. Put a copy there instead.",
            reason="scope",
            path=join_path(parts),
        )


def file_missing_error(parts: PathParts) -> Missing:
    return Missing(f"There is no file {join_path(parts)!r}.", path=join_path(parts))


def _open_part(folder: int, part: str, so_far: PathParts, *, make: bool) -> int:
    name = find_entry(folder, part)
    if name is None and make:
        try:
            os.mkdir(part, dir_fd=folder)
            os.fsync(folder)
        except FileExistsError:  # somebody else made it meanwhile
            pass
    try:
        return os.open(name or part, _FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        raise Missing(f"There is no folder {join_path(so_far)!r}.", path=join_path(so_far)) from None
    except OSError as error:
        if error.errno not in _SYMLINK_ERRNOS:
            raise
        raise _folder_error(folder, name or part, so_far) from None


def _folder_error(folder: int, name: str, so_far: PathParts) -> Denied | Missing:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return Missing(f"There is no folder {join_path(so_far)!r}.", path=join_path(so_far))
    if stat.S_ISLNK(found.st_mode):
        return _symlink_error(so_far)
    return Missing(f"{join_path(so_far)} is a file, not a folder.", path=join_path(so_far))


def _open_file(name: str, folder: int, parts: PathParts) -> int:
    try:
        check_regular_file(
            os.stat(name, dir_fd=folder, follow_symlinks=False), parts
        )  # opening some devices does something
        return os.open(name, _FILE_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        raise file_missing_error(parts) from None
    except PermissionError:
        raise Denied(f"The server may not read {join_path(parts)}.", path=join_path(parts)) from None
    except OSError as error:
        if error.errno in _SYMLINK_ERRNOS:
            raise _symlink_error(parts) from None
        raise


def _symlink_error(parts: PathParts) -> Denied:
    return Denied(
        f"{join_path(parts)} is a symbolic link; none is followed here.", reason="scope", path=join_path(parts)
    )


def _too_large_error(parts: PathParts, size: int, most: int) -> Denied:
    return Denied(
        f"{join_path(parts)} has {size} bytes; files of up to {most} bytes are read here. Split it.",
        path=join_path(parts),
        limit=most,
    )


def _collect_files(folder: int, parts: PathParts, met: list[FileEntry]) -> None:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=attrgetter("name"))
    for each in listed:
        if each.name.startswith(".") or not is_acceptable_name(each.name):
            continue
        try:
            if each.is_dir(follow_symlinks=False):
                if len(parts) + 1 < MAX_PATH_DEPTH:
                    _collect_below(folder, each.name, parts, met)
                continue
            found = each.stat(follow_symlinks=False)
        except OSError:  # gone, or exchanged for something else, while we walked
            continue
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            met.append(FileEntry((*parts, each.name), to_stamp(found)))


def _collect_below(folder: int, name: str, parts: PathParts, met: list[FileEntry]) -> None:
    opened = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    try:
        _collect_files(opened, (*parts, name), met)
    finally:
        os.close(opened)
