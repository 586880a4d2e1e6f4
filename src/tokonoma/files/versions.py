"""Earlier contents of files, each kept once in a file that is named by its hash."""

import os

from tokonoma.core.errors import Missing
from tokonoma.files.atomic import DRAFTS, SYSTEM, write_draft
from tokonoma.files.folder import RootFolder
from tokonoma.files.text import version_of

_VERSIONS = (SYSTEM, "versions")


def save_version(folder: RootFolder, data: bytes) -> str:
    """Durable when this returns. The version's name."""
    version = version_of(data)
    with folder.open_folder((*_VERSIONS, version[:2]), make=True) as shelf:
        try:
            os.stat(version, dir_fd=shelf, follow_symlinks=False)
        except FileNotFoundError:
            name = write_draft(folder, data, 0o600)
            with folder.open_folder(DRAFTS) as drafts:
                os.rename(name, version, src_dir_fd=drafts, dst_dir_fd=shelf)
            os.fsync(shelf)
    return version


def read_version(folder: RootFolder, version: str) -> bytes:
    """The content of a version; Missing if it is not there any more, or not what it was."""
    try:
        data = folder.read((*_VERSIONS, version[:2], version)).data
    except Missing:
        raise _version_missing_error(version) from None
    if version_of(data) != version:
        raise _version_missing_error(version)
    return data


def has_version(folder: RootFolder, version: str) -> bool:
    return folder.read_stamp((*_VERSIONS, version[:2], version)) is not None


def delete_version(folder: RootFolder, version: str) -> None:
    """For good. The lock is held: nobody keeps the same content at this moment."""
    with folder.open_folder((*_VERSIONS, version[:2])) as shelf:
        os.unlink(version, dir_fd=shelf)
        os.fsync(shelf)


def _version_missing_error(version: str) -> Missing:
    return Missing(f"The content of version {version[:12]}… is not kept any more.", version=version)
