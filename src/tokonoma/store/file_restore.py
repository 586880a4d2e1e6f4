"""Files from a backup into their folders: all are written aside and checked first, then each is renamed into place."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tokonoma.core.errors import Conflict
from tokonoma.files.atomic import write_lock
from tokonoma.files.folder import RootFolder, open_root
from tokonoma.files.tree import find_blocked, hash_file, list_tree, place_staged, remove_staged, stage_file
from tokonoma.store.archive import DAMAGE, damaged_backup
from tokonoma.store.file_archive import FileRoots, SavedFile, read_files

_NAMED = 5  # files in a message


@dataclass(frozen=True, slots=True)
class RestoredFiles:
    """`replaced` are those of the written ones that were there with another content; `others` are files that are not in
    the backup, and were left as they are."""

    written: int
    replaced: int
    unchanged: int
    others: int


class StagedFiles:
    """Files that wait beside their places."""

    def __init__(self, folders: dict[str, RootFolder]) -> None:
        self._folders = folders
        self._files: dict[str, SavedFile] = {}
        self._replaced = self._unchanged = 0

    def add(self, name: str, file: SavedFile, stream: IO[bytes]) -> bool:
        """Write a file aside, unless it is already in its place. False if its content is not what its hash says."""
        folder = self._folders[file.root]
        present = hash_file(folder, file.parts)
        if present is not None and present[1] == file.sha256:
            self._unchanged += 1
            return True
        self._replaced += present is not None
        self._files[name] = file
        return stage_file(folder, name, stream, file.mode, file.mtime) == file.sha256

    def place(self) -> RestoredFiles:
        for name, file in self._files.items():
            place_staged(self._folders[file.root], name, file.parts)
        present = sum(len(list_tree(folder).files) for folder in self._folders.values())
        written = len(self._files)
        return RestoredFiles(written, self._replaced, self._unchanged, max(0, present - written - self._unchanged))


@contextmanager
def stage_files(source: Path, roots: FileRoots | None) -> Generator[StagedFiles | None]:
    """Write every file that differs from the one in its place, without touching that one. Leaving removes the rest.

    The write lock is held until then, so that nobody writes into the vault in between.
    """
    if roots is None:
        yield None
        return
    with ExitStack() as stack:
        folders = {name: stack.enter_context(open_root(folder)) for name, folder in roots.items()}
        if "vault" in folders:
            stack.enter_context(write_lock(folders["vault"], lambda: None))
        for folder in folders.values():
            remove_staged(folder)  # of a restore that was killed
            stack.callback(_clean_up, folder)
        yield _stage_all(source, folders)


def _clean_up(folder: RootFolder) -> None:
    with suppress(OSError):
        remove_staged(folder)


def _stage_all(source: Path, folders: dict[str, RootFolder]) -> StagedFiles:
    staged = StagedFiles(folders)
    with read_files(source) as found:
        if found is None:
            raise damaged_backup(source, "it was changed since it was checked")
        manifest, open_file = found
        files = [file for file in manifest.files if file.root in folders]
        for root, folder in folders.items():
            _check_places(root, folder, [file for file in files if file.root == root])
        for number, file in enumerate(files):
            try:
                with open_file(file) as stream:
                    whole = staged.add(str(number), file, stream)
            except OSError:
                raise  # of the disk
            except DAMAGE as error:
                raise damaged_backup(source, f"the file {file.path!r} cannot be read") from error
            if not whole:
                raise damaged_backup(source, f"the file {file.path!r} was changed")
    return staged


def _check_places(root: str, folder: RootFolder, files: list[SavedFile]) -> None:
    blocked = find_blocked(folder, [file.parts for file in files])
    if blocked:
        named = ", ".join(f"{path!r} ({why})" for path, why in blocked[:_NAMED])
        raise Conflict(
            f"{len(blocked)} files of the backup have no free place in the folder of {root}: {named}. Move what is"
            " there away, or restore with --without-files. Nothing was changed.",
            reason="blocked",
        )
