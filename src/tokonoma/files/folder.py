"""A root folder and the files below it, opened part by part through descriptors.

Each part is opened relative to the folder before it, and never through a symlink. So what was checked is what is used:
if a folder is replaced by a link between two steps, the operation fails; it never leaves the root.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tokonoma.core.errors import Conflict, Denied, Missing, Refusal, Unavailable, Unready
from tokonoma.core.paths import PathParts, join_path, name_key
from tokonoma.files.encoding import DecodedText, Obstacle, decode_bytes

MAX_FILE_BYTES = 16 * 2**20

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe does not block
_DISK_ERRORS = {
    "disk_full": (
        {errno.ENOSPC, errno.EDQUOT, errno.EFBIG},
        "The disk of {path} is full; nothing was changed. Free some space and try again.",
    ),
    "read_only": (
        {errno.EROFS, errno.EACCES, errno.EPERM},
        "The folder {path} is on a read-only disk, or this user has no permission there; nothing was changed.",
    ),
    "disk": ({errno.EIO}, "The disk under {path} failed to read or write. Check the disk, then run `tokonoma doctor`."),
}
_SYMLINK_ERRNOS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_RACE_ERRNOS = _SYMLINK_ERRNOS | {errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTEMPTY, errno.ESTALE}


class FileStamp(NamedTuple):
    """What changes when a file changes."""

    size: int
    mtime: int  # nanoseconds, like ctime
    ctime: int
    inode: int


@dataclass(frozen=True)
class FileContent:
    data: bytes
    stamp: FileStamp
    mode: int
    unread: Refusal | None = None  # why there are no data

    @cached_property
    def version(self) -> str:
        return self._digest.hexdigest()

    @cached_property
    def _digest(self) -> Any:  # the class of hashes is not public
        return hashlib.sha256(self.data)

    @cached_property
    def decoded(self) -> DecodedText | Obstacle:
        return decode_bytes(self.data)

    def replaced_by(self, data: bytes, stamp: FileStamp) -> "FileContent":
        """A new content of the file. If it begins with this one, only the rest has to be hashed."""
        after = FileContent(data, stamp, self.mode)
        if data.startswith(self.data):
            digest = self._digest.copy()
            digest.update(data[len(self.data) :])
            vars(after)["_digest"] = digest
        return after

    def require_data(self) -> bytes:
        if self.unread is not None:
            raise self.unread
        return self.data


class FileEntry(NamedTuple):
    """A file found in a listing."""

    parts: PathParts
    stamp: FileStamp

    @property
    def path(self) -> str:
        return join_path(self.parts)


class RootFolder:
    """An open root. Its own path is the owner's setting and may contain links; nothing below it may."""

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @contextmanager
    def open_folder(self, parts: PathParts, *, create: bool = False) -> Generator[int]:
        """The descriptor of a folder below the root; with `create`, missing folders are created."""
        opened = os.dup(self.descriptor)
        try:
            for depth, part in enumerate(parts, 1):
                deeper = _open_part(opened, part, parts[:depth], create=create)
                os.close(opened)
                opened = deeper
            yield opened
        finally:
            os.close(opened)

    def read(self, parts: PathParts, max_bytes: int = MAX_FILE_BYTES) -> FileContent:
        """A whole regular file. Missing if there is none; Denied if it is anything else, or too large."""
        with name_race(parts), self.open_folder(parts[:-1]) as folder:
            opened = _open_file(folder, parts)
        with os.fdopen(opened, "rb") as file:
            status = os.fstat(opened)
            check_regular_file(status, parts)
            data = b"" if status.st_size > max_bytes else file.read(max_bytes + 1)
            size = max(status.st_size, len(data))
            if size > max_bytes:
                raise Denied(
                    f"{join_path(parts)} has {size} bytes; the limit is {max_bytes} bytes. Split the file.",
                    reason="too_large",
                    path=join_path(parts),
                    limit=max_bytes,
                )
            return FileContent(data, to_stamp(os.fstat(opened)), stat.S_IMODE(status.st_mode))

    def read_stamp(self, parts: PathParts) -> FileStamp | None:
        """None if there is nothing; Denied if it is not a regular file."""
        try:
            with self.open_folder(parts[:-1]) as folder:
                name = find_entry(folder, parts[-1]) or parts[-1]
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, Missing):
            return None
        check_regular_file(status, parts)
        return to_stamp(status)

    def resolve_names(self, parts: PathParts) -> PathParts:
        """The names as they are spelt on the disk, as far as they exist."""
        names = list(parts)
        with suppress(Missing, Denied):  # the name before is not a folder
            for depth, part in enumerate(parts):
                with self.open_folder(tuple(names[:depth])) as folder:
                    names[depth] = find_entry(folder, part) or part
        return tuple(names)


@contextmanager
def open_root(path: str) -> Generator[RootFolder]:
    """Open a root folder; it is created if it is missing. What the disk refuses in the block becomes a refusal."""
    with _translate_disk_errors(path):
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileExistsError, NotADirectoryError):
            raise Unready(f"{path} is a file where a folder should be. Move it away.", reason="folder") from None
        try:
            yield RootFolder(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translate_disk_errors(path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        for reason, (codes, message) in _DISK_ERRORS.items():
            if error.errno in codes:
                raise Unavailable(message.format(path=path), reason=reason) from error
        raise


@contextmanager
def name_race(parts: PathParts) -> Generator[None]:
    """Conflict, if a folder or a file is not any more what it was when it was looked at."""
    try:
        yield
    except OSError as error:
        if error.errno not in _RACE_ERRNOS:
            raise
        path = join_path(parts)
        message = f"{path} or a folder above it was changed by another program at the same time. Try again."
        raise Conflict(message, path=path) from None


@contextmanager
def name_obstacle(parts: PathParts) -> Generator[None]:
    """For a change of a file: Denied with its path, if this user may not write there; else like `name_race`."""
    try:
        with name_race(parts):
            yield
    except PermissionError:
        path = join_path(parts)
        problem = f"The server has no permission to change {path}: the file or its folder is read-only for its user."
        raise Denied(f"{problem} Nothing was changed.", path=path) from None


def find_entry(folder: int, part: str) -> str | None:
    """The name on the disk that a part means: itself, or the one that differs only in case or composition."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.stat(part, dir_fd=folder, follow_symlinks=False)
        return part
    names = [name for name in os.listdir(folder) if name_key(name) == name_key(part)]
    if len(names) > 1:
        raise Conflict(f"{part!r} is ambiguous: it matches {sorted(names)}. Rename all but one.", reason="ambiguous")
    return names[0] if names else None


def to_stamp(status: os.stat_result) -> FileStamp:
    # Some file systems use inode numbers of 64 bits; databases store signed integers.
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino & (2**63 - 1))


def check_regular_file(status: os.stat_result, parts: PathParts) -> None:
    """Fail with Denied for a link, a folder, a pipe, a device, a socket, and a file with a second name elsewhere."""
    if stat.S_ISLNK(status.st_mode):
        raise _symlink_error(parts)
    if stat.S_ISDIR(status.st_mode):
        problem = "is a folder. Name a file in it."
    elif not stat.S_ISREG(status.st_mode):
        problem = "is not a regular file."
    elif status.st_nlink > 1:
        problem = "is a hard link, and its other name may be outside the folder. Replace it with a copy."
    else:
        return
    raise Denied(f"{join_path(parts)} {problem}", reason="scope", path=join_path(parts))


def file_missing_error(parts: PathParts) -> Missing:
    return Missing(f"There is no file {join_path(parts)!r}.", path=join_path(parts))


def _open_part(folder: int, part: str, path: PathParts, *, create: bool) -> int:
    name = find_entry(folder, part)
    if name is None and create:
        with suppress(FileExistsError):  # another process created it meanwhile
            os.mkdir(part, dir_fd=folder)
            os.fsync(folder)
    try:
        return os.open(name or part, _FOLDER_FLAGS, dir_fd=folder)
    except PermissionError:
        path_text = join_path(path)
        raise Denied(f"The server has no permission to open the folder {path_text}.", path=path_text) from None
    except OSError as error:
        if error.errno not in _SYMLINK_ERRNOS | {errno.ENOENT}:
            raise
    try:
        status = os.stat(name or part, dir_fd=folder, follow_symlinks=False)
    except OSError:
        raise Missing(f"There is no folder {join_path(path)!r}.", path=join_path(path)) from None
    if stat.S_ISLNK(status.st_mode):
        raise _symlink_error(path)
    raise Missing(f"{join_path(path)} is a file, not a folder.", path=join_path(path))


def _open_file(folder: int, parts: PathParts) -> int:
    try:
        name = find_entry(folder, parts[-1]) or parts[-1]
        # Checked before opening: opening some devices has effects.
        check_regular_file(os.stat(name, dir_fd=folder, follow_symlinks=False), parts)
        return os.open(name, _FILE_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        raise file_missing_error(parts) from None
    except PermissionError:
        path = join_path(parts)
        raise Denied(f"The server has no permission to read {path}.", reason="unreadable", path=path) from None
    except OSError as error:
        if error.errno in _SYMLINK_ERRNOS:
            raise _symlink_error(parts) from None
        raise


def _symlink_error(parts: PathParts) -> Denied:
    path = join_path(parts)
    return Denied(f"{path} is a symbolic link; links are not followed.", reason="scope", path=path)
