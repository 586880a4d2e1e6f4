"""memory.import: memos and relations from elsewhere, with their own ids, times and versions.

It stands in no catalogue. An agent must not choose ids or set clocks back; the owner's `tokonoma import` may, and walks
the same pipeline: the desk's guard, the index and the journal follow as they do for a save.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.modules.memory import import_relations as bonds
from tokonoma.modules.memory.memo import Memo, to_document, to_memo
from tokonoma.modules.memory.merge import MergeOutcome, merge_memo
from tokonoma.modules.memory.metadata import encode_metadata
from tokonoma.modules.memory.tables import COLUMNS

_AT_ONCE = 500  # ids of one question to the database


class ImportedMemo(TypedDict):
    memo_id: str
    namespace: str
    title: str
    content: str
    metadata: dict[str, Any]
    thread: str
    created_at: int | None  # milliseconds; None: now
    updated_at: int | None
    expires_at: int | None
    deleted_at: int | None
    version: int | None  # None: it comes from a program that counts none
    boundary: str


class MemoImportOutcome(TypedDict):
    outcome: Literal["saved", "changed", "unchanged", "kept", "skipped"]
    why: NotRequired[str]


class MemoImportResult(TypedDict):
    memos: list[MemoImportOutcome]
    relations: list[MemoImportOutcome]


@dataclass(slots=True)
class _MemoImportPlan:
    memos: list[MergeOutcome[Memo]] = field(default_factory=list[MergeOutcome[Memo]])
    relations: list[MergeOutcome[bonds.RelationRow]] = field(default_factory=list[MergeOutcome[bonds.RelationRow]])

    @property
    def has_writes(self) -> bool:
        return any(fate.result is not None for fate in (*self.memos, *self.relations))


def import_memos(
    desk: Desk,
    memos: list[ImportedMemo],
    relations: list[bonds.ImportedRelation],
    dry_run: bool = False,
    coming: list[str] | None = None,
) -> MemoImportResult:
    """Memos and relations as they were elsewhere. What is here and newer stays as it is. With `dry_run` nothing is
    written; `coming` names the memos that a real run would have saved before."""
    plan = _plan_import(desk, desk, memos, relations, frozenset(coming or ()))
    if plan.has_writes and not dry_run:
        with desk.write() as tx:
            plan = _plan_import(tx, desk, memos, relations, frozenset(), tx)
    return {
        "memos": [_to_outcome(fate) for fate in plan.memos],
        "relations": [_to_outcome(fate) for fate in plan.relations],
    }


def _plan_import(
    rows: Rows,
    desk: Desk,
    memos: Sequence[ImportedMemo],
    relations: Sequence[bonds.ImportedRelation],
    coming: frozenset[str],
    tx: Tx | None = None,
) -> _MemoImportPlan:
    """What becomes of each; written as well if there is a transaction to write in."""
    plan, at = _MemoImportPlan(), now()
    stored = _fetch_stored(rows, [each["memo_id"] for each in memos], lock=tx is not None)
    for carried in memos:
        fate = merge_memo(carried, stored.get(carried["memo_id"]), desk.principal, at)
        plan.memos.append(fate)
        if fate.result is not None:
            stored[fate.result.id] = fate.result  # the same memo may come again in this very call
            if tx is not None:
                _write_memo(tx, fate.result, at)
    ends = _fetch_stored(rows, [end for each in relations for end in (each["source"], each["target"])])
    plan.relations = bonds.import_relations(rows, desk.principal, relations, {**ends, **stored}, coming, at, tx)
    return plan


def _fetch_stored(rows: Rows, ids: Sequence[str], *, lock: bool = False) -> dict[str, Memo]:
    """What the store holds of these, whatever its state: the trash too."""
    found: dict[str, Memo] = {}
    wanted = sorted({each for each in ids if "\0" not in each})  # in one order: two imports at once must not deadlock
    for start in range(0, len(wanted), _AT_ONCE):
        names = {f"id{number}": each for number, each in enumerate(wanted[start : start + _AT_ONCE])}
        listed = ", ".join(f":{name}" for name in names)
        sql = f"select {COLUMNS} from memo where id in ({listed}) and {{visible}} order by id"  # noqa: S608 - parameters
        found |= {memo.id: memo for memo in map(to_memo, rows.rows(sql + (" {for_update}" if lock else ""), **names))}
    return found


def _write_memo(tx: Tx, memo: Memo, at: int) -> None:
    row: Mapping[str, Any] = {
        "id": memo.id, "space": memo.space, "label": memo.label, "title": memo.title, "content": memo.content,
        "metadata": encode_metadata(memo.metadata), "thread": memo.thread, "created_at": memo.created_at,
        "updated_at": memo.updated_at, "expires_at": memo.expires_at, "deleted_at": memo.deleted_at,
        "revision": memo.revision,
    }  # fmt: skip
    tx.run(_PUT, **row)
    if memo.deleted_at is None and (memo.expires_at is None or memo.expires_at > at):
        tx.put(to_document(memo))
    else:
        tx.drop(memo.address)


_PUT = f"""insert into memo ({COLUMNS})
values (:id, :space, :label, :title, :content, :metadata, :thread, :created_at, :updated_at, :expires_at, :deleted_at,
    :revision)
on conflict (id) do update set label = excluded.label, title = excluded.title, content = excluded.content,
    metadata = excluded.metadata, thread = excluded.thread, created_at = excluded.created_at,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at, deleted_at = excluded.deleted_at,
    revision = excluded.revision"""  # noqa: S608 - the columns are our own


def _to_outcome(fate: MergeOutcome[Any]) -> MemoImportOutcome:
    return {"outcome": fate.outcome, "why": fate.why} if fate.why else {"outcome": fate.outcome}
