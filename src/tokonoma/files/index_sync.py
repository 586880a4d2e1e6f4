"""The vault's files in the shared index: compared with the disk before every answer, and indexed again if changed."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Row, Rows, SourceText, Tx, note_down
from tokonoma.core.errors import Missing, Refusal, Unavailable, is_storage_error
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.backlog import Check, process_backlog, wait_for_others
from tokonoma.files.folder import FileContent, FileEntry, FileStamp, RootFolder, file_missing_error
from tokonoma.files.text import (
    decode_text,
    file_address,
    find_line_starts,
    namespace_of,
    split_lines,
    split_passages,
    version_of,
)

TIMESTAMP_GRANULARITY = 2 * 10**9  # nanoseconds within which two changes may have the same time
NO_TEXT = -1  # the number of lines of a file that is too large or not text
_FILES_PER_TRANSACTION = 100

_SELECT_FILES = "select path, size, mtime, ctime, inode, version, lines, looked_at, masks from vault_file"
_SELECT_FILE = f"{_SELECT_FILES} where path = :path"
_UPSERT_FILE = """insert into vault_file (path, size, mtime, ctime, inode, version, lines, looked_at, masks)
values (:path, :size, :mtime, :ctime, :inode, :version, :lines, :looked_at, :masks)
on conflict (path) do update set size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
    inode = excluded.inode, version = excluded.version, lines = excluded.lines, looked_at = excluded.looked_at,
    masks = excluded.masks"""
_UPSERT_CLASS = """insert into vault_class (path, label) values (:path, :label)
on conflict (path) do update set label = excluded.label"""
_INSERT_PART = "insert into vault_part (address, path, space, label) values (:address, :path, :space, :label)"
_LAST_CHANGE = """select id, principal, action, origin, after from vault_change
where path = :path and id < :below and state <> 'undone' order by id desc limit 1"""
AFTER_EVERY_ID = "~"
_COUNT_VISIBLE = "select count(*), sum(case when {visible} then 1 else 0 end) from vault_part where path = :path"
_SELECT_HIDDEN = """select path from vault_part group by path
having count(*) > sum(case when {visible} then 1 else 0 end)"""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file's row in the store."""

    path: str
    stamp: FileStamp
    version: str
    lines: int
    looked_at: int
    masks: str  # how it was masked for the index

    @classmethod
    def from_row(cls, row: Row) -> "IndexedFile":
        return cls(row[0], FileStamp(*row[1:5]), *row[5:])

    def is_current(self, stamp: FileStamp, masks: str) -> bool:
        """Whether the file is unchanged, as far as its stamp can tell."""
        is_old = max(stamp.mtime, stamp.ctime) + TIMESTAMP_GRANULARITY < self.looked_at
        return stamp == self.stamp and is_old and self.masks == masks

    def holds(self, version: str, masks: str) -> bool:
        """Whether this content is indexed, masked in this way."""
        return self.version == version and self.masks == masks


def find_writer(rows: Rows, path: str, version: str) -> str:
    """The principal that wrote this version of a file, also from before it was moved. Empty if the last change through
    Tokonoma has left another content: somebody has edited the file on the disk."""
    below = AFTER_EVERY_ID
    while row := rows.row(_LAST_CHANGE, path=path, below=below):
        below, principal, action, origin, after = row
        if after != version:
            break
        if action != "move":
            return principal
        path = origin
    return ""


def sync_file(desk: Desk, parts: PathParts, content: FileContent) -> None:
    """Sync the index with this content. Then fail with Missing, as if the file did not exist, if the caller may not see
    every passage of it."""
    row = desk.row(_SELECT_FILE, path=join_path(parts))
    if row is None or not IndexedFile.from_row(row).holds(version_of(content.data), desk.policy.masks_key):
        try:
            with desk.write_derived() as tx:
                index_file(tx, parts, content, desk.check)
        except Unavailable as error:
            if not is_storage_error(error):
                raise
            if is_visible_unindexed(desk, parts, content) and is_inside(namespace_of(parts), desk.principal.root):
                return
            raise file_missing_error(parts) from error
    count, visible = desk.row(_COUNT_VISIBLE, path=join_path(parts)) or (0, 0)
    if count > (visible or 0) or not is_inside(namespace_of(parts), desk.principal.root):
        raise file_missing_error(parts)


def is_visible_unindexed(desk: Desk, parts: PathParts, content: FileContent) -> bool:
    """Whether the caller may see a file that a full or read-only disk does not let us index: it is classified now."""
    row = desk.row("select label from vault_class where path = :path", path=join_path(parts))
    try:
        text = decode_text(content.data, parts)
    except Refusal:
        return True  # only its name can be seen
    documents = _build_documents(parts, text, content.stamp, row[0] if row else "internal")
    labels = set(map(desk.policy.classify_document, documents))
    return labels.issubset(desk.call.granted_view.classifications)


def sync_folder(desk: Desk, folder: RootFolder, below: PathParts = ()) -> list[IndexedFile]:
    """Sync the index with all files below a folder, and return those that this caller may see."""
    root = desk.server.locations()["vault"]
    wait_for_others(desk, root)
    rows = {row[0]: IndexedFile.from_row(row) for row in desk.rows(_SELECT_FILES)}
    entries = {entry.path: entry for entry in folder.list_files(below)}
    prefix = join_path(below) + "/" if below else ""
    forget_files(desk, [path for path in rows if path.startswith(prefix) and path not in entries])
    masks = desk.policy.masks_key
    changed = [
        entry for path, entry in entries.items() if path not in rows or not rows[path].is_current(entry.stamp, masks)
    ]
    if changed:
        process_backlog(desk, root, changed, _FILES_PER_TRANSACTION, partial(_sync_page, desk, rows))
    hidden = list_hidden(desk)
    return [
        rows[path]
        for path, entry in entries.items()
        if path in rows and path not in hidden and is_inside(namespace_of(entry.parts), desk.principal.root)
    ]


def list_hidden(desk: Desk) -> set[str]:
    """The files of which this caller may not see every passage."""
    return {path for (path,) in desk.rows(_SELECT_HIDDEN)}


def forget_files(desk: Desk, paths: Sequence[str]) -> None:
    """Remove files that no longer exist on the disk from the index."""

    def drop_all() -> None:
        with desk.write_derived() as tx:
            for path in paths:
                drop_file(tx, path)

    if paths:
        note_down(drop_all)


def raise_classification(tx: Tx, path: str, classification: Classification = "internal") -> Classification:
    """Set the lowest classification that a file can have, because of what was copied into it. It never falls."""
    row = tx.row("select label from vault_class where path = :path", path=path)
    known: Classification = row[0] if row else "internal"
    if CLASSIFICATIONS.index(classification) <= CLASSIFICATIONS.index(known):
        return known
    tx.run(_UPSERT_CLASS, path=path, label=classification)
    return classification


def index_file(tx: Tx, parts: PathParts, content: FileContent, check: Check) -> IndexedFile:
    """Store a file's row, its passages and their documents. `check` raises if the call is to end."""
    path, version = join_path(parts), version_of(content.data)
    before = tx.row(_SELECT_FILE, path=path)
    try:
        text = decode_text(content.data, parts)
    except Refusal:
        _put_passages(tx, path, [], check)
        return save_stamp(tx, path, content.stamp, version, NO_TEXT)
    if before is None or not IndexedFile.from_row(before).holds(version, tx.masks_key):
        author = find_writer(tx, path, version)
        documents = _build_documents(parts, text, content.stamp, raise_classification(tx, path), author)
        _put_passages(tx, path, documents, check)
    return save_stamp(tx, path, content.stamp, version, len(split_lines(text)))


def save_stamp(tx: Tx, path: str, stamp: FileStamp, version: str, lines: int) -> IndexedFile:
    file = IndexedFile(path, stamp, version, lines, time.time_ns(), tx.masks_key)
    named = {"path": path, "version": version, "lines": lines}
    tx.run(_UPSERT_FILE, **named, **stamp._asdict(), looked_at=file.looked_at, masks=file.masks)
    return file


def drop_file(tx: Tx, path: str) -> None:
    for (address,) in _passage_addresses(tx, path):
        tx.drop(address)
    tx.run("delete from vault_part where path = :path and ({visible} or 1 = 1)", path=path)
    tx.run("delete from vault_file where path = :path", path=path)


def list_documents(rows: Rows, folder: RootFolder, entries: Iterable[FileEntry]) -> Iterator[Document]:
    """What the index should hold of these files."""
    for entry in entries:
        try:
            content = folder.read(entry.parts)
            text = decode_text(content.data, entry.parts)
        except Refusal:
            continue
        author = find_writer(rows, entry.path, version_of(content.data))
        documents = _build_documents(entry.parts, text, content.stamp, author=author)
        yield from sorted(documents, key=attrgetter("address"))


def _build_documents(
    parts: PathParts, text: str, stamp: FileStamp, classification: Classification = "internal", author: str = ""
) -> list[Document]:
    path, namespace = join_path(parts), namespace_of(parts)
    facts, at, source, starts = (("path", path),), stamp.mtime // 10**6, SourceText(text), find_line_starts(text)
    passages = [(file_address(path, each.start, each.end), each) for each in split_passages(text, parts)]
    return [
        Document(
            address, namespace, each.text, each.title, classification, facts, path, at,
            source=source, start=starts[each.start - 1], author=author,
        )
        for address, each in passages
    ]  # fmt: skip


def _put_passages(tx: Tx, path: str, documents: Sequence[Document], check: Check) -> None:
    before = {row[0] for row in _passage_addresses(tx, path)}
    for address in before - {document.address for document in documents}:
        check()
        tx.drop(address)
        tx.run("delete from vault_part where address = :address and ({visible} or 1 = 1)", address=address)
    for document in documents:
        check()
        if document.address not in before:
            named = {"address": document.address, "path": path, "space": document.namespace}
            tx.run(_INSERT_PART, **named, label=document.classification)
        tx.put(document)


def _passage_addresses(tx: Tx, path: str) -> list[Row]:
    # The index follows the disk for every caller, so the caller's filter does not apply.
    return tx.rows("select address from vault_part where path = :path and ({visible} or 1 = 1)", path=path)


def _sync_page(
    desk: Desk, rows: dict[str, IndexedFile], folder: RootFolder, page: Sequence[FileEntry], check: Check
) -> None:
    """Read files that may have changed; index those that have, in one transaction. Updates `rows`."""
    contents: dict[PathParts, FileContent] = {}
    for entry in page:
        try:
            contents[entry.parts] = folder.read(entry.parts)
        except Missing:
            continue
        except Refusal:  # too large, or not readable: only the stamp is stored
            contents[entry.parts] = FileContent(b"\0", entry.stamp, 0)
    try:
        with desk.write_derived() as tx:
            # index_file leaves the passages of a file with the same content alone.
            synced = [index_file(tx, parts, content, check) for parts, content in contents.items()]
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        for parts, content in contents.items():
            _keep_unindexed(desk, rows, parts, content)
        return
    rows.update((file.path, file) for file in synced)


def _keep_unindexed(desk: Desk, rows: dict[str, IndexedFile], parts: PathParts, content: FileContent) -> None:
    """A file that could not be indexed: listed as it is, if the caller may see it."""
    path, version = join_path(parts), version_of(content.data)
    if path in rows and rows[path].version == version:
        return
    rows.pop(path, None)  # what is known of it is no longer true
    if is_visible_unindexed(desk, parts, content):
        lines = count_lines(content.data, parts)
        rows[path] = IndexedFile(path, content.stamp, version, lines, 0, desk.policy.masks_key)


def count_lines(data: bytes, parts: PathParts) -> int:
    """NO_TEXT for anything that is not text."""
    try:
        return len(split_lines(decode_text(data, parts)))
    except Refusal:
        return NO_TEXT
