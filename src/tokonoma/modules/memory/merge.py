"""Decides what becomes of an imported memo or relation beside the stored one. Pure.

An import never discards a change that was made here: the newer side wins, and where neither is newer, the stored one
stays and the import reports it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

from tokonoma.core.call import Principal
from tokonoma.core.clock import normalize_date
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import format_namespace, is_inside, resolve_namespace
from tokonoma.core.screen_import import ScreenedImport
from tokonoma.modules.memory.model import DATES, LATEST, Memo, RelationRow, encode_metadata
from tokonoma.modules.memory.save import check_content
from tokonoma.modules.memory.supersede import MAX_SUPERSEDED

Outcome = Literal["saved", "changed", "unchanged", "kept", "skipped"]
T = TypeVar("T", Memo, RelationRow)

# Of the fields that have another name outside.
FIELD_NAMES = {"memo_id": "id", "boundary": "classification", "version": "revision"}
DIGEST_KEY = "imported_digest"
IMPORT_MARKS = frozenset({"imported_from", "imported_id", DIGEST_KEY})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LENGTHS = {"title": 500, "thread": 200, "namespace": 500}


class PortableMemo(TypedDict):
    """A memo outside of the database. Times are milliseconds."""

    memo_id: str
    namespace: str
    title: str
    content: str
    metadata: dict[str, Any]
    thread: str
    created_at: int | None  # None: now
    updated_at: int | None
    expires_at: int | None
    deleted_at: int | None
    version: int | None  # None: it comes from a program that does not count versions
    boundary: str
    author: NotRequired[str]  # empty: nobody knows
    # Days or times as texts; missing, None or empty: not said.
    date: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]
    supersedes: NotRequired[list[str] | None]


class PortableRelation(TypedDict):
    namespace: str
    source: str
    target: str
    tag: str
    weight: float
    reason: str
    created_at: int | None
    updated_at: int | None
    version: int | None


@dataclass(frozen=True, slots=True)
class MergeOutcome(Generic[T]):
    """`kept`: the stored one stays. `skipped`: what came cannot be stored. `result` is what to write."""

    outcome: Outcome
    why: str = ""
    result: T | None = None
    note: str = ""  # what the policy has made of it

    def to_response(self) -> dict[str, str]:
        told = {"outcome": self.outcome, "why": self.why, "note": self.note}
        return {name: text for name, text in told.items() if text}


def merge_memo(given: PortableMemo, stored: Memo | None, who: Principal, at: int) -> MergeOutcome[Memo]:
    try:
        new = build_memo(given, who, at)
    except Invalid as error:
        return MergeOutcome("skipped", error.message)
    if stored is None:
        return MergeOutcome("saved", result=new)
    if stored.namespace != new.namespace:
        return MergeOutcome("kept", f"It already exists, in the namespace {format_namespace(stored.namespace, who)}.")
    if given["version"] is None:
        return _merge_foreign(new, stored, at)
    if _to_comparable(new) == _to_comparable(stored):
        return MergeOutcome("unchanged")
    return _merge_versions(new, stored, at)


def merge_relation(
    new: RelationRow, stored: RelationRow | None, at: int, *, foreign: bool
) -> MergeOutcome[RelationRow]:
    if stored is None:
        return MergeOutcome("saved", result=new)
    # Another program's relations have no versions: the stored one may have been changed here, and stays.
    if foreign or (new.weight, new.reason) == (stored.weight, stored.reason):
        return MergeOutcome("unchanged")
    return _merge_versions(new, stored, at)


def apply_screen(merged: MergeOutcome[T], screened: ScreenedImport) -> MergeOutcome[T]:
    """What the policy makes of a memo or a relation that would be written."""
    if merged.result is None:
        return merged
    if screened.refusal:
        return MergeOutcome("skipped", screened.refusal)
    result = replace(merged.result, classification="secret") if screened.sealed else merged.result
    return replace(merged, result=result, note=screened.note)


def build_relation(
    given: PortableRelation, who: Principal, ends: Mapping[str, Memo], coming: Collection[str], at: int
) -> RelationRow:
    """The row of an imported relation; Invalid says what is wrong with it. `coming`: memos that will be imported."""
    _check_relation(given)
    namespace = resolve_namespace(given["namespace"], who)
    strictest = 0
    for end in (given["source"], given["target"]):
        memo = ends.get(end)
        if memo is None and end not in coming:
            raise Invalid(f"Memo {end[:80]!r} not found.")
        if memo is not None and not is_inside(memo.namespace, namespace):
            raise Invalid(f"Memo {end!r} is not in the relation's namespace {given['namespace']}.")
        strictest = max(strictest, CLASSIFICATIONS.index(memo.classification if memo is not None else "internal"))
    values: dict[str, Any] = {**_read_fields(given, who, at), "weight": round(given["weight"], 2)}
    return RelationRow(**values, classification=CLASSIFICATIONS[strictest])


def _merge_versions(new: T, stored: T, at: int) -> MergeOutcome[T]:
    """Both come from this program and differ: the greater version is the newer one."""
    if new.revision > stored.revision:
        return MergeOutcome("changed", result=new)
    if new.revision < stored.revision:
        return MergeOutcome(
            "kept", f"The stored version {stored.revision} is newer than the imported version {new.revision}."
        )
    if new.updated_at != stored.updated_at:
        return MergeOutcome("kept", f"Both sides changed since version {stored.revision - 1}.")
    # The same version of the same moment with another text: the exported file was edited.
    edited = replace(new, revision=stored.revision + 1, updated_at=max(at, stored.updated_at))
    return MergeOutcome("changed", result=edited)


def _merge_foreign(new: Memo, stored: Memo, at: int) -> MergeOutcome[Memo]:
    """From another program: the digest of the last import tells on which side something has changed since."""
    if stored.deleted_at is not None:
        return MergeOutcome("kept", "It is in the trash.")
    theirs, ours, last = new.metadata[DIGEST_KEY], _compute_digest(stored), stored.metadata.get(DIGEST_KEY)
    if theirs in (last, ours):
        return MergeOutcome("unchanged")
    if ours != last:
        return MergeOutcome("kept", "Both sides changed since the last import.")
    moment = new.updated_at if stored.updated_at < new.updated_at <= at else max(at, stored.updated_at)
    result = replace(
        new,
        classification=stored.classification,
        created_at=stored.created_at,
        updated_at=moment,
        revision=stored.revision + 1,
    )
    return MergeOutcome("changed", result=result)


def _compute_digest(memo: Memo) -> str:
    """Over everything that a person or an agent may have changed."""
    own = {key: value for key, value in memo.metadata.items() if key not in IMPORT_MARKS}
    # What came with a later version of this program counts where it is said: digests of before stay as they are.
    text = _to_json([memo.title, memo.content, own, memo.thread, memo.expires_at, *_list_later(memo)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _to_comparable(memo: Memo) -> str:
    # As JSON: for Python 1, 1.0 and true are equal.
    texts = [memo.title, memo.content, memo.metadata, memo.thread]
    return _to_json([*texts, memo.expires_at, memo.deleted_at, memo.classification, *_list_later(memo)])


def _list_later(memo: Memo) -> list[Any]:
    said = {name: getattr(memo, name) for name in (*DATES, "supersedes")}
    return [[name, value] for name, value in said.items() if value]


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def build_memo(given: PortableMemo, who: Principal, at: int) -> Memo:
    """The memo as it would be stored; Invalid says what is wrong with it."""
    _check_memo(given)
    dates = {name: normalize_date(text) if (text := given.get(name)) else "" for name in DATES}
    replaced = tuple(dict.fromkeys(given.get("supersedes") or ()))
    values: dict[str, Any] = {**_read_fields(given, who, at), **dates, "supersedes": replaced}
    memo = Memo(**values)
    if given["version"] is None:
        memo = replace(memo, metadata={**memo.metadata, DIGEST_KEY: _compute_digest(memo)})
    encode_metadata(memo.metadata)
    return memo


def _read_fields(given: PortableMemo | PortableRelation, who: Principal, at: int) -> dict[str, Any]:
    """The fields of the row. created_at and updated_at stand in for each other, and `at` for both."""
    created = given["created_at"] if given["created_at"] is not None else given["updated_at"]
    updated = given["updated_at"] if given["updated_at"] is not None else created
    return {
        **{FIELD_NAMES.get(name, name): value for name, value in given.items() if name != "author"},
        "namespace": resolve_namespace(given["namespace"], who),
        "created_at": at if created is None else created,
        "updated_at": at if updated is None else updated,
        "revision": given["version"] or 1,
    }


def _check_memo(given: PortableMemo) -> None:
    if not _UUID.fullmatch(given["memo_id"]):
        raise Invalid(f"{given['memo_id'][:80]!r} is not a memo id. A memo id is a UUID in lower case.")
    check_content(given["content"])
    fields: dict[str, Any] = {**given}
    for name, most in _LENGTHS.items():
        if len(fields[name]) > most:
            raise Invalid(f"{name} has more than {most} characters.")
    if given["boundary"] not in CLASSIFICATIONS:
        raise Invalid(f"boundary must be one of {', '.join(CLASSIFICATIONS)}.")
    if given["version"] is not None and not 1 <= given["version"] < 2**53:
        raise Invalid("version must be 1 or greater.")
    for name in DATES:
        _check_date(name, fields.get(name))
    replaced = given.get("supersedes") or []
    if len(replaced) > MAX_SUPERSEDED or not all(map(_UUID.fullmatch, replaced)):
        raise Invalid(f"supersedes must be a list of up to {MAX_SUPERSEDED} memo ids.")
    for name in ("created_at", "updated_at", "expires_at", "deleted_at"):
        if fields[name] is not None and not 0 <= fields[name] <= LATEST:
            raise Invalid(f"{name} is before 1970 or after 9999.")


def _check_date(name: str, text: str | None) -> None:
    try:
        normalize_date(text or "1970-01-01")
    except ValueError:
        raise Invalid(f"{name} must be a day like 2027-01-31, or a time.") from None


def _check_relation(given: PortableRelation) -> None:
    if given["source"] == given["target"]:
        raise Invalid("A memo cannot be related to itself.")
    if not 1 <= len(given["tag"]) <= 64:
        raise Invalid("tag must have 1 to 64 characters.")
    if not 0 <= given["weight"] <= 1:
        raise Invalid("weight must be between 0.00 and 1.00.")
    if len(given["reason"]) > 10_000:
        raise Invalid("reason has more than 10000 characters.")
    if given["version"] is not None and not 1 <= given["version"] < 2**53:
        raise Invalid("version must be 1 or greater.")
    for moment in (given["created_at"], given["updated_at"]):
        if moment is not None and not 0 <= moment <= LATEST:
            raise Invalid("A time is before 1970 or after 9999.")
