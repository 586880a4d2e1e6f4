"""Disks that are full or read-only, for tests. Mounting needs rights that not every machine gives: then tests skip."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this machine does not allow mounting: {done.stderr.strip()}")


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=True)


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Path]:
    """A disk of this size."""
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
    try:
        yield folder
    finally:
        unmount(folder)


@contextmanager
def read_only_view(source: Path, folder: Path) -> Generator[Path]:
    """The same files on a read-only disk."""
    folder.mkdir()
    mount("--bind", str(source), str(folder))
    try:
        mount("-o", "remount,bind,ro", str(folder))
        yield folder
    finally:
        unmount(folder)


def fill(folder: Path) -> Path:
    """Write until nothing fits any more; the file that takes the room."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler
