"""Relations that come from elsewhere, seen beside those that are here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.modules.memory.memo import Memo
from tokonoma.modules.memory.merge import MergeOutcome
from tokonoma.modules.memory.save import LATEST


class ImportedRelation(TypedDict):
    namespace: str
    source: str
    target: str
    tag: str
    weight: float
    reason: str
    created_at: int | None  # milliseconds; None: now
    updated_at: int | None
    version: int | None  # None: it comes from a program that counts none


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation as its row."""

    space: str
    source: str
    target: str
    tag: str
    label: Classification
    weight: float
    reason: str
    created_at: int
    updated_at: int
    revision: int


def import_relations(
    rows: Rows,
    who: Principal,
    relations: Sequence[ImportedRelation],
    ends: Mapping[str, Memo],
    coming: frozenset[str],
    at: int,
    tx: Tx | None,
) -> list[MergeOutcome[RelationRow]]:
    """What becomes of each; written as well if there is a transaction to write in."""
    fates: list[MergeOutcome[RelationRow]] = []
    for carried in relations:
        try:
            new = _build_relation(carried, who, ends, coming, at)
        except Invalid as error:
            fates.append(MergeOutcome("skipped", error.message))
            continue
        fate = _merge_relation(new, _fetch_stored(rows, new), at, foreign=carried["version"] is None)
        fates.append(fate)
        if tx is not None and fate.result is not None:
            tx.run(_PUT, **{each.name: getattr(fate.result, each.name) for each in fields(RelationRow)})
    return fates


def _merge_relation(
    new: RelationRow, stored: tuple[float, str, int, int] | None, at: int, *, foreign: bool
) -> MergeOutcome[RelationRow]:
    if stored is None:
        return MergeOutcome("saved", result=new)
    weight, reason, updated_at, revision = stored
    # Another program's links have no versions: one that is here was perhaps weighed here, and stays.
    if foreign or (new.weight, new.reason) == (weight, reason):
        return MergeOutcome("unchanged")
    if new.revision > revision:
        return MergeOutcome("changed", result=new)
    if new.revision < revision:
        return MergeOutcome("kept", f"It is newer here: version {revision}, and {new.revision} came.")
    if new.updated_at != updated_at:
        return MergeOutcome("kept", f"It was changed here and there since version {revision - 1}.")
    return MergeOutcome("changed", result=replace(new, revision=revision + 1, updated_at=max(at, updated_at)))


def _build_relation(
    carried: ImportedRelation, who: Principal, ends: Mapping[str, Memo], coming: frozenset[str], at: int
) -> RelationRow:
    """As it would be stored; Invalid says what is wrong with it."""
    _check_relation(carried)
    space = spaces.resolve_namespace(carried["namespace"], who)
    strictest = 0
    for end in (carried["source"], carried["target"]):
        memo = ends.get(end)
        if memo is None and end not in coming:
            raise Invalid(f"There is no memo {end[:80]!r} here.")
        if memo is not None and not spaces.is_inside(memo.space, space):
            raise Invalid(f"The memo {end!r} does not lie in the relation's namespace {carried['namespace']}.")
        strictest = max(strictest, CLASSIFICATIONS.index(memo.label if memo is not None else "internal"))
    created = carried["created_at"] if carried["created_at"] is not None else carried["updated_at"]
    updated = carried["updated_at"] if carried["updated_at"] is not None else created
    return RelationRow(
        space=space,
        source=carried["source"],
        target=carried["target"],
        tag=carried["tag"],
        label=CLASSIFICATIONS[strictest],
        weight=round(carried["weight"], 2),
        reason=carried["reason"],
        created_at=at if created is None else created,
        updated_at=at if updated is None else updated,
        revision=carried["version"] or 1,
    )


def _check_relation(carried: ImportedRelation) -> None:
    if carried["source"] == carried["target"]:
        raise Invalid("A memo cannot be related to itself.")
    if not 1 <= len(carried["tag"]) <= 64:
        raise Invalid("tag has 1 to 64 characters.")
    if not 0 <= carried["weight"] <= 1:
        raise Invalid("weight lies between 0.00 and 1.00.")
    if len(carried["reason"]) > 10_000:
        raise Invalid("reason has more than 10000 characters.")
    if carried["version"] is not None and not 1 <= carried["version"] < 2**53:
        raise Invalid("version counts from 1.")
    for moment in (carried["created_at"], carried["updated_at"]):
        if moment is not None and not 0 <= moment <= LATEST:
            raise Invalid("A time lies before 1970 or after 9999.")


def _fetch_stored(rows: Rows, bond: RelationRow) -> tuple[float, str, int, int] | None:
    row = rows.row(
        """select weight, reason, updated_at, revision from memo_relation
        where space = :space and source = :source and target = :target and tag = :tag and {visible}""",
        space=bond.space,
        source=bond.source,
        target=bond.target,
        tag=bond.tag,
    )
    return None if row is None else (row[0], row[1], row[2], row[3])


_PUT = """insert into memo_relation
    (space, source, target, tag, label, weight, reason, created_at, updated_at, revision)
values (:space, :source, :target, :tag, :label, :weight, :reason, :created_at, :updated_at, :revision)
on conflict (space, source, target, tag) do update set label = excluded.label, weight = excluded.weight,
    reason = excluded.reason, created_at = excluded.created_at, updated_at = excluded.updated_at,
    revision = excluded.revision"""
