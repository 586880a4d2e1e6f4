"""Atomic writes: new content is written to a draft, made durable, and renamed into place.

There is one writer at a time, which holds a lock that ends with its process. So any draft that exists when the lock is
acquired was left by a process that died, and is removed.
"""

import ctypes
import errno
import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from tokonoma.core.errors import Conflict, Unavailable
from tokonoma.core.ids import random_hex
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.folder import FileStamp, RootFolder, check_regular_file, file_missing_error, find_entry, to_stamp

SYSTEM = ".system"
DRAFTS = (SYSTEM, "drafts")
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_TIMEOUT = 15.0  # seconds
_EXCLUSIVE_FLAGS = {"renameat2": 1, "renameatx_np": 4}  # Linux, macOS
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


@contextmanager
def write_lock(folder: RootFolder, check: Callable[[], None], *, wait: bool = True) -> Generator[bool]:
    """Hold the write lock until the block ends. Yields False if it is taken and `wait` is False."""
    with folder.open_folder((SYSTEM,), create=True) as system:
        lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=system)
    try:
        acquired = _acquire(lock, check, _LOCK_TIMEOUT if wait else 0.0)
        if acquired:
            _remove_drafts(folder)
        elif wait:
            raise Unavailable("Another process holds the write lock. Try again.", reason="busy")
        yield acquired
    finally:
        os.close(lock)


def write_draft(folder: RootFolder, data: bytes, mode: int | None) -> str:
    """Write the content to a durable draft and return its name."""
    name = random_hex(8)
    with folder.open_folder(DRAFTS, create=True) as drafts:
        _write_durably(drafts, name, data, mode)
    return name


def place_draft(folder: RootFolder, name: str, parts: PathParts, before: FileStamp | None) -> FileStamp:
    """Rename the draft over the file with the stamp `before`, or to a free name. A Conflict changes nothing."""
    with folder.open_folder(parts[:-1], create=True) as target, folder.open_folder(DRAFTS) as drafts:
        real, source = _check_target(target, parts, before), drafts
        if os.fstat(target).st_dev != os.fstat(drafts).st_dev:
            # Another file system is mounted here. A rename cannot cross it, so the draft is copied there.
            _copy_across_devices(drafts, name, target)
            name, source = f".{name}", target
        return _rename(source, name, target, real, parts, exclusive=before is None)


def rename_file(folder: RootFolder, origin: PathParts, goal: PathParts, before: FileStamp) -> FileStamp:
    """Rename a file to a free name."""
    with folder.open_folder(goal[:-1], create=True) as target, folder.open_folder(origin[:-1]) as source:
        name = _check_target(source, origin, before)
        real = _check_target(target, goal, None)
        stamp = _rename(source, name, target, real, goal, exclusive=True)
        os.fsync(source)
        return stamp


def remove_file(folder: RootFolder, parts: PathParts, before: FileStamp) -> None:
    """Remove a file that has the stamp `before`. A Conflict changes nothing."""
    with folder.open_folder(parts[:-1]) as target:
        os.unlink(_check_target(target, parts, before), dir_fd=target)
        os.fsync(target)


def file_exists_error(parts: PathParts, name: str) -> Conflict:
    path = join_path((*parts[:-1], name))
    return Conflict(f"The file {path!r} already exists. Nothing was changed.", reason="exists", path=path)


def _acquire(lock: int, check: Callable[[], None], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        check()
        time.sleep(0.002)


def _remove_drafts(folder: RootFolder) -> None:
    with folder.open_folder(DRAFTS, create=True) as drafts:
        for name in os.listdir(drafts):  # noqa: PTH208 - a descriptor, not a path
            with suppress(OSError):
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
    """The name to use; Conflict unless the file there has the stamp `before` (None: there is no file)."""
    name = find_entry(folder, parts[-1])
    if name is None and before is None:
        return parts[-1]
    try:
        status = os.stat(name or parts[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        raise file_missing_error(parts) from None
    name = name or parts[-1]
    check_regular_file(status, parts)
    if before is None:
        raise file_exists_error(parts, name)
    if to_stamp(status) != before:
        raise Conflict(
            f"{join_path(parts)} was changed by another program at the same time. Read it again. Nothing was changed.",
            path=join_path(parts),
        )
    return name


def _rename(source: int, name: str, target: int, real: str, parts: PathParts, *, exclusive: bool) -> FileStamp:
    if exclusive:
        try:
            rename_exclusive(source, name, target, real)
        except FileExistsError:
            raise file_exists_error(parts, real) from None
    else:
        os.rename(name, real, src_dir_fd=source, dst_dir_fd=target)
    os.fsync(target)
    return to_stamp(os.stat(real, dir_fd=target, follow_symlinks=False))


def _copy_across_devices(drafts: int, name: str, target: int) -> None:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=drafts), "rb") as file:
        data, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o7777
    _write_durably(target, f".{name}", data, mode)
    os.unlink(name, dir_fd=drafts)


def rename_exclusive(source: int, name: str, target: int, real: str) -> None:
    """Rename without replacing: FileExistsError if the new name exists. `source` and `target` are folder descriptors.

    Python offers no such rename, so this calls the operating system.
    """
    system_call = _load_system_call()
    if system_call is not None:
        function, flag = system_call
        if function(source, os.fsencode(name), target, os.fsencode(real), flag) == 0:
            return
        code = ctypes.get_errno()
        if code not in _UNSUPPORTED:
            raise OSError(code, os.strerror(code), real)
    # This file system does not support it. A link is made only to a free name; for a moment the file has two names.
    os.link(name, real, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    os.unlink(name, dir_fd=source)


@cache
def _load_system_call() -> tuple[Any, int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in _EXCLUSIVE_FLAGS.items():
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            function.restype = ctypes.c_int
            return function, flag
    return None
