"""One file of the vault in the store and in the shared index: its row, its passages, and their documents."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Row, Rows, SourceText, Tx
from tokonoma.core.errors import Refusal
from tokonoma.core.ids import random_hex
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.backlog import Check
from tokonoma.files.folder import FileContent, FileEntry, FileStamp, RootFolder
from tokonoma.files.listing import to_line_count
from tokonoma.files.text import (
    Passage,
    count_text_lines,
    decode_text,
    file_address,
    find_line_starts,
    namespace_of,
    split_passages,
)

TIMESTAMP_GRANULARITY = 2 * 10**9  # nanoseconds within which two changes may have the same time
AFTER_EVERY_ID = "~"
LONG_BYTES = 256 * 1024
"""A longer file is indexed in several transactions, so that other writers get their turn."""

_GROUP_CHARS = 64 * 1024  # of the passages that one transaction writes
_NO_STAMP = FileStamp(-1, 0, 0, 0)

SELECT_FILES = """select path, size, mtime, ctime, inode, version, lines, looked_at, masks, is_masked
from vault_file"""
SELECT_FILE = f"{SELECT_FILES} where path = :path"
# Whether a file is masked stays as it was where it is not said: for a stamp of the same content.
_UPSERT_FILE = """insert into vault_file (path, size, mtime, ctime, inode, version, lines, looked_at, masks, is_masked)
values (:path, :size, :mtime, :ctime, :inode, :version, :lines, :looked_at, :masks,
    coalesce(cast(:is_masked as integer), 1))
on conflict (path) do update set size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
    inode = excluded.inode, version = excluded.version, lines = excluded.lines, looked_at = excluded.looked_at,
    masks = excluded.masks, is_masked = coalesce(cast(:is_masked as integer), vault_file.is_masked)"""
_UPSERT_CLASS = """insert into vault_class (path, label) values (:path, :label)
on conflict (path) do update set label = excluded.label"""
_INSERT_PART = """insert into vault_part (address, path, space, label) values (:address, :path, :space, :label)
on conflict (address) do nothing"""
_LAST_CHANGE = """select id, principal, action, origin, after from vault_change
where path = :path and id < :below and state <> 'undone' order by id desc limit 1"""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file's row in the store."""

    path: str
    stamp: FileStamp
    version: str
    lines: int
    looked_at: int
    masks: str  # how it was masked for the index
    is_masked: int = 1  # 0: nothing in it is hidden from any caller

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


def raise_classification(tx: Tx, path: str, classification: Classification = "internal") -> Classification:
    """Set the lowest classification that a file can have, because of what was copied into it. It never falls."""
    row = tx.row("select label from vault_class where path = :path", path=path)
    known: Classification = row[0] if row else "internal"
    if CLASSIFICATIONS.index(classification) <= CLASSIFICATIONS.index(known):
        return known
    tx.run(_UPSERT_CLASS, path=path, label=classification)
    return classification


def index_content(desk: Desk, parts: PathParts, content: FileContent, check: Check) -> IndexedFile | None:
    """Index a file in a transaction, or in several if it is long. None if another process has begun anew meanwhile."""
    if len(content.data) > LONG_BYTES:
        return _index_in_groups(desk, parts, content, check)
    with desk.write_derived() as tx:
        return index_file(tx, parts, content, check)


def index_file(tx: Tx, parts: PathParts, content: FileContent, check: Check) -> IndexedFile:
    """Store a file's row, its passages and their documents. `check` raises if the call is to end."""
    path, version = join_path(parts), content.version
    before = tx.row(SELECT_FILE, path=path)
    try:
        text = decode_text(content.require_data(), parts)
    except Refusal as error:
        _put_passages(tx, path, [], check)
        return save_stamp(tx, path, content.stamp, version, to_line_count(error))
    known = IndexedFile.from_row(before) if before is not None else None
    if known is not None and known.holds(version, tx.masks_key):
        is_masked = known.is_masked
    else:
        author = find_writer(tx, path, version)
        documents = build_documents(parts, text, content.stamp, raise_classification(tx, path), author)
        _put_passages(tx, path, documents, check)
        is_masked = int(tx.mask_for_index(text, file_address(path), namespace_of(parts)) != text)
    return save_stamp(tx, path, content.stamp, version, count_text_lines(text), is_masked)


def _index_in_groups(desk: Desk, parts: PathParts, content: FileContent, check: Check) -> IndexedFile | None:
    """Parse and scan a long file outside of any transaction, then write its passages group by group. Meanwhile its row
    says that it is not indexed, and who does it: a process that comes later begins anew, and the earlier one stops."""
    path, version = join_path(parts), content.version
    claim, masks = f"indexing {random_hex(8)}", ""
    try:
        text = decode_text(content.data, parts)
    except Refusal:
        with desk.write_derived() as tx:
            return index_file(tx, parts, content, check)
    with desk.write_derived() as tx:
        before = tx.row(SELECT_FILE, path=path)
        if before is not None and IndexedFile.from_row(before).holds(version, tx.masks_key):
            return index_file(tx, parts, content, check)
        masks, classification, author = tx.masks_key, raise_classification(tx, path), find_writer(tx, path, version)
        save_stamp(tx, path, _NO_STAMP, claim, 0)
    documents = build_documents(parts, text, content.stamp, classification, author)
    if documents:
        desk.policy.classify_document(documents[0])  # scans the whole text, and every document knows the result

    def is_mine(tx: Tx) -> bool:
        row = tx.row("select version from vault_file where path = :path", path=path)
        return row is not None and row[0] == claim and tx.masks_key == masks

    kept = {document.address for document in documents}
    old = [address for address in _list_addresses(desk, path) if address not in kept]
    groups: list[tuple[Sequence[str], Sequence[Document]]] = [
        *((old[start : start + 50], ()) for start in range(0, len(old), 50)),
        *(((), group) for group in _group_documents(documents)),
    ]
    for addresses, group in groups:
        check()
        with desk.write_derived() as tx:
            if not is_mine(tx):
                return None
            drop_passages(tx, addresses, check)
            insert_passages(tx, path, group, check)
    with desk.write_derived() as tx:
        if not is_mine(tx):
            return None
        is_masked = int(tx.mask_for_index(text, file_address(path), namespace_of(parts)) != text)
        return save_stamp(tx, path, content.stamp, version, count_text_lines(text), is_masked)


def _group_documents(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    group: list[Document] = []
    size = 0
    for document in documents:
        if group and size + len(document.text) > _GROUP_CHARS:
            yield group
            group, size = [], 0
        group.append(document)
        size += len(document.text)
    if group:
        yield group


def save_stamp(
    tx: Tx, path: str, stamp: FileStamp, version: str, lines: int, is_masked: int | None = None
) -> IndexedFile:
    """`is_masked`: None leaves it as it was stored with the same content."""
    file = IndexedFile(path, stamp, version, lines, time.time_ns(), tx.masks_key, 1 if is_masked is None else is_masked)
    named = {"path": path, "version": version, "lines": lines, "is_masked": is_masked}
    tx.run(_UPSERT_FILE, **named, **stamp._asdict(), looked_at=file.looked_at, masks=file.masks)
    return file


def confirm_file(tx: Tx, path: str, stamp: FileStamp, version: str, lines: int) -> None:
    """Store the stamp of a file that was indexed before it was in its place. If a reader has indexed meanwhile what was
    there before, or the policy has changed, the file is dropped: the next call that needs it indexes it."""
    row = tx.row(f"{SELECT_FILE} {{for_update}}", path=path)
    if row is not None and IndexedFile.from_row(row).holds(version, tx.masks_key):
        save_stamp(tx, path, stamp, version, lines)
    else:
        drop_file(tx, path)


def drop_file(tx: Tx, path: str) -> None:
    for address in _list_addresses(tx, path):
        tx.drop(address)
    tx.run("delete from vault_part where path = :path and ({visible} or 1 = 1)", path=path)
    forget_row(tx, path)


def forget_row(tx: Tx, path: str) -> None:
    """The next call that needs the file indexes it."""
    tx.run("delete from vault_file where path = :path", path=path)


def list_documents(rows: Rows, folder: RootFolder, entries: Iterable[FileEntry]) -> Iterator[Document]:
    """What the index should hold of these files."""
    for entry in entries:
        try:
            content = folder.read(entry.parts)
            text = decode_text(content.data, entry.parts)
        except Refusal:
            continue
        author = find_writer(rows, entry.path, content.version)
        documents = build_documents(entry.parts, text, content.stamp, author=author)
        yield from sorted(documents, key=attrgetter("address"))


def build_documents(
    parts: PathParts, text: str, stamp: FileStamp, classification: Classification = "internal", author: str = ""
) -> list[Document]:
    source, starts = SourceText(text), find_line_starts(text)
    placed = [(each, starts[each.start - 1]) for each in split_passages(text, parts)]
    return to_documents(parts, source, placed, stamp, classification, author)


def to_documents(
    parts: PathParts,
    source: SourceText,
    placed: Iterable[tuple[Passage, int]],
    stamp: FileStamp,
    classification: Classification,
    author: str,
) -> list[Document]:
    """The documents of passages, each with its place in the source."""
    path, namespace = join_path(parts), namespace_of(parts)
    facts, at = (("path", path),), stamp.mtime // 10**6
    return [
        Document(
            file_address(path, each.start, each.end), namespace, each.text, each.title, classification, facts, path, at,
            source=source, start=start, author=author,
        )
        for each, start in placed
    ]  # fmt: skip


def _put_passages(tx: Tx, path: str, documents: Sequence[Document], check: Check) -> None:
    kept = {document.address for document in documents}
    drop_passages(tx, [address for address in _list_addresses(tx, path) if address not in kept], check)
    insert_passages(tx, path, documents, check)


def insert_passages(tx: Tx, path: str, documents: Sequence[Document], check: Check) -> None:
    for document in documents:
        check()
        named = {"address": document.address, "path": path, "space": document.namespace}
        tx.run(_INSERT_PART, **named, label=document.classification)
        tx.put(document)


def drop_passages(tx: Tx, addresses: Sequence[str], check: Check) -> None:
    for address in addresses:
        check()
        tx.drop(address)
        tx.run("delete from vault_part where address = :address and ({visible} or 1 = 1)", address=address)


def _list_addresses(rows: Rows, path: str) -> list[str]:
    # The index follows the disk for every caller, so the caller's filter does not apply.
    found = rows.rows("select address from vault_part where path = :path and ({visible} or 1 = 1)", path=path)
    return [address for (address,) in found]


def count_lines(data: bytes, parts: PathParts) -> int:
    """One of NO_LINES for anything that is not text."""
    try:
        return count_text_lines(decode_text(data, parts))
    except Refusal as error:
        return to_line_count(error)
