"""One change of one file: the intent is stored, the file takes its place, and what became of it is confirmed.

The intent goes with the call's journal entry. Whoever is killed between two steps leaves an open one; the hash of the
file tells the next writer, and the next reader, whether it happened.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Label, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log
from tokonoma.core.paths import Parts, joined
from tokonoma.files.atomic import draft, exists, locked, move, place
from tokonoma.files.folder import MOST, Content, Folder, Stamp, missing
from tokonoma.files.index_sync import classed, drop, in_step, noted, put
from tokonoma.files.rules import Action
from tokonoma.files.sections import lines_of
from tokonoma.files.text import decoded, version_of
from tokonoma.files.versions import keep

_OPEN = "select id, action, path, origin, after from vault_change where state = 'open'"
_INTEND = """insert into vault_change
    (id, at, principal, action, path, origin, before, before_size, after, after_size, state)
values (:id, :at, :principal, :action, :path, :origin, :before, :before_size, :after, :after_size, 'open')"""
_END = "update vault_change set state = :state where id = :id"


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change came to. `before` is the version that it replaced, if there was one."""

    path: str
    version: str
    before: str | None
    size: int
    lines: int
    grown: int  # bytes more than before


def change(
    desk: Desk,
    folder: Folder,
    parts: Parts,
    action: Action,
    made: Callable[[Content | None], bytes],
    expected: str | None = None,
    label: Label = "internal",
) -> Changed:
    """`made` turns what is there into what shall be there; it may refuse. The rules were asked before. `label` is the
    class of what comes in."""
    with locked(folder, desk.check):
        settle(desk, folder)
        before = _there(desk, folder, parts)
        _check_version(parts, before, expected)
        data = made(before)
        if len(data) > MOST:
            raise Invalid(f"{joined(parts)} would have {len(data)} bytes; at most {MOST}.", limit=MOST)
        text = decoded(data, parts)
        if before is not None:
            keep(folder, before.data)
        name = draft(folder, data, before.mode if before else None)
        intent = uuid7()
        with desk.write() as tx:
            _intend(tx, desk, intent, action, joined(parts), "", before, data)
            classed(tx, joined(parts), label)
            put(tx, parts, Content(data, Stamp(len(data), now() * 10**6, 0, 0), 0))
        stamp = _placed(desk, intent, parts, lambda: place(folder, name, parts, before.stamp if before else None))
        with _confirming(desk, intent) as tx:
            noted(tx, joined(parts), stamp, version_of(data), len(lines_of(text)))
    size = len(before.data) if before else 0
    return Changed(
        joined(parts),
        version_of(data),
        version_of(before.data) if before else None,
        len(data),
        len(lines_of(text)),
        len(data) - size,
    )


def moved(desk: Desk, folder: Folder, origin: Parts, goal: Parts, expected: str | None) -> Changed:
    """A file gets another name; its history goes with it."""
    with locked(folder, desk.check):
        settle(desk, folder)
        before = _there(desk, folder, origin)
        if before is None:
            raise missing(origin)
        _check_version(origin, before, expected)
        if folder.stamp(goal) is not None:
            raise exists(goal, goal[-1])
        keep(folder, before.data)
        intent = uuid7()
        with desk.write() as tx:
            _intend(tx, desk, intent, "move", joined(goal), joined(origin), before, before.data)
            drop(tx, joined(origin))
            classed(tx, joined(goal), classed(tx, joined(origin)))
            put(tx, goal, before)
        stamp = _placed(desk, intent, goal, lambda: move(folder, origin, goal, before.stamp))
        text = decoded(before.data, goal)
        with _confirming(desk, intent) as tx:
            noted(tx, joined(goal), stamp, version_of(before.data), len(lines_of(text)))
    version = version_of(before.data)
    return Changed(joined(goal), version, version, len(before.data), len(lines_of(text)), 0)


def settle(desk: Desk, folder: Folder) -> None:
    """What writers that died have left open is decided by what lies there. The lock is held."""
    left = desk.rows(_OPEN)
    if not left:
        return
    with desk.upkeep() as tx:
        for intent, action, path, origin, after in left:
            happened = _version(folder, path) == after and not (action == "move" and _version(folder, origin))
            tx.run(_END, id=intent, state="done" if happened else "undone")
            for each in (path, origin):  # looked at anew by whoever asks next
                if each:
                    drop(tx, each)


def settle_if_left(desk: Desk, folder: Folder) -> None:
    """For readers: settle, unless somebody is writing at this moment."""
    if desk.row(_OPEN) is not None:
        with locked(folder, desk.check, wait=False) as had:
            if had:
                settle(desk, folder)


def _there(desk: Desk, folder: Folder, parts: Parts) -> Content | None:
    try:
        content = folder.read(parts)
    except Missing:
        return None
    in_step(desk, parts, content)
    return content


def _version(folder: Folder, path: str) -> str | None:
    try:
        return version_of(folder.read(tuple(path.split("/"))).data)
    except Refusal:
        return None


def _check_version(parts: Parts, before: Content | None, expected: str | None) -> None:
    if expected is None:
        return
    current = version_of(before.data) if before else None
    if current != expected:
        raise Conflict(
            f"{joined(parts)} is at another version than the one you expect. Read it again. Nothing was changed.",
            path=joined(parts),
            current_version=current,
        )


def _intend(
    tx: Tx, desk: Desk, intent: str, action: Action, path: str, origin: str, before: Content | None, data: bytes
) -> None:
    tx.run(
        _INTEND,
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


def _placed(desk: Desk, intent: str, parts: Parts, act: Callable[[], Stamp]) -> Stamp:
    """The entry is stored and says that it is done: if it cannot be, that is stored too, and the caller is told."""
    try:
        return act()
    except BaseException:
        with _confirming(desk, intent, "undone") as tx:
            drop(tx, joined(parts))
        raise


@contextmanager
def _confirming(desk: Desk, intent: str, state: str = "done") -> Generator[Tx]:
    """The file is in place: a store that does not answer now makes that no less true. Somebody settles it later."""
    try:
        with desk.upkeep() as tx:
            yield tx
            tx.run(_END, id=intent, state=state)
    except Refusal as error:
        log("warning", "vault", intent=intent, reason=error.reason or error.word)
