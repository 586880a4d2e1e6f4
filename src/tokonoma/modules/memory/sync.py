"""memory.sync: stores memos and relations that `tokonoma sync` has merged with those of another home.

It stands in no catalogue. What was changed here since it was merged is not overwritten: it is merged again.
"""

from dataclasses import replace
from typing import NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import CLASSIFICATIONS, Desk, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.memory import merge, tables
from tokonoma.modules.memory.merge import PortableMemo, PortableRelation
from tokonoma.modules.memory.model import Memo, to_row
from tokonoma.modules.memory.read import fetch_memos
from tokonoma.modules.memory.relations import find_relation
from tokonoma.modules.memory.transfer import write_memo

_DROP_RELATION = """delete from memo_relation
where space = :space and source = :source and target = :target and tag = :tag and {visible}"""


class SyncedMemo(TypedDict):
    memo: PortableMemo
    expected: int  # the version here that was merged; 0: there was none


class SyncedRelation(TypedDict):
    relation: PortableRelation
    expected: int
    deleted: bool


class SyncOutcome(TypedDict):
    """`moved`: it was changed here meanwhile. `skipped`: it cannot be stored."""

    outcome: str
    revision: NotRequired[int]
    boundary: NotRequired[str]
    why: NotRequired[str]


class SyncOutcomes(TypedDict):
    memos: list[SyncOutcome]
    relations: list[SyncOutcome]


def sync_memos(
    desk: Desk, memos: list[SyncedMemo], relations: list[SyncedRelation], dry_run: bool = False, seal: bool = False
) -> SyncOutcomes:
    """Store merged memos and relations; returns the outcome of each, in their order. With `dry_run` nothing is
    written. What the policy refuses is skipped or, with `seal`, stored with the class secret."""
    if dry_run:
        return _store_all(desk, desk, memos, relations, None, seal=seal)
    with desk.write() as tx:
        return _store_all(tx, desk, memos, relations, tx, seal=seal)


def _store_all(
    rows: Rows, desk: Desk, memos: list[SyncedMemo], relations: list[SyncedRelation], tx: Tx | None, *, seal: bool
) -> SyncOutcomes:
    found: SyncOutcomes = {"memos": [], "relations": []}
    stored = fetch_memos(rows, [each["memo"]["memo_id"] for each in memos], lock=tx is not None)
    for each in memos:
        screened = screen_import(desk.policy, each["memo"], ("memo_id", "supersedes"), seal=seal)
        found["memos"].append(_store_memo(desk, screened, each["expected"], stored, tx))
    ends = fetch_memos(rows, [end for each in relations for end in _list_ends(each["relation"])])
    for each in relations:
        screened = screen_import(desk.policy, each["relation"], ("source", "target"), seal=seal)
        found["relations"].append(_store_relation(rows, desk, screened, each, ends, tx))
    return found


def _store_memo(
    desk: Desk, screened: ScreenedImport, expected: int, stored: dict[str, Memo], tx: Tx | None
) -> SyncOutcome:
    given, at = cast("PortableMemo", screened.fields), desk.now()
    old = stored.get(given["memo_id"])
    if expected != (old.revision if old is not None else 0):
        return {"outcome": "moved"}
    try:
        _check_screen(screened)
        memo = merge.build_memo(given, desk.principal, at)
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message}
    # What was hidden here stays hidden.
    labels = [memo.classification, *(["secret"] if screened.sealed else []), *([old.classification] if old else [])]
    revision = max(given["version"] or 1, expected + 1)
    memo = replace(memo, revision=revision, classification=max(labels, key=CLASSIFICATIONS.index))
    if tx is not None:
        memo = write_memo(tx, desk, memo, old, given.get("author", ""))
    return {"outcome": "written", "revision": revision, "boundary": memo.classification}


def _store_relation(
    rows: Rows, desk: Desk, screened: ScreenedImport, synced: SyncedRelation, ends: dict[str, Memo], tx: Tx | None
) -> SyncOutcome:
    given = cast("PortableRelation", screened.fields)
    key = {name: synced["relation"][name] for name in ("source", "target", "tag")}
    key["space"] = resolve_namespace(given["namespace"], desk.principal)
    old = find_relation(rows, key, lock=tx is not None)
    if synced["expected"] != (old.revision if old is not None else 0):
        return {"outcome": "moved"}
    if synced["deleted"]:
        if tx is not None:
            tx.run(_DROP_RELATION, **key)
        return {"outcome": "written", "revision": 0}
    # In a rehearsal the memos of this sync are not stored yet.
    coming = () if tx is not None else _list_ends(given)
    try:
        _check_screen(screened)
        new = merge.build_relation(given, desk.principal, ends, coming, desk.now())
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message}
    revision = max(given["version"] or 1, synced["expected"] + 1)
    if tx is not None:
        label = tx.classify(new.classification, new.namespace, new.reason, new.tag)
        tx.run(tables.PUT_RELATION, **to_row(replace(new, classification=label, revision=revision)))
    return {"outcome": "written", "revision": revision}


def _list_ends(relation: PortableRelation) -> tuple[str, str]:
    return relation["source"], relation["target"]


def _check_screen(screened: ScreenedImport) -> None:
    """A text that the policy here would change is not stored: the change would go back to where it came from."""
    if screened.refusal:
        raise Invalid(screened.refusal)
    if screened.note and not screened.sealed:
        raise Invalid(f"The policy here does not store it as it is. {screened.note}")
