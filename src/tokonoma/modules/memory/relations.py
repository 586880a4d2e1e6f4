"""memory.relation.save, .delete and .list: tagged, weighted links between memos of one namespace."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time
from tokonoma.core.desk import CLASSIFICATIONS, Desk, Rows, format_address
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, is_inside, resolve_namespace
from tokonoma.modules.memory.model import MODULE_NAME, Namespace, RelationRow, Version
from tokonoma.modules.memory.read import PageCursor, require_memo
from tokonoma.modules.memory.tables import ALIVE, INSIDE, RELATION_COLUMNS, bind_ids, bind_namespace, bind_range

Tag = Annotated[str, Field(min_length=1, max_length=64, description="kind of relation, such as causes")]
Weight = Annotated[
    float | None, Field(ge=0, le=1, description="confidence, 0.00 to 1.00; default for a new relation: 1.00")
]
Reason = Annotated[str | None, Field(max_length=10_000)]

_LISTED = 200  # characters of content
_CURSOR = ("last_space", "last_source", "last_target", "last_tag")
_KEY = "space = :space and source = :source and target = :target and tag = :tag and {visible}"
# A value and not `exists`: PostgreSQL would make a join of that, and begin it with all memos where it lacks statistics.
_IS_SHOWN = f"(select 1 from memo m where m.id = r.{{end}} and {ALIVE} and {{{{visible:m}}}}) is not null"  # noqa: S608
SOURCE_IS_SHOWN, TARGET_IS_SHOWN = (_IS_SHOWN.format(end=end) for end in ("source", "target"))
_ORDER = ", ".join(f"{column} {{by_code_point}}" for column in ("space", "source", "target", "tag"))
# Only what is asked for is in the statement: so each database chooses the index that fits.
_LIST_CONDITIONS = {
    "first": f"space {{by_code_point}} >= :first and space {{by_code_point}} < :beyond and {INSIDE}",
    "source": "source = :source",
    "target": "target = :target",
    "tag": "tag = :tag",
    "last_tag": f"({_ORDER}) > (:last_space, :last_source, :last_target, :last_tag)",
}
# A relation that was made at the same moment by another call counts as the version before.
_SAVE = f"""insert into memo_relation ({RELATION_COLUMNS})
values (:space, :source, :target, :tag, :label, :weight, :reason, :at, :at, 1)
on conflict (space, source, target, tag) do update set label = excluded.label, weight = excluded.weight,
    reason = excluded.reason, updated_at = excluded.updated_at, revision = memo_relation.revision + 1"""  # noqa: S608


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
    next_cursor: NotRequired[Opaque]


def save_relation(
    desk: Desk,
    sourceMemoId: str,
    targetMemoId: str,
    tag: Tag,
    namespace: Namespace = None,
    weight: Weight = None,
    reason: Reason = None,
    expected_version: Version = None,
) -> MemoRelation:
    """Create a relation between two memos, or change the one with this tag. Both memos must be in the relation's
    namespace or below it."""
    if sourceMemoId == targetMemoId:
        raise Invalid("A memo cannot be related to itself.", field="targetMemoId")
    who = desk.principal
    key = _build_key(who, namespace, sourceMemoId, targetMemoId, tag)
    with desk.write() as tx:
        ends = [require_memo(tx, desk, memo_id) for memo_id in (sourceMemoId, targetMemoId)]
        for memo in ends:
            if not is_inside(memo.namespace, key["space"]):
                raise Missing(f"Memo {memo.id!r} is not in the relation's namespace.", memo_id=memo.id)
        old = find_relation(tx, key, lock=True)
        version = old.revision if old else 0
        if expected_version is not None and expected_version != version:
            raise Conflict(
                f"The relation is at version {version}, not {expected_version}. Nothing was changed.",
                current_version=version,
            )
        # A new relation has full weight by default; a changed one keeps what is not given.
        weight = round(weight, 2) if weight is not None else old.weight if old else 1.0
        reason = reason if reason is not None else old.reason if old else ""
        if old is None or (weight, reason) != (old.weight, old.reason):
            strictest = max(CLASSIFICATIONS.index(memo.classification) for memo in ends)
            label = tx.classify(CLASSIFICATIONS[strictest], key["space"], reason, tag)
            tx.run(_SAVE, **key, label=label, weight=weight, reason=reason, at=desk.now())
        saved = find_relation(tx, key)
    assert saved is not None
    return to_relation(saved, desk)


def delete_relation(
    desk: Desk,
    sourceMemoId: str,
    targetMemoId: str,
    tag: Tag,
    namespace: Namespace = None,
) -> DeletedRelation:
    """Delete one relation; the answer contains it."""
    key = _build_key(desk.principal, namespace, sourceMemoId, targetMemoId, tag)
    with desk.write() as tx:
        relation = find_relation(tx, key, lock=True)
        if relation is None:
            raise Missing("Relation not found.", sourceMemoId=sourceMemoId, targetMemoId=targetMemoId, tag=tag)
        tx.run(f"delete from memo_relation where {_KEY}", **key)  # noqa: S608 - our own text
    return {"deleted": True, "relation": to_relation(relation, desk)}


def list_relations(
    desk: Desk,
    namespace: Namespace = None,
    sourceMemoId: Annotated[str | None, Field(description="only from this memo")] = None,
    targetMemoId: Annotated[str | None, Field(description="only to this memo")] = None,
    tag: Annotated[str | None, Field(max_length=64)] = None,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    cursor: PageCursor = None,
) -> RelationList:
    """List the relations of a namespace and those below it as edges, with the memos they connect as nodes."""
    inside = resolve_namespace(namespace, desk.principal)
    asked: dict[str, Any] = {"source": sourceMemoId, "target": targetMemoId, "tag": tag}
    asked = {name: value for name, value in asked.items() if value}
    if inside != "/":
        asked |= {**bind_range(inside), **bind_namespace(inside)}
    if cursor:
        asked |= zip(_CURSOR, desk.open_cursor("relations", cursor), strict=True)
    conditions = [condition for name, condition in _LIST_CONDITIONS.items() if name in asked]
    where = " and ".join(["{visible:r}", SOURCE_IS_SHOWN, TARGET_IS_SHOWN, *conditions])
    rows = desk.rows(
        f"select {RELATION_COLUMNS} from memo_relation r where {where} order by {_ORDER} limit :most",  # noqa: S608
        now=desk.now(),
        most=limit + 1,
        **asked,
    )
    relations = [RelationRow(*row) for row in rows[:limit]]
    page: RelationList = {
        "edges": [to_relation(each, desk) for each in relations],
        "nodes": fetch_related_memos(desk, {end for each in relations for end in (each.source, each.target)}),
        "has_more": len(rows) > limit,
    }
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor("relations", *rows[limit - 1][:4])
    return page


def find_relation(rows: Rows, key: dict[str, str], *, lock: bool = False) -> RelationRow | None:
    """`key` holds space, source, target and tag."""
    sql = f"select {RELATION_COLUMNS} from memo_relation where {_KEY}"  # noqa: S608 - the columns are our own
    row = rows.row(f"{sql} {{for_update}}" if lock else sql, **key)
    return RelationRow(*row) if row else None


def _build_key(who: Principal, namespace: str | None, source: str, target: str, tag: str) -> dict[str, str]:
    return {"space": resolve_namespace(namespace, who), "source": source, "target": target, "tag": tag}


def to_relation(relation: RelationRow, desk: Desk) -> MemoRelation:
    response: MemoRelation = {
        "namespace": format_namespace(relation.namespace, desk.principal),
        "sourceMemoId": relation.source,
        "targetMemoId": relation.target,
        "tag": relation.tag,
        "weight": relation.weight,
        "created_at": format_time(relation.created_at),
        "updated_at": format_time(relation.updated_at),
        "version": relation.revision,
    }
    if relation.reason:
        response["reason"] = relation.reason
        desk.cite(f"{relation.source} {relation.tag} {relation.target}", "")  # who gave a reason is not recorded
    return response


def fetch_related_memos(desk: Desk, ids: set[str]) -> list[RelatedMemo]:
    """The memos at the ends of edges, in order of id, with the start of their content."""
    if not ids:
        return []
    listed, params = bind_ids(sorted(ids))
    rows = desk.rows(
        f"""select id, space, title, content from memo
        where id in ({listed}) and {ALIVE} and {{visible}} order by id""",  # noqa: S608 - parameters
        now=desk.now(),
        **params,
    )
    memos: list[RelatedMemo] = []
    for memo_id, space, title, content in rows:
        start = content[:_LISTED]  # cut here: what this caller may not see was masked in the whole text
        desk.cite(format_address(MODULE_NAME, memo_id))
        memos.append({"memo_id": memo_id, "namespace": format_namespace(space, desk.principal), "content": start})
        if title:
            memos[-1]["title"] = title
    return memos
