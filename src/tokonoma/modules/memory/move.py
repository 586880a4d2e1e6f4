"""memory.move: memos into another namespace, with their history; and where their relations then lie.

A relation holds while both of its memos lie in its namespace or below it. One that would no longer hold goes to the
nearest namespace that is common to both memos. None is lost: where that place is taken, the next one above is taken.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Classification, Desk, Rows, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, is_inside, resolve_namespace
from tokonoma.modules.memory import model
from tokonoma.modules.memory.model import Memo, RelationRow, Version, to_row
from tokonoma.modules.memory.read import fetch_memos
from tokonoma.modules.memory.tables import COLUMNS, PUT_RELATION, RELATION_COLUMNS, bind_ids
from tokonoma.modules.memory.versions import check_version, write_version

MAX_MOVED = 100
_SAME = "space = :space and source = :source and target = :target and tag = :tag and {everyone}"
_FOLLOW = (
    "update memo_version set space = :space, label = :label where id = :id and revision = :revision and {everyone}"
)

MovedId = Annotated[str, Field(max_length=100)]


class MovedMemo(TypedDict):
    memo_id: Opaque
    namespace: str
    version: int


class MovedRelation(TypedDict):
    sourceMemoId: Opaque
    targetMemoId: Opaque
    tag: str
    namespace: str


class MovedRelations(TypedDict):
    kept: int
    moved: list[MovedRelation]


class MovedMemos(TypedDict):
    items: list[MovedMemo]
    relations: MovedRelations


def move_memos(
    desk: Desk,
    memo_ids: Annotated[list[MovedId], Field(min_length=1, max_length=MAX_MOVED)],
    to: Annotated[str, Field(max_length=500, description="namespace")],
    expected_version: Version = None,
) -> MovedMemos:
    """Move memos into another namespace, all or none, with their history; also from the trash. `relations.moved` lists
    the relations whose namespace changed, because it would not contain both memos any more."""
    if expected_version is not None and len(memo_ids) > 1:
        raise Invalid("expected_version works with one memo only.", field="expected_version")
    namespace = resolve_namespace(to, desk.principal)
    with desk.write() as tx:
        found = fetch_memos(tx, memo_ids, lock=True)
        for memo_id in memo_ids:
            if memo_id not in found:
                raise Missing(f"Memo {memo_id!r} not found. Nothing was moved.", memo_id=memo_id)
            check_version(found[memo_id], expected_version, "Nothing was moved.")
        # A memo that is there already gets no new version.
        moved = {
            each.id: _move_memo(desk, tx, each, namespace) for each in found.values() if each.namespace != namespace
        }
        touched = fetch_relations(tx, moved)
        ends = fetch_namespaces(tx, touched)
        lifted = [each for each in touched if not _holds(each, each.namespace, ends)]
        places = [_lift_relation(tx, each, ends, desk.principal.root) for each in lifted]
    kept = [each for each in touched if each not in lifted]
    return {
        "items": [_to_moved(moved.get(each, found[each]), desk) for each in dict.fromkeys(memo_ids)],
        "relations": {
            "kept": len(select_visible(desk, kept)),
            "moved": [_to_moved_relation(each, desk) for each in select_visible(desk, places)],
        },
    }


def select_visible(desk: Desk, relations: Sequence[RelationRow]) -> list[RelationRow]:
    """What this caller may not see goes along, but is not in the answer."""
    sees, root = desk.call.granted_view.classifications, desk.principal.root
    return [each for each in relations if each.classification in sees and is_inside(each.namespace, root)]


def _move_memo(desk: Desk, tx: Tx, old: Memo, namespace: str) -> Memo:
    at = max(desk.now(), old.updated_at)
    memo = write_version(tx, desk, old, replace(old, namespace=namespace, updated_at=at), "moved")
    if memo.deleted_at is None:
        tx.put(model.to_document(memo), same_text=True)
    else:
        label = _classify(tx, memo)
        tx.run("update memo set label = :label where id = :id and {everyone}", id=memo.id, label=label)
    # The place decides the class of earlier versions, too.
    sql = f"select {COLUMNS} from memo_version where id = :id and {{everyone}}"  # noqa: S608 - our own columns
    earlier = (replace(model.to_memo(row), namespace=namespace) for row in tx.rows(sql, id=memo.id))
    rows = [
        {"id": each.id, "revision": each.revision, "space": namespace, "label": _classify(tx, each)} for each in earlier
    ]
    tx.run_many(_FOLLOW, rows)
    return memo


def _classify(tx: Tx, memo: Memo) -> Classification:
    facts = (
        f"{key}: {value}" if isinstance(value, str) else key
        for key, value in model.build_facts(memo.metadata, memo.date)
    )
    texts = memo.content, memo.title, memo.thread, memo.namespace
    return tx.classify(memo.classification, memo.namespace, *texts, *facts)


def find_common_namespace(one: str, other: str) -> str:
    """The nearest one that contains both."""
    shared = one
    while not is_inside(other, shared):
        shared = find_parent(shared)
    return shared


def find_parent(namespace: str) -> str:
    return namespace.rpartition("/")[0] or "/"


def fetch_relations(rows: Rows, ids: Collection[str]) -> list[RelationRow]:
    """All relations of these memos, also those that the caller may not see: none of them may stop to hold."""
    if not ids:
        return []
    listed, params = bind_ids(sorted(ids))
    found = rows.rows(
        f"""select {RELATION_COLUMNS} from memo_relation where {{everyone}}
        and (source in ({listed}) or target in ({listed})) order by space, source, target, tag {{for_update}}""",  # noqa: S608
        **params,
    )
    return [RelationRow(*row) for row in found]


def fetch_namespaces(rows: Rows, relations: Sequence[RelationRow]) -> dict[str, str]:
    """Where the memos at the ends of these relations lie."""
    ids = sorted({end for each in relations for end in (each.source, each.target)})
    found: dict[str, str] = {}
    for start in range(0, len(ids), 500):
        listed, params = bind_ids(ids[start : start + 500])
        found |= dict(rows.rows(f"select id, space from memo where id in ({listed}) and {{everyone}}", **params))  # noqa: S608
    return found


def _holds(relation: RelationRow, namespace: str, ends: dict[str, str]) -> bool:
    return all(is_inside(ends[end], namespace) for end in (relation.source, relation.target))


def _lift_relation(tx: Tx, relation: RelationRow, ends: dict[str, str], root: str) -> RelationRow:
    space = find_common_namespace(ends[relation.source], ends[relation.target])
    key = {"source": relation.source, "target": relation.target, "tag": relation.tag}
    while tx.row(f"select 1 from memo_relation where {_SAME}", space=space, **key) is not None:  # noqa: S608 - our own
        if space in (root, "/"):
            raise Conflict(
                f"Both memos already have another relation {relation.tag!r} in {space}. Delete one. Nothing was moved.",
                sourceMemoId=relation.source,
                targetMemoId=relation.target,
                tag=relation.tag,
            )
        space = find_parent(space)
    label = tx.classify(relation.classification, space, relation.reason, relation.tag)
    moved = replace(relation, namespace=space, classification=label)
    tx.run(f"delete from memo_relation where {_SAME}", space=relation.namespace, **key)  # noqa: S608 - our own
    tx.run(PUT_RELATION, **to_row(moved))
    return moved


def _to_moved(memo: Memo, desk: Desk) -> MovedMemo:
    namespace = format_namespace(memo.namespace, desk.principal)
    return {"memo_id": memo.id, "namespace": namespace, "version": memo.revision}


def _to_moved_relation(relation: RelationRow, desk: Desk) -> MovedRelation:
    return {
        "sourceMemoId": relation.source,
        "targetMemoId": relation.target,
        "tag": relation.tag,
        "namespace": format_namespace(relation.namespace, desk.principal),
    }
