"""Moving a file, and changing the links of other files that led to it.

All changes are stored as intents in one transaction. Then the file is renamed, the other files are put into place, and
one transaction confirms it all. A process that is killed before the rename has changed nothing. After it, the next
writer or reader completes the rest: the new contents are kept as versions until then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Conflict, Missing, Refusal
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.atomic import file_exists_error, place_draft, rename_file, write_draft, write_lock
from tokonoma.files.edits import apply_edits, check_hidden
from tokonoma.files.folder import MAX_FILE_BYTES, FileContent, FileStamp, RootFolder, file_missing_error, name_obstacle
from tokonoma.files.indexed_file import confirm_file, count_lines, drop_file, index_file, raise_classification
from tokonoma.files.relink import FileMove
from tokonoma.files.rules import check_write
from tokonoma.files.text import decode_text, file_address, namespace_of, version_of
from tokonoma.files.versions import save_version
from tokonoma.files.write import (
    CLOSE_CHANGE,
    FileChange,
    check_version,
    confirmation,
    forget_content,
    read_current,
    recover_changes,
    save_intent,
    screen_content,
)

MAX_RELINKED = 500
"""Files whose links one move changes."""


@dataclass(slots=True)
class _Rewrite:
    """A file with changed links. `before` is its content, `place` where it is after the move."""

    place: PathParts
    before: FileContent
    data: bytes
    draft: str = ""
    intent: str = ""
    stamp: FileStamp | None = None  # once it is in place


@dataclass(frozen=True, slots=True)
class MovedFile:
    """`relinked` are the files whose links were changed; `kept` those whose links should be, and why they are not."""

    change: FileChange
    relinked: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()


def move_file(
    desk: Desk,
    folder: RootFolder,
    origin: PathParts,
    goal: PathParts,
    expected: str | None,
    plan: FileMove | None = None,
    linking: Iterable[PathParts] = (),
) -> MovedFile:
    """Rename a file; its history stays with it. With a plan, the links of the file and of the files in `linking`, which
    the caller may see, are changed as well."""
    with name_obstacle(goal), write_lock(folder, desk.check):
        recover_changes(desk, folder)
        before = read_current(desk, folder, origin)
        if before is None:
            raise file_missing_error(origin)
        check_version(origin, before, expected)
        if folder.read_stamp(goal) is not None:
            raise file_exists_error(goal, goal[-1])
        rewrites, kept = _plan_rewrites(desk, folder, plan, before, linking) if plan is not None else ([], [])
        for each in (before, *(each.before for each in rewrites)):
            save_version(folder, each.data)
        for each in rewrites:
            save_version(folder, each.data)
            each.draft = write_draft(folder, each.data, each.before.mode)
        intent, held = _save_intents(desk, origin, goal, before, rewrites)
        stamp = _rename(desk, folder, intent, origin, goal, before, rewrites)
        kept += _place_rewrites(folder, goal, stamp, rewrites)
        _confirm(desk, intent, held, goal, stamp, before, rewrites)
        for each in rewrites:
            forget_content(desk, folder, version_of(each.data))
    own = next((each for each in rewrites if each.place == goal and each.stamp is not None), None)
    data, version = own.data if own else before.data, before.version
    lines = max(0, count_lines(data, goal))
    change = FileChange(join_path(goal), version_of(data), version, len(data), lines, len(data) - len(before.data))
    relinked = tuple(sorted(join_path(each.place) for each in rewrites if each.stamp is not None))
    return MovedFile(change, relinked, tuple(kept))


def _plan_rewrites(
    desk: Desk, folder: RootFolder, plan: FileMove, moved: FileContent, linking: Iterable[PathParts]
) -> tuple[list[_Rewrite], list[tuple[str, str]]]:
    rewrites: list[_Rewrite] = []
    kept: list[tuple[str, str]] = []
    for parts in linking:
        desk.check()
        path, is_moved = join_path(parts), join_path(parts) == plan.origin
        try:
            before = moved if is_moved else read_current(desk, folder, parts)
            text = decode_text(before.data, parts) if before is not None else ""
        except Refusal:  # it has changed since it was listed, and is nothing for this caller now
            continue
        hidden = desk.policy.find_hidden(text, file_address(path), namespace_of(parts))
        edits = plan.list_edits(path, text, hidden)
        new = apply_edits(text, edits)
        if before is None or new == text:
            continue
        place = tuple(plan.goal.split("/")) if is_moved else parts
        try:
            check_write(place, "relink")
            check_hidden(desk, parts, text, new, edits)
            data = screen_content(desk, place, before, FileContent(new.encode(), before.stamp, before.mode))
        except Refusal as error:
            kept.append((join_path(place), error.message))
            continue
        if len(data) > MAX_FILE_BYTES:
            kept.append((join_path(place), f"it would have more than {MAX_FILE_BYTES} bytes"))
            continue
        rewrites.append(_Rewrite(place, before, data))
        if len(rewrites) > MAX_RELINKED:
            raise Conflict(
                f"More than {MAX_RELINKED} files link to {plan.origin}. Move it with update_links: false."
                " Nothing was changed.",
                limit=MAX_RELINKED,
            )
    return rewrites, kept


def _save_intents(
    desk: Desk, origin: PathParts, goal: PathParts, before: FileContent, rewrites: Sequence[_Rewrite]
) -> tuple[str, list[int]]:
    """Returns the intent of the move, and what is to be embedded when the files are in their places."""
    path = join_path(goal)
    with desk.write() as tx:
        intent = save_intent(tx, desk, "move", path, join_path(origin), before, before)
        drop_file(tx, join_path(origin))
        raise_classification(tx, path, raise_classification(tx, join_path(origin)))
        index_file(tx, goal, before, desk.check)
        for each in rewrites:
            after = FileContent(each.data, each.before.stamp, each.before.mode)
            each.intent = save_intent(tx, desk, "relink", join_path(each.place), path, each.before, after)
            content = FileContent(each.data, FileStamp(len(each.data), now() * 10**6, 0, 0), 0)
            index_file(tx, each.place, content, desk.check)
        return intent, tx.hold_vectors()


def _rename(
    desk: Desk,
    folder: RootFolder,
    intent: str,
    origin: PathParts,
    goal: PathParts,
    before: FileContent,
    rewrites: Sequence[_Rewrite],
) -> FileStamp:
    """Rename the file. If that fails, nothing has happened, and the intents are marked as undone."""
    try:
        return rename_file(folder, origin, goal, before.stamp)
    except BaseException:
        with confirmation(desk, intent, "undone") as tx:
            for each in rewrites:
                tx.run(CLOSE_CHANGE, id=each.intent, state="undone")
                drop_file(tx, join_path(each.place))
            drop_file(tx, join_path(goal))
        raise


def _place_rewrites(
    folder: RootFolder, goal: PathParts, moved: FileStamp, rewrites: Sequence[_Rewrite]
) -> list[tuple[str, str]]:
    """Put the files with changed links into place; one that another program has changed stays as it is."""
    kept: list[tuple[str, str]] = []
    for each in rewrites:
        old = moved if each.place == goal else each.before.stamp
        try:
            each.stamp = place_draft(folder, each.draft, each.place, old)
        except (Conflict, Missing) as error:
            kept.append((join_path(each.place), error.message))
    return kept


def _confirm(
    desk: Desk,
    intent: str,
    held: Sequence[int],
    goal: PathParts,
    stamp: FileStamp,
    before: FileContent,
    rewrites: Sequence[_Rewrite],
) -> None:
    with confirmation(desk, intent, "done") as tx:
        tx.queue_vectors(held)
        if not any(each.place == goal for each in rewrites):
            confirm_file(tx, join_path(goal), stamp, before.version, count_lines(before.data, goal))
        for each in rewrites:
            path = join_path(each.place)
            tx.run(CLOSE_CHANGE, id=each.intent, state="undone" if each.stamp is None else "done")
            if each.stamp is None:
                drop_file(tx, path)
            else:
                confirm_file(tx, path, each.stamp, version_of(each.data), count_lines(each.data, each.place))
