"""The vault's files in the shared index: compared with the disk before every answer, and indexed again if changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tokonoma.core.desk import Desk, note_down
from tokonoma.core.errors import Missing, Refusal, Unavailable, is_storage_error
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.backlog import Check, IndexingProgress, Patience, process_backlog
from tokonoma.files.folder import FileContent, FileEntry, RootFolder, file_missing_error
from tokonoma.files.indexed_file import (
    LONG_BYTES,
    SELECT_FILE,
    SELECT_FILES,
    IndexedFile,
    build_documents,
    count_lines,
    drop_file,
    index_content,
    index_file,
)
from tokonoma.files.listing import list_folder, to_line_count
from tokonoma.files.text import decode_text, namespace_of

_FILES_PER_TRANSACTION = 100
_COUNT_VISIBLE = "select count(*), sum(case when {visible} then 1 else 0 end) from vault_part where path = :path"
_SELECT_HIDDEN = """select path from vault_part group by path
having count(*) > sum(case when {visible} then 1 else 0 end)"""


@dataclass(frozen=True, slots=True)
class SyncedFolder:
    """The files that a caller may see, and those that are not indexed yet, which are not shown until they are."""

    files: list[IndexedFile]
    pending: list[str]

    @property
    def indexing(self) -> IndexingProgress | None:
        """None if all files are indexed."""
        done = len(self.files)
        return {"done": done, "total": done + len(self.pending)} if self.pending else None


def sync_file(desk: Desk, parts: PathParts, content: FileContent) -> IndexedFile | None:
    """Sync the index with this content. Then fail with Missing, as if the file did not exist, if the caller may not see
    every passage of it. Returns its row; None if it could not be stored."""
    row = desk.row(SELECT_FILE, path=join_path(parts))
    file = IndexedFile.from_row(row) if row is not None else None
    if file is None or not file.holds(content.version, desk.policy.masks_key):
        try:
            file = index_content(desk, parts, content, desk.check)
        except Unavailable as error:
            if not is_storage_error(error):
                raise
            if is_visible_unindexed(desk, parts, content) and is_inside(namespace_of(parts), desk.principal.root):
                return None
            raise file_missing_error(parts) from error
        if file is None:
            raise Unavailable(
                f"{join_path(parts)} is being indexed by another process. Try again in a moment.", reason="indexing"
            )
    count, visible = desk.row(_COUNT_VISIBLE, path=join_path(parts)) or (0, 0)
    if count > (visible or 0) or not is_inside(namespace_of(parts), desk.principal.root):
        raise file_missing_error(parts)
    return file


def is_visible_unindexed(desk: Desk, parts: PathParts, content: FileContent) -> bool:
    """Whether the caller may see a file that a full or read-only disk does not let us index: it is classified now."""
    row = desk.row("select label from vault_class where path = :path", path=join_path(parts))
    try:
        text = decode_text(content.require_data(), parts)
    except Refusal:
        return True  # only its name can be seen
    documents = build_documents(parts, text, content.stamp, row[0] if row else "internal")
    labels = set(map(desk.policy.classify_document, documents))
    return labels.issubset(desk.call.granted_view.classifications)


def sync_folder(desk: Desk, folder: RootFolder, below: PathParts = (), wait: float | None = None) -> SyncedFolder:
    """Sync the index with all files below a folder. New files are indexed for a second, or for the seconds that the
    caller waits; then a job continues."""
    root, masks, patience = desk.server.locations()["vault"], desk.policy.masks_key, Patience(desk, wait)
    while True:
        patience.wait_for_others(root)
        rows = {row[0]: IndexedFile.from_row(row) for row in desk.rows(SELECT_FILES)}
        entries = {entry.path: entry for entry in list_folder(folder, below).files}
        prefix = join_path(below) + "/" if below else ""
        forget_files(desk, [path for path in rows if path.startswith(prefix) and path not in entries])
        changed = [entry for path, entry in entries.items() if not _is_current(rows.get(path), entry, masks)]
        changed.sort(key=lambda entry: entry.path in rows)  # those that may only be looked at again come last
        pending: set[str] = set()
        if changed:
            index_page = partial(_sync_page, desk, rows)
            synced, left = process_backlog(desk, root, changed, _FILES_PER_TRANSACTION, index_page, patience)
            # A file that looked changed only because it is new, and has the same content, is in both.
            rows = {**rows, **dict(synced)}
            pending = {entry.path for entry in left}
        if not pending or not patience.waits_on:
            break
    hidden, reachable = list_hidden(desk), partial(_is_reachable, desk)
    seen = {path: rows.get(path) for path, entry in entries.items() if reachable(entry)}
    files = [file for path, file in seen.items() if file is not None and path not in hidden and path not in pending]
    return SyncedFolder(files, [path for path in seen if path in pending])


def _is_current(file: IndexedFile | None, entry: FileEntry, masks: str) -> bool:
    return file is not None and file.is_current(entry.stamp, masks)


def _is_reachable(desk: Desk, entry: FileEntry) -> bool:
    return is_inside(namespace_of(entry.parts), desk.principal.root)


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


def _sync_page(
    desk: Desk, rows: Mapping[str, IndexedFile], folder: RootFolder, page: Sequence[FileEntry], check: Check
) -> list[tuple[str, IndexedFile | None]]:
    """Read files that may have changed; index those that have, in one transaction. Returns their rows."""
    contents: dict[PathParts, FileContent] = {}
    for entry in page:
        try:
            contents[entry.parts] = folder.read(entry.parts)
        except Missing:
            continue
        except Refusal as error:  # too large, or not readable: only the stamp is stored
            contents[entry.parts] = FileContent(b"", entry.stamp, 0, error)
    try:
        return _index_contents(desk, contents, check)
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        return [(join_path(parts), _keep_unindexed(desk, rows, parts, each)) for parts, each in contents.items()]


def _index_contents(
    desk: Desk, contents: Mapping[PathParts, FileContent], check: Check
) -> list[tuple[str, IndexedFile | None]]:
    long = {parts: content for parts, content in contents.items() if len(content.data) > LONG_BYTES}
    indexed = [(join_path(parts), index_content(desk, parts, content, check)) for parts, content in long.items()]
    with desk.write_derived() as tx:
        # index_file leaves the passages of a file with the same content alone.
        short = [index_file(tx, parts, content, check) for parts, content in contents.items() if parts not in long]
    return [*indexed, *((file.path, file) for file in short)]


def _keep_unindexed(
    desk: Desk, rows: Mapping[str, IndexedFile], parts: PathParts, content: FileContent
) -> IndexedFile | None:
    """A file that could not be indexed: listed as it is, if the caller may see it."""
    path, version = join_path(parts), content.version
    if path in rows and rows[path].version == version:
        return rows[path]
    if not is_visible_unindexed(desk, parts, content):
        return None  # what is known of it is no longer true
    lines = count_lines(content.data, parts) if content.unread is None else to_line_count(content.unread)
    return IndexedFile(path, content.stamp, version, lines, 0, desk.policy.masks_key)
