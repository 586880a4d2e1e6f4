"""The vault's files in the shared index: looked at before an answer is given, and put anew where they have changed."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Row, Rows, Tx
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.backlog import process_backlog, wait_for_others
from tokonoma.files.folder import FileContent, FileEntry, FileStamp, RootFolder
from tokonoma.files.sections import split_lines
from tokonoma.files.text import decode_text, file_address, namespace_of, split_passages, version_of

TIMESTAMP_GRANULARITY = 2 * 10**9  # nanoseconds within which the time of a change may not tell a second change
_FILES_PER_TRANSACTION = 100  # files a transaction
NO_TEXT = -1  # as the number of lines: too large, or no text

_SELECT_FILES = "select path, size, mtime, ctime, inode, version, lines, looked_at from vault_file"
_SELECT_FILE = f"{_SELECT_FILES} where path = :path"
_UPSERT_FILE = """insert into vault_file (path, size, mtime, ctime, inode, version, lines, looked_at)
values (:path, :size, :mtime, :ctime, :inode, :version, :lines, :looked_at)
on conflict (path) do update set size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
    inode = excluded.inode, version = excluded.version, lines = excluded.lines, looked_at = excluded.looked_at"""
_COUNT_VISIBLE = "select count(*), sum(case when {visible} then 1 else 0 end) from vault_part where path = :path"
_SELECT_HIDDEN = """select path from vault_part group by path
having count(*) > sum(case when {visible} then 1 else 0 end)"""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file as the store knows it."""

    path: str
    stamp: FileStamp
    version: str
    lines: int
    looked_at: int

    def is_current(self, stamp: FileStamp) -> bool:
        """Whether it is still the same, as far as its stamp can tell."""
        return stamp == self.stamp and max(stamp.mtime, stamp.ctime) + TIMESTAMP_GRANULARITY < self.looked_at


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file, read just now."""

    parts: PathParts
    text: str
    version: str
    lines: Sequence[str]

    @property
    def path(self) -> str:
        return join_path(self.parts)


def read_text_file(desk: Desk, folder: RootFolder, parts: PathParts) -> TextFile:
    """A file that this caller may see, with the index in step with it. Missing, Denied as the folder says."""
    try:
        content = folder.read(parts)
    except Missing:
        forget_files(desk, [join_path(parts)])
        raise
    text = decode_text(content.data, parts)
    sync_file(desk, parts, content)
    return TextFile(parts, text, version_of(content.data), split_lines(text))


def sync_file(desk: Desk, parts: PathParts, content: FileContent) -> None:
    """The index as this content is; then Missing, as if it were not there, for a file of which the caller may not see
    every piece."""
    row = desk.row(_SELECT_FILE, path=join_path(parts))
    if row is None or _from_row(row).version != version_of(content.data):
        with desk.write_derived() as tx:
            index_file(tx, parts, content)
    count, seen = desk.row(_COUNT_VISIBLE, path=join_path(parts)) or (0, 0)
    if count > (seen or 0) or not is_inside(namespace_of(parts), desk.principal.root):
        raise Missing(f"There is no file {join_path(parts)!r}.", path=join_path(parts))


def sync_folder(desk: Desk, folder: RootFolder, below: PathParts = ()) -> list[IndexedFile]:
    """Every file below a folder that this caller may see, with the index in step with all of them."""
    root = desk.server.locations()["vault"]
    wait_for_others(desk, root)
    rows = {row[0]: _from_row(row) for row in desk.rows(_SELECT_FILES)}
    found = {each.path: each for each in folder.list_files(below)}
    inside_of = join_path(below) + "/" if below else ""
    gone = [path for path in rows if path.startswith(inside_of) and path not in found]
    forget_files(desk, gone)
    changed = [each for each in found.values() if each.path not in rows or not rows[each.path].is_current(each.stamp)]
    if changed:
        process_backlog(
            desk,
            root,
            changed,
            _FILES_PER_TRANSACTION,
            lambda folder, page: rows.update(_sync_page(desk, folder, page, rows)),
        )
    hidden = {row[0] for row in desk.rows(_SELECT_HIDDEN)}
    wall = desk.principal.root
    return [
        rows[path]
        for path, each in found.items()
        if path in rows and path not in hidden and is_inside(namespace_of(each.parts), wall)
    ]


def forget_files(desk: Desk, paths: Sequence[str]) -> None:
    """What has vanished from the disk vanishes from the index."""
    if paths:
        with desk.write_derived() as tx:
            for path in paths:
                drop_file(tx, path)


def raise_classification(tx: Tx, path: str, label: Classification = "internal") -> Classification:
    """The class that a file has by what was copied into it: from now on at least this one."""
    row = tx.row("select label from vault_class where path = :path", path=path)
    known: Classification = row[0] if row else "internal"
    if CLASSIFICATIONS.index(label) <= CLASSIFICATIONS.index(known):
        return known
    tx.run(
        "insert into vault_class (path, label) values (:path, :label)"
        " on conflict (path) do update set label = excluded.label",
        path=path,
        label=label,
    )
    return label


def index_file(tx: Tx, parts: PathParts, content: FileContent) -> IndexedFile:
    """A file's row, its pieces and their documents, as the content is now."""
    path, version = join_path(parts), version_of(content.data)
    before = tx.row(_SELECT_FILE, path=path)
    try:
        text = decode_text(content.data, parts)
    except Refusal:
        known = save_stamp(tx, path, content.stamp, version, NO_TEXT)
        _put_passages(tx, parts, [])
        return known
    known = save_stamp(tx, path, content.stamp, version, len(split_lines(text)))
    if before is None or before[5] != version:
        at = content.stamp.mtime // 10**6
        label = raise_classification(tx, path)
        _put_passages(tx, parts, [replace(each, classification=label) for each in _build_documents(parts, text, at)])
    return known


def save_stamp(tx: Tx, path: str, stamp: FileStamp, version: str, lines: int) -> IndexedFile:
    looked_at = time.time_ns()
    tx.run(
        _UPSERT_FILE,
        path=path,
        size=stamp.size,
        mtime=stamp.mtime,
        ctime=stamp.ctime,
        inode=stamp.inode,
        version=version,
        lines=lines,
        looked_at=looked_at,
    )
    return IndexedFile(path, stamp, version, lines, looked_at)


def drop_file(tx: Tx, path: str) -> None:
    for (gone,) in _passage_addresses(tx, path):
        tx.drop(gone)
    tx.run("delete from vault_part where path = :path and ({visible} or 1 = 1)", path=path)
    tx.run("delete from vault_file where path = :path", path=path)


def list_documents(folder: RootFolder, known: Iterable[FileEntry]) -> Iterator[Document]:
    """What the index should hold of these files."""
    for each in known:
        try:
            content = folder.read(each.parts)
            text = decode_text(content.data, each.parts)
        except Refusal:
            continue
        yield from sorted(
            _build_documents(each.parts, text, content.stamp.mtime // 10**6), key=lambda piece: piece.address
        )


def _build_documents(parts: PathParts, text: str, at: int) -> list[Document]:
    path = join_path(parts)
    return [
        Document(
            file_address(path, piece.start, piece.end),
            namespace_of(parts),
            piece.text,
            piece.title,
            facts=(("path", path),),
            thread=path,
            at=at,
        )
        for piece in split_passages(text, parts)
    ]


def _put_passages(tx: Tx, parts: PathParts, wanted: Sequence[Document]) -> None:
    path = join_path(parts)
    before = {row[0] for row in _passage_addresses(tx, path)}
    after = {each.address for each in wanted}
    for gone in before - after:
        tx.drop(gone)
        tx.run("delete from vault_part where address = :address and ({visible} or 1 = 1)", address=gone)
    for document in wanted:
        if document.address not in before:
            tx.run(
                "insert into vault_part (address, path, space, label) values (:address, :path, :space, :label)",
                address=document.address, path=path, space=document.namespace, label=document.classification,
            )  # fmt: skip
        tx.put(document)


def _passage_addresses(tx: Tx, path: str) -> list[Row]:
    # The index follows the disk whoever asks: it is not the caller who sees these.
    return tx.rows("select address from vault_part where path = :path and ({visible} or 1 = 1)", path=path)


def _sync_page(
    desk: Desk, folder: RootFolder, page: Sequence[FileEntry], rows: dict[str, IndexedFile]
) -> dict[str, IndexedFile]:
    """Read what may have changed; one transaction for what has."""
    looked: dict[str, IndexedFile] = {}
    read: list[tuple[FileEntry, FileContent]] = []
    for each in page:
        try:
            read.append((each, folder.read(each.parts)))
        except Missing:
            continue
        except Refusal:  # too large, or not for us: known by its stamp alone
            read.append((each, FileContent(b"\0", each.stamp, 0)))
    with desk.write_derived() as tx:
        for each, content in read:
            old = rows.get(each.path)
            if old is not None and old.version == version_of(content.data):
                looked[each.path] = save_stamp(tx, each.path, content.stamp, old.version, old.lines)
            else:
                looked[each.path] = index_file(tx, each.parts, content)
    return looked


def _from_row(row: Row) -> IndexedFile:
    path, size, mtime, ctime, inode, version, lines, looked_at = row
    return IndexedFile(path, FileStamp(size, mtime, ctime, inode), version, lines, looked_at)


def read_lines(folder: RootFolder, parts: PathParts, start: int | None, end: int | None) -> tuple[str, str]:
    """The lines of a file, and its version, for whoever the desk has let through."""
    content = folder.read(parts)
    text = decode_text(content.data, parts)
    if start is None:
        return text, version_of(content.data)
    return "".join(split_lines(text)[start - 1 : end]), version_of(content.data)


def classifications_of(rows: Rows, path: str, version: str) -> frozenset[Classification]:
    """The classes of a file's pieces; none if nobody has looked at this version of it yet."""
    return frozenset(
        row[0]
        for row in rows.rows(
            "select p.label from vault_part p join vault_file f on f.path = p.path"
            " where p.path = :path and f.version = :version",
            path=path,
            version=version,
        )
    )
