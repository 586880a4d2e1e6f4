"""One change of one file: the intent is stored, the file takes its place, and what became of it is confirmed.

The intent goes with the call's journal entry. Whoever is killed between two steps leaves an open one; the hash of the
file tells the next writer, and the next reader, whether it happened.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Desk, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.atomic import file_exists_error, place_draft, rename_file, write_draft, write_lock
from tokonoma.files.folder import MAX_FILE_BYTES, FileContent, FileStamp, RootFolder, file_missing_error
from tokonoma.files.index_sync import drop_file, index_file, raise_classification, save_stamp, sync_file
from tokonoma.files.rules import Action
from tokonoma.files.sections import split_lines
from tokonoma.files.text import decode_text, version_of
from tokonoma.files.versions import save_version

_OPEN_CHANGES = "select id, action, path, origin, after from vault_change where state = 'open'"
_INSERT_CHANGE = """insert into vault_change
    (id, at, principal, action, path, origin, before, before_size, after, after_size, state)
values (:id, :at, :principal, :action, :path, :origin, :before, :before_size, :after, :after_size, 'open')"""
_CLOSE_CHANGE = "update vault_change set state = :state where id = :id"


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a change came to. `before` is the version that it replaced, if there was one."""

    path: str
    version: str
    previous_version: str | None
    size: int
    lines: int
    added_bytes: int  # bytes more than before


def change_file(
    desk: Desk,
    folder: RootFolder,
    parts: PathParts,
    action: Action,
    made: Callable[[FileContent | None], bytes],
    expected: str | None = None,
    label: Classification = "internal",
) -> FileChange:
    """`made` turns what is there into what shall be there; it may refuse. The rules were asked before. `label` is the
    class of what comes in."""
    with write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = _read_current(desk, folder, parts)
        _check_version(parts, before, expected)
        data = made(before)
        if len(data) > MAX_FILE_BYTES:
            raise Invalid(
                f"{join_path(parts)} would have {len(data)} bytes; at most {MAX_FILE_BYTES}.", limit=MAX_FILE_BYTES
            )
        text = decode_text(data, parts)
        if before is not None:
            save_version(folder, before.data)
        name = write_draft(folder, data, before.mode if before else None)
        intent = uuid7()
        with desk.write() as tx:
            _save_intent(tx, desk, intent, action, join_path(parts), "", before, data)
            raise_classification(tx, join_path(parts), label)
            index_file(tx, parts, FileContent(data, FileStamp(len(data), now() * 10**6, 0, 0), 0))
        stamp = _place_or_undo(
            desk, intent, parts, lambda: place_draft(folder, name, parts, before.stamp if before else None)
        )
        with _confirmation(desk, intent) as tx:
            save_stamp(tx, join_path(parts), stamp, version_of(data), len(split_lines(text)))
    size = len(before.data) if before else 0
    return FileChange(
        join_path(parts),
        version_of(data),
        version_of(before.data) if before else None,
        len(data),
        len(split_lines(text)),
        len(data) - size,
    )


def move_file(desk: Desk, folder: RootFolder, origin: PathParts, goal: PathParts, expected: str | None) -> FileChange:
    """A file gets another name; its history goes with it."""
    with write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = _read_current(desk, folder, origin)
        if before is None:
            raise file_missing_error(origin)
        _check_version(origin, before, expected)
        if folder.read_stamp(goal) is not None:
            raise file_exists_error(goal, goal[-1])
        save_version(folder, before.data)
        intent = uuid7()
        with desk.write() as tx:
            _save_intent(tx, desk, intent, "move", join_path(goal), join_path(origin), before, before.data)
            drop_file(tx, join_path(origin))
            raise_classification(tx, join_path(goal), raise_classification(tx, join_path(origin)))
            index_file(tx, goal, before)
        stamp = _place_or_undo(desk, intent, goal, lambda: rename_file(folder, origin, goal, before.stamp))
        text = decode_text(before.data, goal)
        with _confirmation(desk, intent) as tx:
            save_stamp(tx, join_path(goal), stamp, version_of(before.data), len(split_lines(text)))
    version = version_of(before.data)
    return FileChange(join_path(goal), version, version, len(before.data), len(split_lines(text)), 0)


def recover_changes(desk: Desk, folder: RootFolder) -> None:
    """What writers that died have left open is decided by what lies there. The lock is held."""
    left = desk.rows(_OPEN_CHANGES)
    if not left:
        return
    with desk.write_derived() as tx:
        for intent, action, path, origin, after in left:
            happened = _current_version(folder, path) == after and not (
                action == "move" and _current_version(folder, origin)
            )
            tx.run(_CLOSE_CHANGE, id=intent, state="done" if happened else "undone")
            for each in (path, origin):  # looked at anew by whoever asks next
                if each:
                    drop_file(tx, each)


def recover_if_needed(desk: Desk, folder: RootFolder) -> None:
    """For readers: settle, unless somebody is writing at this moment."""
    if desk.row(_OPEN_CHANGES) is not None:
        with write_lock(folder, desk.check, wait=False) as had:
            if had:
                recover_changes(desk, folder)


def _read_current(desk: Desk, folder: RootFolder, parts: PathParts) -> FileContent | None:
    try:
        content = folder.read(parts)
    except Missing:
        return None
    sync_file(desk, parts, content)
    return content


def _current_version(folder: RootFolder, path: str) -> str | None:
    try:
        return version_of(folder.read(tuple(path.split("/"))).data)
    except Refusal:
        return None


def _check_version(parts: PathParts, before: FileContent | None, expected: str | None) -> None:
    if expected is None:
        return
    current = version_of(before.data) if before else None
    if current != expected:
        raise Conflict(
            f"{join_path(parts)} is at another version than the one you expect. Read it again. Nothing was changed.",
            path=join_path(parts),
            current_version=current,
        )


def _save_intent(
    tx: Tx, desk: Desk, intent: str, action: Action, path: str, origin: str, before: FileContent | None, data: bytes
) -> None:
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


def _place_or_undo(desk: Desk, intent: str, parts: PathParts, act: Callable[[], FileStamp]) -> FileStamp:
    """The entry is stored and says that it is done: if it cannot be, that is stored too, and the caller is told."""
    try:
        return act()
    except BaseException:
        with _confirmation(desk, intent, "undone") as tx:
            drop_file(tx, join_path(parts))
        raise


@contextmanager
def _confirmation(desk: Desk, intent: str, state: str = "done") -> Generator[Tx]:
    """The file is in place: a store that does not answer now makes that no less true. Somebody settles it later."""
    try:
        with desk.write_derived() as tx:
            yield tx
            tx.run(_CLOSE_CHANGE, id=intent, state=state)
    except Refusal as error:
        log("warning", "vault", intent=intent, reason=error.reason or error.kind)
