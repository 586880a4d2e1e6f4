"""vault_history and vault_restore: what a file was before."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.paths import join_path
from tokonoma.files.folder import FileContent
from tokonoma.files.index_sync import read_text_file
from tokonoma.files.rules import check_write
from tokonoma.files.versions import read_version
from tokonoma.files.write import change_file
from tokonoma.modules.vault.paths import ExpectedVersion, VaultPath, open_vault, resolve_file
from tokonoma.modules.vault.write import WriteResult, to_write_result

_SELECT_CHANGES = """select id, at, principal, action, path, origin, before, before_size, after, after_size
from vault_change where path = :path and id < :below and state <> 'undone' order by id desc limit :most"""
_AFTER_EVERY_ID = "~"  # after every id


class PastChange(TypedDict):
    at: Opaque
    action: str
    by: str
    path: str
    moved_from: NotRequired[str]
    version: Opaque
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
    path: VaultPath,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> FileHistory:
    """What was done to a file through Tokonoma, newest first, also before it was moved here. Every previous_version can
    be restored. What people did in between with other programs shows as the version that the next change replaced."""
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        name, below = cursors.decode("vault_history", cursor) if cursor else (join_path(parts), _AFTER_EVERY_ID)
        if folder.read_stamp(parts) is not None:
            read_text_file(desk, folder, parts)  # who may not see the file may not see its past
    rows = list_changes(desk, name, below, limit + 1)
    if not rows and not cursor:
        with open_vault(desk) as folder:
            if folder.read_stamp(parts) is None:
                raise Missing(f"Nothing is known of {join_path(parts)!r}.", path=join_path(parts))
    page: FileHistory = {
        "path": join_path(parts),
        "items": [_to_past_change(row) for row in rows[:limit]],
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        last = rows[limit - 1]
        following = last[5] if last[3] == "move" else last[4]
        page["next_cursor"] = cursors.encode("vault_history", following, last[0])
    return page


def restore(
    desk: Desk,
    path: VaultPath,
    version: Annotated[str, Field(min_length=6, max_length=64, description="of vault_history; its start is enough")],
    expected_version: ExpectedVersion = None,
) -> WriteResult:
    """Put an earlier version in place again, also of a file that is gone. What is there now is kept as a version."""
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "restore")
        data = read_version(folder, _find_version(desk, join_path(parts), version))

        def made(before: FileContent | None) -> bytes:
            return data

        done = change_file(desk, folder, parts, "restore", made, expected_version)
    return to_write_result(done, "restore")


def list_changes(desk: Desk, path: str, below: str, most: int) -> list[Row]:
    """Newest first, following the file back through the names that it had."""
    found: list[Row] = []
    while len(found) < most:
        rows = desk.rows(_SELECT_CHANGES, path=path, below=below, most=most - len(found))
        came = next((place for place, row in enumerate(rows) if row[3] == "move"), None)
        if came is None:
            return found + rows
        found += rows[: came + 1]
        path, below = rows[came][5], rows[came][0]
    return found


def _find_version(desk: Desk, path: str, version: str) -> str:
    known: set[str] = {
        row[6] for row in list_changes(desk, path, _AFTER_EVERY_ID, 10_000) if row[6].startswith(version.lower())
    }
    if not known:
        raise Missing(f"{path} has no earlier version {version!r}. vault_history lists them.", version=version)
    if len(known) > 1:
        raise Conflict(f"{len(known)} versions begin with {version!r}. Give more of it.", versions=sorted(known)[:5])
    return known.pop()


def _to_past_change(row: Row) -> PastChange:
    _, at, principal, action, path, origin, before, before_size, after, after_size = row
    told: PastChange = {
        "at": format_time(at),
        "action": action,
        "by": principal,
        "path": path,
        "version": after,
        "bytes": after_size,
    }
    if origin:
        told["moved_from"] = origin
    if before and action != "move":
        told["previous_version"] = before
        told["previous_bytes"] = before_size
    return told
