"""New content takes its place whole or not at all: a file of its own first, made durable, then one rename.

One writer at a time, held by a lock that goes with its process. So whatever lies among the drafts when the lock is had
was left by somebody who died, and is swept away.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tokonoma.core.errors import Conflict, Unavailable
from tokonoma.core.ids import random_hex
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.folder import FileStamp, RootFolder, check_regular_file, file_missing_error, find_entry, to_stamp
from tokonoma.files.rename import rename_exclusive

SYSTEM = ".system"
DRAFTS = (SYSTEM, "drafts")
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_TIMEOUT = 15.0  # seconds that a writer waits for the one before


@contextmanager
def write_lock(folder: RootFolder, check: Callable[[], None], *, wait: bool = True) -> Generator[bool]:
    """The only writer until the block ends. False if somebody else writes just now and we would not wait."""
    with folder.open_folder((SYSTEM,), make=True) as system:
        lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=system)
    try:
        had = _acquire(lock, check, _LOCK_TIMEOUT if wait else 0.0)
        if had:
            _remove_drafts(folder)
        elif wait:
            raise Unavailable("Somebody else has been writing for long. Try again.", reason="busy")
        yield had
    finally:
        os.close(lock)


def write_draft(folder: RootFolder, data: bytes, mode: int | None) -> str:
    """The content as a durable file without a place yet; its name among the drafts."""
    name = random_hex(8)
    with folder.open_folder(DRAFTS, make=True) as drafts:
        _write_durably(drafts, name, data, mode)
    return name


def place_draft(folder: RootFolder, name: str, parts: PathParts, before: FileStamp | None) -> FileStamp:
    """The draft takes its place: of the very file that was there `before`, or of none. Conflict leaves all as it was"""
    with folder.open_folder(parts[:-1], make=True) as target, folder.open_folder(DRAFTS) as drafts:
        real = _check_target(target, parts, before)
        if os.fstat(target).st_dev != os.fstat(drafts).st_dev:
            # Another file system is mounted here: nothing can be renamed into it, so the draft is made there again.
            _copy_across_devices(drafts, name, target)
            _rename_draft(target, f".{name}", target, real, parts, fresh=before is None)
        else:
            _rename_draft(drafts, name, target, real, parts, fresh=before is None)
        os.fsync(target)
        return to_stamp(os.stat(real, dir_fd=target, follow_symlinks=False))


def rename_file(folder: RootFolder, origin: PathParts, goal: PathParts, before: FileStamp) -> FileStamp:
    """A file gets another name, where nothing is yet."""
    with folder.open_folder(goal[:-1], make=True) as target, folder.open_folder(origin[:-1]) as source:
        name = _check_target(source, origin, before)
        real = _check_target(target, goal, None)
        _rename_draft(source, name, target, real, goal, fresh=True)
        os.fsync(target)
        os.fsync(source)
        return to_stamp(os.stat(real, dir_fd=target, follow_symlinks=False))


def _acquire(lock: int, check: Callable[[], None], patience: float) -> bool:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            check()
            time.sleep(0.002)
        else:
            return True


def _remove_drafts(folder: RootFolder) -> None:
    with folder.open_folder(DRAFTS, make=True) as drafts:
        for name in os.listdir(drafts):  # noqa: PTH208 - a descriptor, not a path
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=drafts)


def _write_durably(folder: int, name: str, data: bytes, mode: int | None) -> None:
    opened = os.open(name, _NEW_FILE_FLAGS, 0o666, dir_fd=folder)
    with os.fdopen(opened, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.fchmod(opened, mode)
        os.fsync(opened)


def _check_target(folder: int, parts: PathParts, before: FileStamp | None) -> str:
    """The name to use; Conflict unless what lies there is what was there before."""
    name = find_entry(folder, parts[-1])
    if name is None:
        if before is None:
            return parts[-1]
        raise file_missing_error(parts)
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        raise file_missing_error(parts) from None
    check_regular_file(found, parts)
    if before is None:
        raise file_exists_error(parts, name)
    if to_stamp(found) != before:
        raise Conflict(
            f"{join_path(parts)} was changed by somebody else at this moment. Read it again. Nothing was changed here.",
            path=join_path(parts),
        )
    return name


def file_exists_error(parts: PathParts, name: str) -> Conflict:
    told = join_path((*parts[:-1], name))
    return Conflict(f"There is already a file {told!r}. Nothing was changed.", reason="exists", path=told)


def _rename_draft(source: int, name: str, target: int, real: str, parts: PathParts, *, fresh: bool) -> None:
    if not fresh:
        os.rename(name, real, src_dir_fd=source, dst_dir_fd=target)
        return
    try:
        rename_exclusive(source, name, target, real)
    except FileExistsError:
        raise file_exists_error(parts, real) from None


def _copy_across_devices(drafts: int, name: str, target: int) -> None:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=drafts), "rb") as file:
        data, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o7777
    _write_durably(target, f".{name}", data, mode)
    os.unlink(name, dir_fd=drafts)
