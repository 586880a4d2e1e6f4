"""One change of one file: save the intent, put the file into place, confirm the outcome.

The intent is stored together with the call's journal entry. A process that is killed between two steps leaves an open
intent; the next writer or reader decides by the hash of the file whether the change happened.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Desk, Tx, note_down
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.atomic import file_exists_error, place_draft, rename_file, save_version, write_draft, write_lock
from tokonoma.files.folder import MAX_FILE_BYTES, FileContent, FileStamp, RootFolder, file_missing_error, name_race
from tokonoma.files.index_sync import count_lines, drop_file, index_file, raise_classification, save_stamp, sync_file
from tokonoma.files.rules import Action, check_write
from tokonoma.files.text import decode_text, version_of

_OPEN_CHANGES = "select id, action, path, origin, after from vault_change where state = 'open'"
_INSERT_CHANGE = """insert into vault_change
    (id, at, principal, action, path, origin, before, before_size, after, after_size, state)
values (:id, :at, :principal, :action, :path, :origin, :before, :before_size, :after, :after_size, 'open')"""
_CLOSE_CHANGE = "update vault_change set state = :state where id = :id"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The outcome of a change. `previous_version` is the version that it replaced, if any."""

    path: str
    version: str
    previous_version: str | None
    size: int
    lines: int
    added_bytes: int


def change_file(
    desk: Desk,
    folder: RootFolder,
    parts: PathParts,
    action: Action,
    build: Callable[[FileContent | None], bytes],
    expected: str | None = None,
    classification: Classification = "internal",
) -> FileChange:
    """Replace a file's content by `build(current content)`, which may refuse; the policy may, too. The caller has
    checked the rules. `classification` is that of the new content."""
    path = join_path(parts)
    with name_race(parts), write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = _read_current(desk, folder, parts)
        _check_version(parts, before, expected)
        data = build(before)
        if len(data) > MAX_FILE_BYTES:
            raise Invalid(f"{path} would have {len(data)} bytes; the limit is {MAX_FILE_BYTES}.", limit=MAX_FILE_BYTES)
        data = _screen_content(desk, parts, before, data)
        if before is not None:
            save_version(folder, before.data)
        draft = write_draft(folder, data, before.mode if before else None)
        with desk.write() as tx:
            intent = _save_intent(tx, desk, action, path, "", before, data)
            raise_classification(tx, path, classification)
            index_file(tx, parts, FileContent(data, FileStamp(len(data), now() * 10**6, 0, 0), 0), desk.check)
        old = before.stamp if before else None
        return _complete(desk, intent, parts, before, data, lambda: place_draft(folder, draft, parts, old))


def write_content(
    desk: Desk,
    folder: RootFolder,
    parts: PathParts,
    mode: Literal["create", "overwrite", "append"],
    data: bytes,
    expected: str | None = None,
    classification: Classification = "internal",
) -> FileChange:
    """Create a file, overwrite it, or append to it on a line of its own."""
    check_write(parts, mode)

    def build(before: FileContent | None) -> bytes:
        if mode == "create" and before is not None:
            raise file_exists_error(parts, parts[-1])
        if mode != "create" and before is None:
            raise file_missing_error(parts)
        if before is None or mode == "overwrite":
            return data
        decode_text(before.data, parts)  # Denied: nothing is appended to a file that is not text
        separator = b"" if not before.data or before.data.endswith(b"\n") else b"\n"
        return before.data + separator + data

    return change_file(desk, folder, parts, mode, build, expected, classification)


def move_file(desk: Desk, folder: RootFolder, origin: PathParts, goal: PathParts, expected: str | None) -> FileChange:
    """Rename a file; its history stays with it."""
    with name_race(goal), write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = _read_current(desk, folder, origin)
        if before is None:
            raise file_missing_error(origin)
        _check_version(origin, before, expected)
        if folder.read_stamp(goal) is not None:
            raise file_exists_error(goal, goal[-1])
        save_version(folder, before.data)
        with desk.write() as tx:
            intent = _save_intent(tx, desk, "move", join_path(goal), join_path(origin), before, before.data)
            drop_file(tx, join_path(origin))
            raise_classification(tx, join_path(goal), raise_classification(tx, join_path(origin)))
            index_file(tx, goal, before, desk.check)
        old = before.stamp
        return _complete(desk, intent, goal, before, before.data, lambda: rename_file(folder, origin, goal, old))


def recover_changes(desk: Desk, folder: RootFolder) -> None:
    """Close the intents of writers that died: the file on the disk decides. The caller holds the write lock."""
    left = desk.rows(_OPEN_CHANGES)
    if not left:
        return
    with desk.write_derived() as tx:
        for intent, action, path, origin, after in left:
            is_left = action == "move" and _current_version(folder, origin)
            happened = not is_left and _current_version(folder, path) == after
            tx.run(_CLOSE_CHANGE, id=intent, state="done" if happened else "undone")
            drop_file(tx, path)  # indexed again by the next call that reads it
            drop_file(tx, origin)


def recover_if_needed(desk: Desk, folder: RootFolder) -> None:
    """For readers: recover, unless a writer is at work."""

    def recover() -> None:
        with write_lock(folder, desk.check, wait=False) as acquired:
            if acquired:
                recover_changes(desk, folder)

    if desk.row(_OPEN_CHANGES) is not None:
        note_down(recover)


def _read_current(desk: Desk, folder: RootFolder, parts: PathParts) -> FileContent | None:
    try:
        content = folder.read(parts)
    except Missing:
        return None
    sync_file(desk, parts, content)
    return content


def _screen_content(desk: Desk, parts: PathParts, before: FileContent | None, data: bytes) -> bytes:
    """The new content as the policy lets it be stored. Two harmless parts may make a secret together."""
    old = before.data.decode("utf-8", "replace") if before else ""
    text = decode_text(data, parts)
    return desk.policy.screen_edit(join_path(parts), old, text).encode()


def _current_version(folder: RootFolder, path: str) -> str | None:
    try:
        return version_of(folder.read(tuple(path.split("/"))).data)
    except Refusal:
        return None


def _check_version(parts: PathParts, before: FileContent | None, expected: str | None) -> None:
    current = version_of(before.data) if before else None
    if expected is not None and current != expected:
        raise Conflict(
            f"{join_path(parts)} is not at the expected version. Read it again. Nothing was changed.",
            path=join_path(parts),
            current_version=current,
        )


def _save_intent(
    tx: Tx, desk: Desk, action: Action, path: str, origin: str, before: FileContent | None, data: bytes
) -> str:
    intent = uuid7()
    tx.run(
        _INSERT_CHANGE,
        id=intent,
        at=now(),
        principal=desk.principal.name,
        action=action,
        path=path,
        origin=origin,
        before=version_of(before.data) if before else "",
        before_size=len(before.data) if before else 0,
        after=version_of(data),
        after_size=len(data),
    )
    return intent


def _complete(
    desk: Desk, intent: str, parts: PathParts, before: FileContent | None, data: bytes, place: Callable[[], FileStamp]
) -> FileChange:
    """Put the file into place and confirm it. If that fails, the stored intent is marked as undone."""
    path, version = join_path(parts), version_of(data)
    try:
        stamp = place()
    except BaseException:
        with _confirmation(desk, intent, "undone") as tx:
            drop_file(tx, path)
        raise
    lines = count_lines(data, parts)
    with _confirmation(desk, intent, "done") as tx:
        save_stamp(tx, path, stamp, version, lines)
    previous, added = version_of(before.data) if before else None, len(data) - (len(before.data) if before else 0)
    return FileChange(path, version, previous, len(data), max(0, lines), added)


@contextmanager
def _confirmation(desk: Desk, intent: str, state: str) -> Generator[Tx]:
    """Store the outcome. The file is already in place, so a store that fails now is only logged; recovery follows."""
    try:
        with desk.write_derived() as tx:
            yield tx
            tx.run(_CLOSE_CHANGE, id=intent, state=state)
    except Refusal as error:
        log("warning", "vault", intent=intent, reason=error.reason or error.kind)
