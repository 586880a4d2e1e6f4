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
from tokonoma.core.paths import DEEPEST, Parts, acceptable, joined, same

MOST = 16 * 2**20
"""Bytes of a file that is read here."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for
_LINKED = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})


class Stamp(NamedTuple):
    """What differs when a file is not the one that it was."""

    size: int
    mtime: int  # nanoseconds, like ctime
    ctime: int
    inode: int


@dataclass(frozen=True, slots=True)
class Content:
    data: bytes
    stamp: Stamp
    mode: int


class Found(NamedTuple):
    """A file that was met while walking."""

    parts: Parts
    stamp: Stamp

    @property
    def path(self) -> str:
        return joined(self.parts)


class Folder:
    """An open root. Its own path is the owner's setting and may lead over links; nothing below it may."""

    __slots__ = ("root",)

    def __init__(self, descriptor: int) -> None:
        self.root = descriptor

    @contextmanager
    def into(self, parts: Parts, *, make: bool = False) -> Generator[int]:
        """The descriptor of a folder below the root; with `make`, folders that are missing are made."""
        opened = os.dup(self.root)
        try:
            for place, part in enumerate(parts):
                deeper = _step(opened, part, parts[: place + 1], make=make)
                os.close(opened)
                opened = deeper
            yield opened
        finally:
            os.close(opened)

    def read(self, parts: Parts, most: int = MOST) -> Content:
        """A plain file, whole. Missing if there is none; Denied if it is anything else, or too large."""
        with self.into(parts[:-1]) as folder:
            name = entry(folder, parts[-1])
            if name is None:
                raise missing(parts)
            opened = _opened(name, folder, parts)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            check_plain(found, parts)
            if found.st_size > most:
                raise _too_large(parts, found.st_size, most)
            data = file.read(most + 1)
            if len(data) > most:
                raise _too_large(parts, len(data), most)
            return Content(data, stamp_of(os.fstat(opened)), stat.S_IMODE(found.st_mode))

    def stamp(self, parts: Parts) -> Stamp | None:
        """None if nothing lies there; Denied if it is no plain file."""
        try:
            with self.into(parts[:-1]) as folder:
                name = entry(folder, parts[-1])
                if name is None:
                    return None
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, Missing):
            return None
        check_plain(found, parts)
        return stamp_of(found)

    def files(self, below: Parts = ()) -> list[Found]:
        """The plain files below a folder, in order of name. What is hidden, linked or oddly named is passed over."""
        met: list[Found] = []
        with self.into(below) as folder:
            _walk(folder, below, met)
        return met

    def real(self, parts: Parts) -> Parts:
        """The names as they are spelt on the disk, as far as they are there."""
        spelt: list[str] = []
        for part in parts:
            with self.into(tuple(spelt)) as folder:
                name = entry(folder, part)
            if name is None:
                break
            spelt.append(name)
            if len(spelt) < len(parts) and not self._is_folder(tuple(spelt)):
                break
        return (*spelt, *parts[len(spelt) :])

    def _is_folder(self, parts: Parts) -> bool:
        with self.into(parts[:-1]) as folder:
            return stat.S_ISDIR(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode)


@contextmanager
def opened_root(path: str, *, make: bool = True) -> Generator[Folder]:
    if make:
        Path(path).mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Missing("The folder of these files is not there.", reason="root") from None
    try:
        yield Folder(descriptor)
    finally:
        os.close(descriptor)


def entry(folder: int, part: str) -> str | None:
    """The name on the disk that a part means: itself, or the one that differs in case or composition alone."""
    try:
        os.stat(part, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        pass
    else:
        return part
    alike = [name for name in os.listdir(folder) if same(name) == same(part)]
    if len(alike) > 1:
        raise Conflict(f"{part!r} may mean any of {sorted(alike)}: rename all but one.", reason="ambiguous")
    return alike[0] if alike else None


def stamp_of(found: os.stat_result) -> Stamp:
    # Some file systems number from the top of 64 bits, where databases have a sign.
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino & (2**63 - 1))


def check_plain(found: os.stat_result, parts: Parts) -> None:
    """Denied for a link, a folder, a pipe, a device, a socket, and for a file that has another name elsewhere."""
    if stat.S_ISLNK(found.st_mode):
        raise _linked(parts)
    if stat.S_ISDIR(found.st_mode):
        raise Denied(f"{joined(parts)} is a folder. Name a file in it.", reason="scope", path=joined(parts))
    if not stat.S_ISREG(found.st_mode):
        raise Denied(f"{joined(parts)} is no plain file.", reason="scope", path=joined(parts))
    if found.st_nlink > 1:
        raise Denied(
            f"{joined(parts)} has a second name (a hard link), which may lie outside. Put a copy there instead.",
            reason="scope",
            path=joined(parts),
        )


def missing(parts: Parts) -> Missing:
    return Missing(f"There is no file {joined(parts)!r}.", path=joined(parts))


def _step(folder: int, part: str, so_far: Parts, *, make: bool) -> int:
    name = entry(folder, part)
    if name is None and make:
        try:
            os.mkdir(part, dir_fd=folder)
            os.fsync(folder)
        except FileExistsError:  # somebody else made it meanwhile
            pass
    try:
        return os.open(name or part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        raise Missing(f"There is no folder {joined(so_far)!r}.", path=joined(so_far)) from None
    except OSError as error:
        if error.errno not in _LINKED:
            raise
        raise _not_a_folder(folder, name or part, so_far) from None


def _not_a_folder(folder: int, name: str, so_far: Parts) -> Denied | Missing:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return Missing(f"There is no folder {joined(so_far)!r}.", path=joined(so_far))
    if stat.S_ISLNK(found.st_mode):
        return _linked(so_far)
    return Missing(f"{joined(so_far)} is a file, not a folder.", path=joined(so_far))


def _opened(name: str, folder: int, parts: Parts) -> int:
    try:
        check_plain(os.stat(name, dir_fd=folder, follow_symlinks=False), parts)  # opening some devices does something
        return os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        raise missing(parts) from None
    except PermissionError:
        raise Denied(f"The server may not read {joined(parts)}.", path=joined(parts)) from None
    except OSError as error:
        if error.errno in _LINKED:
            raise _linked(parts) from None
        raise


def _linked(parts: Parts) -> Denied:
    return Denied(f"{joined(parts)} is a symbolic link; none is followed here.", reason="scope", path=joined(parts))


def _too_large(parts: Parts, size: int, most: int) -> Denied:
    return Denied(
        f"{joined(parts)} has {size} bytes; files of up to {most} bytes are read here. Split it.",
        path=joined(parts),
        limit=most,
    )


def _walk(folder: int, parts: Parts, met: list[Found]) -> None:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=attrgetter("name"))
    for each in listed:
        if each.name.startswith(".") or not acceptable(each.name):
            continue
        try:
            if each.is_dir(follow_symlinks=False):
                if len(parts) + 1 < DEEPEST:
                    _go_deeper(folder, each.name, parts, met)
                continue
            found = each.stat(follow_symlinks=False)
        except OSError:  # gone, or exchanged for something else, while we walked
            continue
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            met.append(Found((*parts, each.name), stamp_of(found)))


def _go_deeper(folder: int, name: str, parts: Parts, met: list[Found]) -> None:
    opened = os.open(name, _FOLDER, dir_fd=folder)
    try:
        _walk(opened, (*parts, name), met)
    finally:
        os.close(opened)
