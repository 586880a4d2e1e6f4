"""Replaced contents, each kept under its hash: as a file of its own, or as the first bytes of a *stem*.

A file that is appended to has versions that begin alike. They share a stem, to which every append adds only what is
new; `vault_prefix` says how many bytes of which stem a version is. The bytes are durable before the transaction that
names them. A stem is extended only if it is the beginning of the content to be kept, byte for byte. So a writer that
is killed leaves at most a stem that is longer than any version needs, and the next one goes on from there.
"""

import hashlib
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.paths import PathParts
from tokonoma.files.atomic import DRAFTS, SYSTEM, write_draft
from tokonoma.files.folder import FileContent, RootFolder
from tokonoma.files.text import version_of

VERSIONS = (SYSTEM, "versions")
STEM_SUFFIX = ".stem"
_STEM_FLAGS = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_PREFIX_OF = "select stem, size from vault_prefix where version = :version"
_LAST_STEM = """select p.stem from vault_change c left join vault_prefix p on p.version = c.before
where c.path = :path order by c.id desc limit 1"""
_INSERT_PREFIX = """insert into vault_prefix (version, stem, size) values (:version, :stem, :size)
on conflict (version) do update set stem = excluded.stem, size = excluded.size"""


class VersionPrefix(NamedTuple):
    """A version is the first `size` bytes of the stem."""

    version: str
    stem: str
    size: int

    def save(self, tx: Tx) -> None:
        tx.run(_INSERT_PREFIX, **self._asdict())


def keep_version(
    rows: Rows, folder: RootFolder, path: str, content: FileContent, *, grows: bool
) -> VersionPrefix | None:
    """Keep a content of the file `path`; it is durable when this returns. `grows`: the next content begins with it. If
    a relation is returned, the caller stores it together with the change."""
    version = content.version
    if has_version(rows, folder, version):
        return None
    last = rows.row(_LAST_STEM, path=path)
    names = [last[0]] if last is not None and last[0] else []
    for stem in [*names, version + STEM_SUFFIX] if grows else names:
        if _extend_stem(folder, stem, content.data):
            return VersionPrefix(version, stem, len(content.data))
    name = version
    if grows and folder.read_stamp(_place(version + STEM_SUFFIX)) is None:
        name += STEM_SUFFIX
    _save(folder, name, content.data)
    return VersionPrefix(version, name, len(content.data)) if name != version else None


def save_version(folder: RootFolder, data: bytes) -> None:
    """Keep a content as a file of its own. It is durable when this returns."""
    version = version_of(data)
    if folder.read_stamp(_place(version)) is None:
        _save(folder, version, data)


def read_version(rows: Rows, folder: RootFolder, version: str) -> bytes:
    """The content of a version; Missing if it was removed or damaged."""
    prefix = rows.row(_PREFIX_OF, version=version)
    places = [(version, None), *([prefix] if prefix is not None else [])]
    for name, size in places:
        with suppress(Missing):
            data = folder.read(_place(name)).data[:size]
            if version_of(data) == version:
                return data
    raise Missing(f"The content of version {version[:12]}… is no longer stored.", version=version)


def has_version(rows: Rows, folder: RootFolder, version: str) -> bool:
    if folder.read_stamp(_place(version)) is not None:
        return True
    prefix = rows.row(_PREFIX_OF, version=version)
    stamp = folder.read_stamp(_place(prefix[0])) if prefix is not None else None
    return prefix is not None and stamp is not None and stamp.size >= prefix[1]


def delete_versions(desk: Desk, folder: RootFolder, versions: Collection[str]) -> None:
    """Delete contents for good. The caller holds the write lock, so no other process keeps the same content now. A stem
    is cut to the longest version that is left: the shorter ones are part of that."""
    prefixes = {version: row for version in versions if (row := desk.row(_PREFIX_OF, version=version)) is not None}
    for version in versions:
        if folder.read_stamp(_place(version)) is not None:
            _cut(folder, version, 0)
    for stem in sorted({stem for stem, _ in prefixes.values()}):
        sharing = desk.rows("select version, size from vault_prefix where stem = :stem", stem=stem)
        _cut(folder, stem, max((size for version, size in sharing if version not in prefixes), default=0))
    if prefixes:  # last: a process that dies before it has deleted the content deletes it the next time
        with desk.write_derived() as tx:
            gone = [{"version": version} for version in prefixes]
            tx.run_many("delete from vault_prefix where version = :version", gone)


def list_damaged(folder: RootFolder, prefixes: Mapping[str, tuple[str, int]]) -> list[str]:
    """The versions that are not the first bytes of their stem. Each stem is read once."""
    damaged: list[str] = []
    for stem in sorted({stem for stem, _ in prefixes.values()}):
        ends = sorted((size, version) for version, (name, size) in prefixes.items() if name == stem)
        data = b""
        with suppress(Refusal):
            data = folder.read(_place(stem)).data
        digest, place = hashlib.sha256(), 0
        for size, version in ends:
            digest.update(data[place:size])
            place = size
            if digest.hexdigest() != version:
                damaged.append(version)
    return damaged


def _place(name: str) -> PathParts:
    return (*VERSIONS, name[:2], name)


def _save(folder: RootFolder, name: str, data: bytes) -> None:
    with folder.open_folder((*VERSIONS, name[:2]), create=True) as versions:
        draft = write_draft(folder, data, 0o600)
        with folder.open_folder(DRAFTS) as drafts:
            os.rename(draft, name, src_dir_fd=drafts, dst_dir_fd=versions)
        os.fsync(versions)


def _extend_stem(folder: RootFolder, name: str, data: bytes) -> bool:
    """Add to a stem what it lacks of a content; False if it is not the beginning of that content."""
    try:
        known = folder.read(_place(name)).data
    except Refusal:
        return False
    if not data.startswith(known):
        return False
    with folder.open_folder((*VERSIONS, name[:2])) as versions:
        opened = os.open(name, _STEM_FLAGS | os.O_APPEND, dir_fd=versions)
    with os.fdopen(opened, "wb") as stem:
        stem.write(data[len(known) :])
        stem.flush()
        os.fsync(opened)
    return True


def _cut(folder: RootFolder, name: str, size: int) -> None:
    """Cut a file to its first bytes; remove it if none are left."""
    with suppress(FileNotFoundError, Missing), folder.open_folder((*VERSIONS, name[:2])) as versions:
        if not size:
            os.unlink(name, dir_fd=versions)
            os.fsync(versions)
            return
        with os.fdopen(os.open(name, _STEM_FLAGS, dir_fd=versions), "wb") as stem:
            if os.fstat(stem.fileno()).st_size > size:
                stem.truncate(size)
                os.fsync(stem.fileno())
