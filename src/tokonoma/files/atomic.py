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
from tokonoma.core.ids import hex_id
from tokonoma.core.paths import Parts, joined
from tokonoma.files.folder import Folder, Stamp, check_plain, entry, missing, stamp_of
from tokonoma.files.rename import into_nothing

SYSTEM = ".system"
DRAFTS = (SYSTEM, "drafts")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PATIENCE = 15.0  # seconds that a writer waits for the one before


@contextmanager
def locked(folder: Folder, check: Callable[[], None], *, wait: bool = True) -> Generator[bool]:
    """The only writer until the block ends. False if somebody else writes just now and we would not wait."""
    with folder.into((SYSTEM,), make=True) as system:
        lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=system)
    try:
        had = _had(lock, check, _PATIENCE if wait else 0.0)
        if had:
            _sweep(folder)
        elif wait:
            raise Unavailable("Somebody else has been writing for long. Try again.", reason="busy")
        yield had
    finally:
        os.close(lock)


def draft(folder: Folder, data: bytes, mode: int | None) -> str:
    """The content as a durable file without a place yet; its name among the drafts."""
    name = hex_id(8)
    with folder.into(DRAFTS, make=True) as drafts:
        _written(drafts, name, data, mode)
    return name


def place(folder: Folder, name: str, parts: Parts, before: Stamp | None) -> Stamp:
    """The draft takes its place: of the very file that was there `before`, or of none. Conflict leaves all as it was"""
    with folder.into(parts[:-1], make=True) as target, folder.into(DRAFTS) as drafts:
        real = _free(target, parts, before)
        if os.fstat(target).st_dev != os.fstat(drafts).st_dev:
            # Another file system is mounted here: nothing can be renamed into it, so the draft is made there again.
            _moved_over(drafts, name, target)
            _exchanged(target, f".{name}", target, real, parts, fresh=before is None)
        else:
            _exchanged(drafts, name, target, real, parts, fresh=before is None)
        os.fsync(target)
        return stamp_of(os.stat(real, dir_fd=target, follow_symlinks=False))


def move(folder: Folder, origin: Parts, goal: Parts, before: Stamp) -> Stamp:
    """A file gets another name, where nothing is yet."""
    with folder.into(goal[:-1], make=True) as target, folder.into(origin[:-1]) as source:
        name = _free(source, origin, before)
        real = _free(target, goal, None)
        _exchanged(source, name, target, real, goal, fresh=True)
        os.fsync(target)
        os.fsync(source)
        return stamp_of(os.stat(real, dir_fd=target, follow_symlinks=False))


def _had(lock: int, check: Callable[[], None], patience: float) -> bool:
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


def _sweep(folder: Folder) -> None:
    with folder.into(DRAFTS, make=True) as drafts:
        for name in os.listdir(drafts):  # noqa: PTH208 - a descriptor, not a path
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=drafts)


def _written(folder: int, name: str, data: bytes, mode: int | None) -> None:
    opened = os.open(name, _NEW, 0o666, dir_fd=folder)
    with os.fdopen(opened, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.fchmod(opened, mode)
        os.fsync(opened)


def _free(folder: int, parts: Parts, before: Stamp | None) -> str:
    """The name to use; Conflict unless what lies there is what was there before."""
    name = entry(folder, parts[-1])
    if name is None:
        if before is None:
            return parts[-1]
        raise missing(parts)
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        raise missing(parts) from None
    check_plain(found, parts)
    if before is None:
        raise exists(parts, name)
    if stamp_of(found) != before:
        raise Conflict(
            f"{joined(parts)} was changed by somebody else at this moment. Read it again. Nothing was changed here.",
            path=joined(parts),
        )
    return name


def exists(parts: Parts, name: str) -> Conflict:
    told = joined((*parts[:-1], name))
    return Conflict(f"There is already a file {told!r}. Nothing was changed.", reason="exists", path=told)


def _exchanged(source: int, name: str, target: int, real: str, parts: Parts, *, fresh: bool) -> None:
    if not fresh:
        os.rename(name, real, src_dir_fd=source, dst_dir_fd=target)
        return
    try:
        into_nothing(source, name, target, real)
    except FileExistsError:
        raise exists(parts, real) from None


def _moved_over(drafts: int, name: str, target: int) -> None:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=drafts), "rb") as file:
        data, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o7777
    _written(target, f".{name}", data, mode)
    os.unlink(name, dir_fd=drafts)
