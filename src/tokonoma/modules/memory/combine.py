"""memory.merge: several memos become one. The others go to the trash, from where memory.restore brings them back."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import CLASSIFICATIONS, Desk, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import is_inside
from tokonoma.core.normalize import normalize
from tokonoma.modules.memory import model
from tokonoma.modules.memory.marks import describe_memos
from tokonoma.modules.memory.merge import IMPORT_MARKS
from tokonoma.modules.memory.model import Memo, MemoSummary, Metadata, RelationRow, Version
from tokonoma.modules.memory.move import fetch_namespaces, fetch_relations, find_common_namespace, select_visible
from tokonoma.modules.memory.read import fetch_memos, require_memo
from tokonoma.modules.memory.save import check_content
from tokonoma.modules.memory.supersede import find_circle
from tokonoma.modules.memory.tables import ALIVE, PUT_RELATION
from tokonoma.modules.memory.versions import check_version, write_version

MAX_MERGED = 50
_MADE = """delete from memo_relation where {everyone:memo_relation}
and source = :source and target = :target and tag = :tag and created_at = :at and revision = 1 and not exists (
    select 1 from memo_relation r join memo m on m.id = r.{end} where {everyone:r} and {everyone:m}
    and r.{other} = :{other} and r.tag = :tag and m.id <> :restored and m.change = 'merged' and m.detail = :kept
    and m.deleted_at is not null
)"""


class MetadataConflict(TypedDict):
    key: str
    memo_id: Opaque


class MergedInto(TypedDict):
    memo_id: Opaque
    version: int


class MergedRelations(TypedDict):
    moved: int
    duplicates: int
    loops: int


class MergedMemo(MemoSummary):
    merged: list[MergedInto]
    conflicts: NotRequired[list[MetadataConflict]]
    relations: MergedRelations


class _RelationCopies(NamedTuple):
    made: list[RelationRow]
    duplicates: list[RelationRow]
    loops: list[RelationRow]


def merge_memos(
    desk: Desk,
    keep: Annotated[str, Field(description="memo_id that stays")],
    merge: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Field(min_length=1, max_length=MAX_MERGED, description="memo_ids that go to the trash"),
    ],
    content: Annotated[str | None, Field(description="of the merged memo; default: that of `keep`")] = None,
    join: Annotated[bool, Field(description="append the other contents instead")] = False,
    expected_version: Version = None,
) -> MergedMemo:
    """Merge memos into one, with their metadata and relations. Where metadata differs, `keep` wins and `conflicts`
    names the key. memory.restore undoes it: each merged memo, and `version` of the kept one."""
    if keep in merge:
        raise Invalid("A memo cannot be merged into itself.", field="merge")
    if content is not None:
        check_content(content)
        if join:
            raise Invalid("Give content or join, not both.", fields=["content", "join"])
    merge, at = list(dict.fromkeys(merge)), desk.now()
    with desk.write() as tx:
        found = fetch_memos(tx, [keep, *merge], ALIVE, lock=True, now=at)
        for memo_id in (keep, *merge):
            if memo_id not in found:
                raise Missing(f"Memo {memo_id!r} not found. Nothing was merged.", memo_id=memo_id)
        kept, others = found[keep], [found[each] for each in merge]
        check_version(kept, expected_version, "Nothing was merged.")
        joined, conflicts = _join_metadata(kept, others)
        text = content if content is not None else _join_texts(kept, others) if join else kept.content
        check_content(text)
        strictest = max(CLASSIFICATIONS.index(each.classification) for each in found.values())
        new = replace(
            kept,
            content=text,
            metadata=joined,
            classification=CLASSIFICATIONS[strictest],
            supersedes=_join_superseded(tx, kept, others),
            updated_at=max(at, kept.updated_at),
        )
        new = write_version(tx, desk, kept, new, "merged", " ".join(merge))
        new = replace(new, classification=tx.put(model.to_document(new), same_text=text == kept.content))
        gone = [write_version(tx, desk, each, replace(each, deleted_at=at), "merged", keep) for each in others]
        for each in gone:
            tx.drop(each.address)
        copies = _copy_relations(tx, new, set(merge), at)
    moved, duplicates, loops = (len(select_visible(desk, part)) for part in copies)
    merged: MergedMemo = {
        **describe_memos(desk, [require_memo(desk, desk, keep)])[0],  # as the caller may see it
        "merged": [{"memo_id": each.id, "version": each.revision} for each in gone],
        "relations": {"moved": moved, "duplicates": duplicates, "loops": loops},
    }
    if conflicts:
        merged["conflicts"] = conflicts
    return merged


def _join_texts(kept: Memo, others: Sequence[Memo]) -> str:
    """The contents one after another, without those that are already contained."""
    text = kept.content
    for each in others:
        if normalize(each.content) not in normalize(text):
            text = f"{text}\n\n{each.content}"
    return text


def _join_metadata(kept: Memo, others: Sequence[Memo]) -> tuple[Metadata, list[MetadataConflict]]:
    joined, conflicts = kept.metadata, list[MetadataConflict]()
    for each in others:
        own = {key: value for key, value in each.metadata.items() if key not in IMPORT_MARKS}
        differing: list[str] = []
        joined = join_values(joined, own, "", differing)
        conflicts += [MetadataConflict(key=key, memo_id=each.id) for key in differing]
    return joined, conflicts


def _join_superseded(tx: Tx, kept: Memo, others: Sequence[Memo]) -> tuple[str, ...]:
    """What all of them replace, without themselves."""
    merged = {kept.id, *(each.id for each in others)}
    found = [each for memo in others for each in memo.supersedes if each not in merged]
    return tuple(dict.fromkeys((*kept.supersedes, *(each for each in found if not find_circle(tx, kept.id, [each])))))


def join_values(kept: Metadata, other: Metadata, prefix: str, differing: list[str]) -> Metadata:
    """Both together: what only one has, objects key by key, lists without repetition. Of other values that differ the
    first one stays, and its key is added to `differing`."""
    joined = dict(kept)
    for key, value in other.items():
        if key not in joined:
            joined[key] = value
            continue
        own = joined[key]
        if isinstance(own, dict) and isinstance(value, dict):
            joined[key] = join_values(cast("Metadata", own), cast("Metadata", value), f"{prefix}{key}.", differing)
        elif isinstance(own, list) and isinstance(value, list):
            known = {_to_json(each) for each in cast("list[Any]", own)}
            joined[key] = [*own, *(each for each in cast("list[Any]", value) if _to_json(each) not in known)]
        elif _to_json(own) != _to_json(value):
            differing.append(f"{prefix}{key}")
    return joined


def _to_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)  # for Python 1, 1.0 and true are equal


def _copy_relations(tx: Tx, kept: Memo, merged: set[str], at: int) -> _RelationCopies:
    """The kept memo gets the relations of the others. They keep their own, too, for when they are restored."""
    found = fetch_relations(tx, {kept.id, *merged})
    ends = fetch_namespaces(tx, found)
    known = {(each.source, each.target, each.tag) for each in found}
    copies = _RelationCopies([], [], [])
    for each in found:
        source, target = (kept.id if end in merged else end for end in (each.source, each.target))
        if (source, target) == (each.source, each.target):
            continue
        if source == target:
            copies.loops.append(each)
        elif (source, target, each.tag) in known:
            copies.duplicates.append(each)
        else:
            known.add((source, target, each.tag))
            space = each.namespace
            if not is_inside(kept.namespace, space):
                space = find_common_namespace(kept.namespace, ends[target if source == kept.id else source])
            strictest = max(map(CLASSIFICATIONS.index, (each.classification, kept.classification)))
            label = tx.classify(CLASSIFICATIONS[strictest], space, each.reason, each.tag)
            new = {"namespace": space, "source": source, "target": target, "classification": label}
            copies.made.append(replace(each, **new, created_at=at, updated_at=at, revision=1))
            tx.run(PUT_RELATION, **model.to_row(copies.made[-1]))
    return copies


def undo_relations(tx: Tx, memo: Memo) -> None:
    """Before a merged memo is restored: the memo that was kept loses the relations that it got from it, except those
    that were changed since, and those that it got from another merged memo as well."""
    for each in fetch_relations(tx, {memo.id}):
        end, other = ("source", "target") if each.source == memo.id else ("target", "source")
        ends = {end: memo.detail, other: getattr(each, other)}
        tx.run(
            _MADE.replace("{end}", end).replace("{other}", other),
            **ends,
            tag=each.tag,
            at=memo.version_at,
            restored=memo.id,
            kept=memo.detail,
        )
