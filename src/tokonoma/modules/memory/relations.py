"""memory.relation.save, .delete, .list: tagged, weighted links between memos of one namespace."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Row, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.modules.memory.memo import Memo
from tokonoma.modules.memory.read import PageCursor
from tokonoma.modules.memory.save import Namespace, Version, require_memo
from tokonoma.modules.memory.tables import ALIVE

Tag = Annotated[str, Field(min_length=1, max_length=64, description="what kind of relation, such as causes")]
Weight = Annotated[float | None, Field(ge=0, le=1, description="how sure, 0.00 to 1.00; 1.00 for a new one")]
Reason = Annotated[str | None, Field(max_length=10_000)]

COLUMNS = "space, source, target, tag, weight, reason, created_at, updated_at, revision"
BOTH_ALIVE = f"""source in (select id from memo where {ALIVE} and {{visible}})
    and target in (select id from memo where {ALIVE} and {{visible}})"""  # noqa: S608 - our own text


class MemoRelation(TypedDict):
    namespace: str
    sourceMemoId: Opaque
    targetMemoId: Opaque
    tag: str
    weight: float
    reason: NotRequired[str]
    created_at: Opaque
    updated_at: Opaque
    version: int


class RelatedMemo(TypedDict):
    memo_id: Opaque
    namespace: str
    title: NotRequired[str]
    content: str


class DeletedRelation(TypedDict):
    deleted: bool
    relation: MemoRelation


class RelationList(TypedDict):
    edges: list[MemoRelation]
    nodes: list[RelatedMemo]
    has_more: bool
    next_cursor: NotRequired[str]


def relation_save(
    desk: Desk,
    sourceMemoId: str,
    targetMemoId: str,
    tag: Tag,
    namespace: Namespace = None,
    weight: Weight = None,
    reason: Reason = None,
    expected_version: Version = None,
) -> MemoRelation:
    """Relate two memos, or change the relation that they have under this tag. Both lie in the relation's namespace or
    below it."""
    if sourceMemoId == targetMemoId:
        raise Invalid("A memo cannot be related to itself.", field="targetMemoId")
    space = spaces.resolve_namespace(namespace, desk.principal)
    rounded = None if weight is None else round(weight, 2)
    with desk.write() as tx:
        ends = [require_memo(desk, tx, memo, None) for memo in (sourceMemoId, targetMemoId)]
        _require_inside(space, ends)
        old = _fetch_relation(tx, space, sourceMemoId, targetMemoId, tag, lock=True)
        if expected_version is not None and expected_version != (old[8] if old else 0):
            raise Conflict(
                f"The relation is at version {old[8] if old else 0}, not {expected_version}. Nothing was changed.",
                current_version=old[8] if old else 0,
            )
        if old is None or _differs(old, rounded, reason):
            _upsert_relation(tx, space, ends, tag, rounded, reason, old)
        row = _fetch_relation(tx, space, sourceMemoId, targetMemoId, tag)
    assert row is not None
    return to_relation(row, desk)


def relation_delete(
    desk: Desk,
    sourceMemoId: str,
    targetMemoId: str,
    tag: Tag,
    namespace: Namespace = None,
) -> DeletedRelation:
    """Delete one relation; the answer holds what it was."""
    space = spaces.resolve_namespace(namespace, desk.principal)
    with desk.write() as tx:
        row = _fetch_relation(tx, space, sourceMemoId, targetMemoId, tag, lock=True)
        if row is None:
            raise Missing(
                "There is no such relation here.", sourceMemoId=sourceMemoId, targetMemoId=targetMemoId, tag=tag
            )
        tx.run(
            """delete from memo_relation where space = :space and source = :source and target = :target and tag = :tag
            and {visible}""",
            space=space,
            source=sourceMemoId,
            target=targetMemoId,
            tag=tag,
        )
    return {"deleted": True, "relation": to_relation(row, desk)}


def relation_list(
    desk: Desk,
    namespace: Namespace = None,
    sourceMemoId: Annotated[str | None, Field(description="only from this memo")] = None,
    targetMemoId: Annotated[str | None, Field(description="only to this memo")] = None,
    tag: Annotated[str | None, Field(max_length=64)] = None,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    cursor: PageCursor = None,
) -> RelationList:
    """Relations of a namespace and those below it, as edges and the memos that they join."""
    last = cursors.decode("relations", cursor) if cursor else ["", "", "", ""]
    space = spaces.resolve_namespace(namespace, desk.principal)
    rows = desk.rows(
        f"""select {COLUMNS} from memo_relation r where {{visible:r}} and {BOTH_ALIVE}
            and (:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)
            and (:source = '' or source = :source) and (:target = '' or target = :target) and (:tag = '' or tag = :tag)
            and (space, source, target, tag) > (:last_space, :last_source, :last_target, :last_tag)
        order by space, source, target, tag limit :most""",  # noqa: S608 - the columns are our own
        space=space,
        below=f"{space}/",
        length=len(space) + 1,
        source=sourceMemoId or "",
        target=targetMemoId or "",
        tag=tag or "",
        now=now(),
        last_space=last[0],
        last_source=last[1],
        last_target=last[2],
        last_tag=last[3],
        most=limit + 1,
    )
    shown_rows = rows[:limit]
    told: RelationList = {
        "edges": [to_relation(row, desk) for row in shown_rows],
        "nodes": fetch_related_memos(desk, {end for row in shown_rows for end in (row[1], row[2])}),
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        told["next_cursor"] = cursors.encode("relations", *shown_rows[-1][:4])
    return told


def to_relation(row: Row, desk: Desk) -> MemoRelation:
    space, source, target, tag, weight, reason, created_at, updated_at, revision = row[:9]
    told: MemoRelation = {
        "namespace": spaces.format_namespace(space, desk.principal),
        "sourceMemoId": source,
        "targetMemoId": target,
        "tag": tag,
        "weight": weight,
        "created_at": format_time(created_at),
        "updated_at": format_time(updated_at),
        "version": revision,
    }
    if reason:
        told["reason"] = reason
    return told


def fetch_related_memos(desk: Desk, ids: set[str]) -> list[RelatedMemo]:
    """The memos at the ends of edges, in order of id, with the start of their content."""
    if not ids:
        return []
    names = {f"id{number}": memo_id for number, memo_id in enumerate(sorted(ids))}
    rows = desk.rows(
        f"""select id, space, title, substr(content, 1, 200) from memo
        where id in ({", ".join(f":{name}" for name in names)}) and {ALIVE} and {{visible}} order by id""",  # noqa: S608
        now=now(),
        **names,
    )
    return [_to_related_memo(row, desk) for row in rows]


def _to_related_memo(row: Row, desk: Desk) -> RelatedMemo:
    memo_id, space, title, content = row
    told: RelatedMemo = {
        "memo_id": memo_id,
        "namespace": spaces.format_namespace(space, desk.principal),
        "content": content,
    }
    if title:
        told["title"] = title
    return told


def _fetch_relation(tx: Tx, space: str, source: str, target: str, tag: str, *, lock: bool = False) -> Row | None:
    return tx.row(
        f"""select {COLUMNS} from memo_relation where space = :space and source = :source and target = :target
        and tag = :tag and {{visible}} {"{for_update}" if lock else ""}""",  # noqa: S608 - the columns are our own
        space=space,
        source=source,
        target=target,
        tag=tag,
    )


def _differs(old: Row, weight: float | None, reason: str | None) -> bool:
    return (weight is not None and weight != old[4]) or (reason is not None and reason != old[5])


def _upsert_relation(
    tx: Tx, space: str, ends: list[Memo], tag: str, weight: float | None, reason: str | None, old: Row | None
) -> None:
    """A new relation counts fully unless told otherwise; a changed one keeps what was not named."""
    at = now()
    tx.run(
        """insert into memo_relation
            (space, source, target, tag, label, weight, reason, created_at, updated_at, revision)
        values (:space, :source, :target, :tag, :label, :weight, :reason, :at, :at, 1)
        on conflict (space, source, target, tag) do update set label = excluded.label, weight = excluded.weight,
            reason = excluded.reason, updated_at = excluded.updated_at, revision = memo_relation.revision + 1""",
        space=space,
        source=ends[0].id,
        target=ends[1].id,
        tag=tag,
        label=tx.classify(_find_strictest(ends), space, reason if reason is not None else (old[5] if old else ""), tag),
        weight=weight if weight is not None else old[4] if old else 1.0,
        reason=reason if reason is not None else old[5] if old else "",
        at=at,
    )


def _find_strictest(ends: list[Memo]) -> Classification:
    return CLASSIFICATIONS[max(CLASSIFICATIONS.index(memo.label) for memo in ends)]


def _require_inside(space: str, ends: list[Memo]) -> None:
    for memo in ends:
        if not spaces.is_inside(memo.space, space):
            raise Missing(f"There is no memo {memo.id!r} in the relation's namespace.", memo_id=memo.id)
