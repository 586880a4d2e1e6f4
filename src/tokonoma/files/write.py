"""One change of one file: save the intent, put the file into place, confirm the outcome.

The intent is stored together with the call's journal entry. A process that is killed between two steps leaves an open
intent; the next writer or reader decides by the hash of the file whether the change happened.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Desk, Rows, Tx, note_down
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.atomic import file_exists_error, place_draft, remove_file, write_draft, write_lock
from tokonoma.files.edits import TextEdit, check_hidden
from tokonoma.files.encoding import DecodedText
from tokonoma.files.folder import MAX_FILE_BYTES, FileContent, FileStamp, RootFolder, file_missing_error, name_obstacle
from tokonoma.files.growing import index_appended
from tokonoma.files.index_sync import sync_file
from tokonoma.files.indexed_file import (
    IndexedFile,
    confirm_file,
    drop_file,
    find_writer,
    index_file,
    raise_classification,
)
from tokonoma.files.rules import Action, check_write
from tokonoma.files.text import require_decoded, require_utf8
from tokonoma.files.versions import delete_versions, has_version, keep_version, read_version

_OPEN_CHANGES = """select id, action, path, origin, before, after from vault_change where state = 'open'
order by id"""
_INSERT_CHANGE = """insert into vault_change
    (id, at, principal, action, path, origin, before, before_size, after, after_size, state)
values (:id, :at, :principal, :action, :path, :origin, :before, :before_size, :after, :after_size, 'open')"""
CLOSE_CHANGE = "update vault_change set state = :state where id = :id"


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
    with name_obstacle(parts), write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = read_current(desk, folder, parts)
        check_version(parts, before, expected)
        data = build(before)
        if len(data) > MAX_FILE_BYTES:
            raise Invalid(f"{path} would have {len(data)} bytes; the limit is {MAX_FILE_BYTES}.", limit=MAX_FILE_BYTES)
        content = _build_content(before, data)
        data = screen_content(desk, parts, before, content)
        content = content if data is content.data else _build_content(before, data)
        prefix = before and keep_version(desk, folder, path, before, grows=data.startswith(before.data))
        author = find_writer(desk, path, before.version) if before else ""
        draft = write_draft(folder, data, before.mode if before else None)
        with desk.write() as tx:
            if prefix is not None:
                prefix.save(tx)
            intent = save_intent(tx, desk, action, path, "", before, content)
            is_same_class = raise_classification(tx, path) == raise_classification(tx, path, classification)
            file = index_appended(tx, parts, before, content, author, desk.check) if before and is_same_class else None
            file = file or index_file(tx, parts, content, desk.check)
            held = tx.hold_vectors()
        old = before.stamp if before else None
        return _complete(desk, intent, file, held, before, content, lambda: place_draft(folder, draft, parts, old))


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
        # Denied: nothing is appended to a file that is not text, or in other bytes
        text = require_utf8(before.decoded, parts)
        added = data if not text or text.endswith("\n") else b"\n" + data
        edit = TextEdit(len(text), len(text), added.decode())
        check_hidden(desk, parts, text, text + edit.text, [edit])
        return before.data + added

    return change_file(desk, folder, parts, mode, build, expected, classification)


def delete_file(desk: Desk, folder: RootFolder, parts: PathParts, expected: str | None) -> FileChange:
    """Remove a file; its content is kept as a version."""
    path = join_path(parts)
    with name_obstacle(parts), write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = read_current(desk, folder, parts)
        if before is None:
            raise file_missing_error(parts)
        check_version(parts, before, expected)
        prefix = keep_version(desk, folder, path, before, grows=False)
        with desk.write() as tx:
            if prefix is not None:
                prefix.save(tx)
            intent = save_intent(tx, desk, "delete", path, "", before, None)
            drop_file(tx, path)
        try:
            remove_file(folder, parts, before.stamp)
        except BaseException:
            with confirmation(desk, intent, "undone"):
                raise
        with confirmation(desk, intent, "done"):
            return FileChange(path, "", before.version, 0, 0, -len(before.data))


def recover_changes(desk: Desk, folder: RootFolder) -> None:
    """Close the intents of writers that died: the file on the disk decides. If a file was moved, the links to it are
    changed now. The caller holds the write lock."""
    left = desk.rows(_OPEN_CHANGES)
    if not left:
        return
    relinked = {path: after for _, action, path, _, _, after in left if action == "relink"}
    moved: set[str] = set()
    with desk.write_derived() as tx:
        for intent, action, path, origin, before, after in left:
            if action == "relink":
                happened = origin in moved and _finish_relink(tx, folder, path, before, after)
            else:
                is_left = action == "move" and _current_version(folder, origin)
                expected = (after or None, relinked.get(path, after or None))
                happened = not is_left and _current_version(folder, path) in expected
            moved.update([path] if action == "move" and happened else ())
            tx.run(CLOSE_CHANGE, id=intent, state="done" if happened else "undone")
            drop_file(tx, path)  # indexed again by the next call that reads it
            if action != "relink":
                drop_file(tx, origin)
    for version in relinked.values():
        forget_content(desk, folder, version)


def _finish_relink(rows: Rows, folder: RootFolder, path: str, before: str, after: str) -> bool:
    """Put the content that a killed writer has left into place. Whether the file has it now: not if somebody has
    changed the file since."""
    parts = tuple(path.split("/"))
    try:
        content = folder.read(parts)
        if content.version == before:
            draft = write_draft(folder, read_version(rows, folder, after), content.mode)
            place_draft(folder, draft, parts, content.stamp)
        return content.version in (before, after)
    except Refusal:
        return False


def forget_content(desk: Desk, folder: RootFolder, version: str) -> None:
    """Remove a content that was kept only until its change was complete."""
    is_needed = desk.row("select 1 from vault_change where before = :version", version=version)
    if is_needed is None and has_version(desk, folder, version):
        delete_versions(desk, folder, [version])


def recover_if_needed(desk: Desk, folder: RootFolder) -> None:
    """For readers: recover, unless a writer is at work."""

    def recover() -> None:
        with write_lock(folder, desk.check, wait=False) as acquired:
            if acquired:
                recover_changes(desk, folder)

    if desk.row(_OPEN_CHANGES) is not None:
        note_down(recover)


def read_current(desk: Desk, folder: RootFolder, parts: PathParts) -> FileContent | None:
    try:
        content = folder.read(parts)
    except Missing:
        return None
    sync_file(desk, parts, content)
    return content


def _build_content(before: FileContent | None, data: bytes) -> FileContent:
    stamp = FileStamp(len(data), now() * 10**6, 0, 0)
    return before.replaced_by(data, stamp) if before else FileContent(data, stamp, 0)


def screen_content(desk: Desk, parts: PathParts, before: FileContent | None, after: FileContent) -> bytes:
    """The new content as the policy lets it be stored. Two harmless parts may make a secret together."""
    old = before.decoded.text if before and isinstance(before.decoded, DecodedText) else ""
    text = require_decoded(after.decoded, parts).text
    screened = desk.policy.screen_edit(join_path(parts), old, text)
    return after.data if screened == text else screened.encode()  # a restored version keeps its encoding


def _current_version(folder: RootFolder, path: str) -> str | None:
    try:
        return folder.read(tuple(path.split("/"))).version
    except Refusal:
        return None


def check_version(parts: PathParts, before: FileContent | None, expected: str | None) -> None:
    current = before.version if before else None
    if expected is not None and current != expected:
        raise Conflict(
            f"{join_path(parts)} is not at the expected version. Read it again. Nothing was changed.",
            path=join_path(parts),
            current_version=current,
        )


def save_intent(
    tx: Tx, desk: Desk, action: Action, path: str, origin: str, before: FileContent | None, after: FileContent | None
) -> str:
    """`after`: None if the file is deleted."""
    intent = uuid7()
    tx.run(
        _INSERT_CHANGE,
        id=intent,
        at=now(),
        principal=desk.principal.name,
        action=action,
        path=path,
        origin=origin,
        before=before.version if before else "",
        before_size=len(before.data) if before else 0,
        after=after.version if after else "",
        after_size=len(after.data) if after else 0,
    )
    return intent


def _complete(
    desk: Desk,
    intent: str,
    file: IndexedFile,
    held: Sequence[int],
    before: FileContent | None,
    after: FileContent,
    place: Callable[[], FileStamp],
) -> FileChange:
    """Put the file into place and confirm it; what was held is embedded from now on, since the embedding worker reads
    the file. If that fails, the stored intent is marked as undone."""
    path, data = file.path, after.data
    try:
        stamp = place()
    except BaseException:
        with confirmation(desk, intent, "undone") as tx:
            drop_file(tx, path)
        raise
    with confirmation(desk, intent, "done") as tx:
        tx.queue_vectors(held)
        confirm_file(tx, path, stamp, after.version, file.lines)
    previous, added = before.version if before else None, len(data) - (len(before.data) if before else 0)
    return FileChange(path, after.version, previous, len(data), max(0, file.lines), added)


@contextmanager
def confirmation(desk: Desk, intent: str, state: str) -> Generator[Tx]:
    """Store the outcome. The file is already in place, so a store that fails now is only logged; recovery follows."""
    try:
        with desk.write_derived() as tx:
            yield tx
            tx.run(CLOSE_CHANGE, id=intent, state=state)
    except Refusal as error:
        log("warning", "vault", intent=intent, reason=error.reason or error.kind)
