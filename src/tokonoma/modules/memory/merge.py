"""What becomes of a memo that comes from elsewhere, seen beside the one that is here. Pure.

Nothing that was changed here is lost to an import: the newer one wins, and where that cannot be told, what is here
stays and the import says so.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from tokonoma.core import namespaces as spaces
from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.errors import Invalid
from tokonoma.modules.memory.memo import Memo
from tokonoma.modules.memory.metadata import Metadata, encode_metadata
from tokonoma.modules.memory.save import LATEST, check_content

Outcome = Literal["saved", "changed", "unchanged", "kept", "skipped"]
T = TypeVar("T")

DIGEST_KEY = "imported_digest"
_MARKS = frozenset({"imported_from", "imported_id", DIGEST_KEY})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LENGTHS = {"title": 500, "thread": 200, "namespace": 500}


@dataclass(frozen=True, slots=True)
class MergeOutcome(Generic[T]):
    """`kept`: what is here stays as it is. `skipped`: what came cannot be stored. `result` is what to write."""

    outcome: Outcome
    why: str = ""
    result: T | None = None


def merge_memo(carried: Mapping[str, Any], stored: Memo | None, who: Principal, at: int) -> MergeOutcome[Memo]:
    try:
        new = _build_memo(carried, who, at)
    except Invalid as error:
        return MergeOutcome("skipped", error.message)
    if stored is None:
        return MergeOutcome("saved", result=new)
    if stored.space != new.space:
        return MergeOutcome(
            "kept", f"It is already here, in the namespace {spaces.format_namespace(stored.space, who)}."
        )
    return _merge_foreign(new, stored, at) if carried["version"] is None else _merge_own(new, stored, at)


def _merge_own(new: Memo, stored: Memo, at: int) -> MergeOutcome[Memo]:
    """Of our own export: versions tell which is newer."""
    if _to_comparable(new) == _to_comparable(stored):
        return MergeOutcome("unchanged")
    if new.revision > stored.revision:
        return MergeOutcome("changed", result=new)
    if new.revision < stored.revision:
        return MergeOutcome("kept", f"It is newer here: version {stored.revision}, and {new.revision} came.")
    if new.updated_at != stored.updated_at:
        return MergeOutcome("kept", f"It was changed here and there since version {stored.revision - 1}.")
    # The same version of the same moment, and yet another text: somebody edited the exported file.
    return MergeOutcome(
        "changed", result=replace(new, revision=stored.revision + 1, updated_at=max(at, stored.updated_at))
    )


def _merge_foreign(new: Memo, stored: Memo, at: int) -> MergeOutcome[Memo]:
    """Of another program: the digest of what came last time tells on which side something has changed since."""
    if stored.deleted_at is not None:
        return MergeOutcome("kept", "It lies in the trash here.")
    theirs, ours, last = new.metadata[DIGEST_KEY], compute_digest(stored), stored.metadata.get(DIGEST_KEY)
    if theirs in (last, ours):
        return MergeOutcome("unchanged")
    if ours != last:
        return MergeOutcome("kept", "It was changed here and there since the last import.")
    moment = new.updated_at if stored.updated_at < new.updated_at <= at else max(at, stored.updated_at)
    kept = replace(new, label=stored.label, created_at=stored.created_at, updated_at=moment)
    return MergeOutcome("changed", result=replace(kept, revision=stored.revision + 1))


def compute_digest(memo: Memo) -> str:
    """Of everything that a person or an agent may have changed."""
    mine = {key: value for key, value in memo.metadata.items() if key not in _MARKS}
    said = _to_json([memo.title, memo.content, mine, memo.thread, memo.expires_at])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _to_comparable(memo: Memo) -> str:
    # As JSON: for Python 1, 1.0 and true are equal.
    return _to_json(
        [memo.title, memo.content, memo.metadata, memo.thread, memo.expires_at, memo.deleted_at, memo.label]
    )


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _build_memo(carried: Mapping[str, Any], who: Principal, at: int) -> Memo:
    """As it would be stored; Invalid says what is wrong with it."""
    _check_memo(carried)
    created = carried["created_at"] if carried["created_at"] is not None else carried["updated_at"]
    updated = carried["updated_at"] if carried["updated_at"] is not None else created
    memo = Memo(
        id=carried["memo_id"],
        space=spaces.resolve_namespace(carried["namespace"], who),
        label=next(label for label in CLASSIFICATIONS if label == carried["boundary"]),
        title=carried["title"],
        content=carried["content"],
        metadata=carried["metadata"],
        thread=carried["thread"],
        created_at=at if created is None else created,
        updated_at=at if updated is None else updated,
        expires_at=carried["expires_at"],
        deleted_at=carried["deleted_at"],
        revision=carried["version"] or 1,
    )
    if carried["version"] is None:
        marked: Metadata = {**memo.metadata, DIGEST_KEY: compute_digest(memo)}
        memo = replace(memo, metadata=marked)
    encode_metadata(memo.metadata)
    return memo


def _check_memo(carried: Mapping[str, Any]) -> None:
    if not _UUID.fullmatch(carried["memo_id"]):
        raise Invalid(f"{carried['memo_id'][:80]!r} is no id of a memo: that is a UUID in lower case.")
    check_content(carried["content"])
    for name, most in _LENGTHS.items():
        if len(carried[name]) > most:
            raise Invalid(f"{name} has more than {most} characters.")
    if carried["boundary"] not in CLASSIFICATIONS:
        raise Invalid(f"boundary is one of {', '.join(CLASSIFICATIONS)}.")
    if carried["version"] is not None and not 1 <= carried["version"] < 2**53:
        raise Invalid("version counts from 1.")
    for name in ("created_at", "updated_at", "expires_at", "deleted_at"):
        if carried[name] is not None and not 0 <= carried[name] <= LATEST:
            raise Invalid(f"{name} lies before 1970 or after 9999.")
