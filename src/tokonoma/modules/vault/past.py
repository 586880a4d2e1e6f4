"""vault_history, and earlier contents of files: also of files that were deleted."""

from collections.abc import Iterator
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Conflict, Missing, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.folder import FileContent, FileStamp, RootFolder, file_missing_error
from tokonoma.files.index_sync import is_visible_unindexed
from tokonoma.files.indexed_file import AFTER_EVERY_ID
from tokonoma.files.text import decode_file, namespace_of, split_lines
from tokonoma.files.text_file import TextFile, cite_file, mask_file_text, read_text_file
from tokonoma.files.versions import read_version
from tokonoma.modules.vault.model import PageCursor, open_vault, resolve_file

_SELECT_CHANGES = """select id, at, principal, action, path, origin, before, before_size, after, after_size
from vault_change where path = :path and id < :below and state <> 'undone' order by id desc limit :most"""
# A path that was deleted, and to which nothing was done since.
_SELECT_DELETED = """select id, at, principal, action, path, origin, before, before_size, after, after_size
from vault_change c where action = 'delete' and id < :below and state <> 'undone' and not exists
    (select 1 from vault_change n where n.path = c.path and n.id > c.id and n.state <> 'undone')
order by id desc limit :most"""
_DELETED_AT_ONCE = 200

HistoryPath = Annotated[
    str | None, Field(description="relative to the vault, like notes/today.md; default: the files that were deleted")
]


class PastChange(TypedDict):
    at: Opaque
    action: str
    by: str
    path: str
    moved_from: NotRequired[str]
    version: NotRequired[Annotated[Opaque, Field(description="absent after delete")]]
    bytes: int
    previous_version: NotRequired[Opaque]
    previous_bytes: NotRequired[int]


class FileHistory(TypedDict):
    path: str
    items: list[PastChange]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def list_history(
    desk: Desk,
    path: HistoryPath = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> FileHistory:
    """List the changes made to a file through Tokonoma, newest first, also from before it was moved. Every
    previous_version can be read and restored. A change by another program shows as the version that the next change
    replaced."""
    if path is None:
        return _list_deleted(desk, limit, cursor)
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        name, below = desk.open_cursor("vault_history", cursor) if cursor else (join_path(parts), AFTER_EVERY_ID)
        exists = folder.read_stamp(parts) is not None
        if exists:
            read_text_file(desk, folder, parts)  # a caller that may not see the file may not see its history
    rows, path = _list_changes(desk, name, below, limit + 1), join_path(parts)
    if not rows and not cursor and not exists:
        raise Missing(f"There is no file {path!r}, and it has no history.", path=path)
    items = [_to_past_change(row) for row in rows[:limit]]
    page: FileHistory = {"path": path, "items": items, "has_more": len(rows) > limit}
    if page["has_more"]:
        last = rows[limit - 1]
        following = last[5] if last[3] == "move" else last[4]
        page["next_cursor"] = desk.seal_cursor("vault_history", following, last[0])
    return page


def _list_deleted(desk: Desk, limit: int, cursor: str | None) -> FileHistory:
    (below,) = desk.open_cursor("vault_deleted", cursor) if cursor else (AFTER_EVERY_ID,)
    with open_vault(desk) as folder:
        found: list[Row] = []
        for row in _iterate_deleted(desk, folder, below):
            found.append(row)
            if len(found) > limit:
                break
    page: FileHistory = {
        "path": "",
        "items": [_to_past_change(row) for row in found[:limit]],
        "has_more": len(found) > limit,
    }
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("vault_deleted", found[limit - 1][0])
    return page


def _iterate_deleted(desk: Desk, folder: RootFolder, below: str) -> Iterator[Row]:
    """Deletions of files that are not there, and whose last content this caller may see. Newest first."""
    while rows := desk.rows(_SELECT_DELETED, below=below, most=_DELETED_AT_ONCE):
        for row in rows:
            desk.check()
            below, parts = row[0], tuple(row[4].split("/"))
            if not is_inside(namespace_of(parts), desk.principal.root) or folder.read_stamp(parts) is not None:
                continue
            try:
                _open_version(desk, folder, parts, row[6])
            except Refusal:  # hidden, or its content was deleted permanently
                continue
            yield row


def read_past_file(desk: Desk, path: str, version: str) -> TextFile:
    """An earlier content of a file, as its caller would see it if the file had this content now."""
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        if folder.read_stamp(parts) is not None:
            now = read_text_file(desk, folder, parts)
            if now.version.startswith(version.lower()):
                return now
        found = find_version(desk, join_path(parts), version)
        data = _open_version(desk, folder, parts, found)
    text, encoding = decode_file(data, parts)
    shown = mask_file_text(desk, parts, text)
    cite_file(desk, join_path(parts), found)
    return TextFile(join_path(parts), shown, found, split_lines(shown), encoding)


def _open_version(desk: Desk, folder: RootFolder, parts: PathParts, version: str) -> bytes:
    """The bytes of a version; Missing for a caller that may not see a file with this content."""
    data = read_version(desk, folder, version)
    if not is_visible_unindexed(desk, parts, FileContent(data, FileStamp(len(data), 0, 0, 0), 0)):
        raise file_missing_error(parts)
    return data


def find_version(desk: Desk, path: str, start: str) -> str:
    """The whole name of an earlier version of a file."""
    changes = _list_changes(desk, path, AFTER_EVERY_ID, 10_000)
    versions: set[str] = {row[6] for row in changes if row[6].startswith(start.lower())}
    if not versions:
        raise Missing(f"{path} has no earlier version {start!r}. vault_history lists them.", version=start)
    if len(versions) > 1:
        raise Conflict(
            f"{len(versions)} versions start with {start!r}. Give a longer prefix.", versions=sorted(versions)[:5]
        )
    return versions.pop()


def _list_changes(desk: Desk, path: str, below: str, limit: int) -> list[Row]:
    """Newest first, following the file back through its earlier names."""
    changes: list[Row] = []
    while len(changes) < limit:
        rows = desk.rows(_SELECT_CHANGES, path=path, below=below, most=limit - len(changes))
        moved = next((index for index, row in enumerate(rows) if row[3] == "move"), None)
        if moved is None:
            return changes + rows
        changes += rows[: moved + 1]
        path, below = rows[moved][5], rows[moved][0]
    return changes


def _to_past_change(row: Row) -> PastChange:
    _, at, by, action, path, origin, before, before_size, after, size = row
    change: PastChange = {
        "at": format_time(at),
        "action": action,
        "by": by,
        "path": path,
        "bytes": size,
    }
    if after:
        change["version"] = after
    if action == "move":
        change["moved_from"] = origin
    if before and action != "move":
        change["previous_version"] = before
        change["previous_bytes"] = before_size
    return change
