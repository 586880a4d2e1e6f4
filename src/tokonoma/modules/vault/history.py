"""vault_history and vault_restore: what a file was before."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import shown
from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.opaque import Plain
from tokonoma.core.paths import joined
from tokonoma.files.folder import Content
from tokonoma.files.index_sync import sheet
from tokonoma.files.rules import check_write
from tokonoma.files.versions import kept
from tokonoma.files.write import change
from tokonoma.modules.vault.paths import Path, Version, file_at, vault
from tokonoma.modules.vault.write import Written, told

_CHANGES = """select id, at, principal, action, path, origin, before, before_size, after, after_size
from vault_change where path = :path and id < :below and state <> 'undone' order by id desc limit :most"""
_LAST = "~"  # after every id


class PastChange(TypedDict):
    at: Plain
    action: str
    by: str
    path: str
    moved_from: NotRequired[str]
    version: Plain
    bytes: int
    previous_version: NotRequired[Plain]
    previous_bytes: NotRequired[int]


class History(TypedDict):
    path: str
    items: list[PastChange]
    has_more: bool
    next_cursor: NotRequired[Plain]


def history(
    desk: Desk,
    path: Path,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> History:
    """What was done to a file through Tokonoma, newest first, also before it was moved here. Every previous_version can
    be restored. What people did in between with other programs shows as the version that the next change replaced."""
    with vault(desk) as folder:
        parts = file_at(desk, folder, path)
        name, below = cursors.decode("vault_history", cursor) if cursor else (joined(parts), _LAST)
        if folder.stamp(parts) is not None:
            sheet(desk, folder, parts)  # who may not see the file may not see its past
    rows = changes(desk, name, below, limit + 1)
    if not rows and not cursor:
        with vault(desk) as folder:
            if folder.stamp(parts) is None:
                raise Missing(f"Nothing is known of {joined(parts)!r}.", path=joined(parts))
    page: History = {
        "path": joined(parts),
        "items": [_told(row) for row in rows[:limit]],
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        last = rows[limit - 1]
        following = last[5] if last[3] == "move" else last[4]
        page["next_cursor"] = cursors.encode("vault_history", following, last[0])
    return page


def restore(
    desk: Desk,
    path: Path,
    version: Annotated[str, Field(min_length=6, max_length=64, description="of vault_history; its start is enough")],
    expected_version: Version = None,
) -> Written:
    """Put an earlier version in place again, also of a file that is gone. What is there now is kept as a version."""
    with vault(desk) as folder:
        parts = file_at(desk, folder, path)
        check_write(parts, "restore")
        data = kept(folder, _named(desk, joined(parts), version))

        def made(before: Content | None) -> bytes:
            return data

        done = change(desk, folder, parts, "restore", made, expected_version)
    return told(done, "restore")


def changes(desk: Desk, path: str, below: str, most: int) -> list[Row]:
    """Newest first, following the file back through the names that it had."""
    found: list[Row] = []
    while len(found) < most:
        rows = desk.rows(_CHANGES, path=path, below=below, most=most - len(found))
        came = next((place for place, row in enumerate(rows) if row[3] == "move"), None)
        if came is None:
            return found + rows
        found += rows[: came + 1]
        path, below = rows[came][5], rows[came][0]
    return found


def _named(desk: Desk, path: str, version: str) -> str:
    known: set[str] = {row[6] for row in changes(desk, path, _LAST, 10_000) if row[6].startswith(version.lower())}
    if not known:
        raise Missing(f"{path} has no earlier version {version!r}. vault_history lists them.", version=version)
    if len(known) > 1:
        raise Conflict(f"{len(known)} versions begin with {version!r}. Give more of it.", versions=sorted(known)[:5])
    return known.pop()


def _told(row: Row) -> PastChange:
    _, at, principal, action, path, origin, before, before_size, after, after_size = row
    told: PastChange = {
        "at": shown(at),
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
