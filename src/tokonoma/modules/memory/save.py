"""memory.save, memory.delete and memory.restore; and memory.purge for the owner's `tokonoma purge`."""

import difflib
import json
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import parse_time
from tokonoma.core.desk import Desk, Tx, format_address, parse_address
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.ids import uuid7
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.modules.memory import model
from tokonoma.modules.memory.model import Memo, MemoSummary, Namespace, Version
from tokonoma.modules.memory.read import fetch_memos, require_memo
from tokonoma.modules.memory.tables import PUT_MEMO

MAX_CONTENT_BYTES = 1024 * 1024
MAX_MEMOS = 1000
_DIFF_LINES = 12
_DAY = 86_400_000
_PURGE_PAGE = 500  # memos in one transaction: other writers wait no longer than that takes
_PURGEABLE = "(deleted_at <= :before or (expires_at is not null and expires_at <= :before)) and {visible}"

Content = Annotated[str, Field(description="what to remember, up to 1 MiB")]
Title = Annotated[str | None, Field(max_length=500)]
Thread = Annotated[
    str | None, Field(max_length=200, description="conversation or document it belongs to, in order of saving")
]
Mode = Annotated[Literal["merge", "replace"], Field(description="merge: null deletes a key")]
Seconds = Annotated[int | None, Field(ge=1, le=10**10, description="expires after this many seconds")]
Until = Annotated[str | None, Field(description="expires at this time (RFC 3339)")]


class NewMemo(TypedDict, total=False):
    content: Content
    namespace: Namespace
    title: Title
    metadata: dict[str, Any] | None
    metadata_mode: Mode
    memo_id: str | None
    expected_version: Version
    thread: Thread
    ttl_seconds: Seconds
    expires_at: Until


class SavedMemos(TypedDict, total=False):
    memo_id: str
    namespace: str
    title: str
    metadata: dict[str, Any]
    thread: str
    created_at: str
    updated_at: str
    expires_at: str
    version: int
    items: list[MemoSummary]


class DeletedMemo(TypedDict):
    deleted: bool
    memo_id: str
    version: int


def save_memos(
    desk: Desk,
    content: Annotated[str | None, Field(description="what to remember, up to 1 MiB; optional with memo_id")] = None,
    namespace: Namespace = None,
    title: Title = None,
    metadata: Annotated[
        dict[str, Any] | None,
        Field(description="anything to filter by, up to 64 KiB; `date`: when it happened, if not now"),
    ] = None,
    metadata_mode: Mode = "merge",
    memo_id: Annotated[str | None, Field(description="change this memo instead of creating one")] = None,
    expected_version: Version = None,
    thread: Thread = None,
    ttl_seconds: Seconds = None,
    expires_at: Until = None,
    memos: Annotated[
        list[NewMemo] | None, Field(min_length=1, max_length=MAX_MEMOS, description="save many at once, all or nothing")
    ] = None,
) -> SavedMemos:
    """Save a new memo or change one. Text search finds it at once, semantic search shortly after. With `memos`, each
    has the same fields, and the answer lists `items` in their order."""
    single = {
        "content": content, "title": title, "metadata": metadata, "memo_id": memo_id, "expires_at": expires_at,
        "expected_version": expected_version, "thread": thread, "ttl_seconds": ttl_seconds,
    }  # fmt: skip
    if memos is None:
        new = cast("NewMemo", {**single, "namespace": namespace, "metadata_mode": metadata_mode})
        with desk.write() as tx:
            memo = _save_memo(desk, tx, new)
        return cast("SavedMemos", model.to_summary(memo, desk))
    extra = [name for name, value in single.items() if value is not None]
    if extra:
        raise Invalid(f"With `memos`, put {', '.join(extra)} into each memo instead.", fields=extra)
    with desk.write() as tx:
        # Locked in order of id, not in the caller's order: two calls that share memos must not deadlock.
        fetch_memos(tx, [memo_id for new in memos if (memo_id := new.get("memo_id"))], lock=True)
        saved = [
            _save_memo(desk, tx, cast("NewMemo", {"namespace": namespace, **new}), f"memos[{number}].")
            for number, new in enumerate(memos)
        ]
    return {"items": [model.to_summary(memo, desk) for memo in saved]}


def delete_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    expected_version: Version = None,
) -> DeletedMemo:
    """Move a memo to the trash: no longer found, its relations hidden. memory.restore brings both back."""
    with desk.write() as tx:
        memo = require_memo(tx, desk, memo_id, namespace, lock=True)
        if expected_version is not None and expected_version != memo.revision:
            raise Conflict(
                f"The memo is at version {memo.revision}, not {expected_version}. Nothing was deleted.",
                memo_id=memo_id,
                current_version=memo.revision,
            )
        memo = replace(memo, deleted_at=desk.now(), revision=memo.revision + 1)
        tx.run(PUT_MEMO, **model.to_row(memo))
        tx.drop(memo.address)
    return {"deleted": True, "memo_id": memo_id, "version": memo.revision}


def forget_memo(desk: Desk, address: str) -> DeletedMemo:
    """The owner's own command: also for a memo that the policy hides."""
    return delete_memo(desk, parse_address(address)[1])


def restore_memo(desk: Desk, memo_id: str, namespace: Namespace = None) -> MemoSummary:
    """Restore a memo from the trash, with its relations."""
    with desk.write() as tx:
        memo = require_memo(tx, desk, memo_id, namespace, lock=True, trash=True)
        # An expired memo would disappear again at once: a restored one stays.
        expires_at = memo.expires_at if memo.expires_at is None or memo.expires_at > desk.now() else None
        memo = replace(memo, deleted_at=None, expires_at=expires_at, revision=memo.revision + 1)
        tx.run(PUT_MEMO, **model.to_row(memo))
        tx.put(model.to_document(memo), same_text=True)
    return model.to_summary(memo, desk)


def purge_memos(desk: Desk, days: int, dry_run: bool = False) -> dict[str, int]:
    """Delete permanently a page of the memos that were deleted or expired at least `days` days ago, with their
    relations. With `dry_run` only count all of them."""
    before = desk.now() - days * _DAY
    if dry_run:
        row = desk.row(
            f"select count(deleted_at), count(*) - count(deleted_at) from memo where {_PURGEABLE}",  # noqa: S608 - our own
            before=before,
        )
        assert row is not None
        return {"deleted": row[0], "expired": row[1]}
    with desk.write() as tx:
        # Locked: a memo that is restored at this moment stays.
        found = tx.rows(
            f"select id, deleted_at from memo where {_PURGEABLE} order by id limit {_PURGE_PAGE} {{for_update}}",  # noqa: S608
            before=before,
        )
        for memo_id, _ in found:
            tx.drop(format_address(model.MODULE_NAME, memo_id))
            tx.run("delete from memo where id = :id and {visible}", id=memo_id)  # relations go with it
    deleted = sum(at is not None for _, at in found)
    return {"deleted": deleted, "expired": len(found) - deleted}


def check_content(content: str, field: str = "content") -> None:
    if not content.strip():
        raise Invalid(f"{field} is empty.", field=field)
    if len(content.encode()) > MAX_CONTENT_BYTES:
        raise Invalid(
            f"{field} has more than {MAX_CONTENT_BYTES} bytes. Split it into several memos of one thread.",
            field=field,
            limit=MAX_CONTENT_BYTES,
        )


def _save_memo(desk: Desk, tx: Tx, new: NewMemo, place: str = "") -> Memo:
    """`place` stands before the names of fields in errors."""
    given: dict[str, Any] = {name: value for name, value in new.items() if value is not None}
    if "content" in given:
        check_content(given["content"], f"{place}content")
    at, memo_id = desk.now(), new.get("memo_id")
    old = _require_current(desk, tx, new, memo_id) if memo_id else _build_blank(desk, given, at, place)
    at = max(at, old.updated_at)
    changes = {name: given[name] for name in ("title", "content", "thread") if name in given}
    if "metadata" in given:
        changes["metadata"] = model.merge_metadata(old.metadata, given["metadata"], new.get("metadata_mode", "merge"))
    if {"ttl_seconds", "expires_at"} & given.keys():
        changes["expires_at"] = _parse_expiry(new, at, place)
    memo = replace(old, updated_at=at, revision=old.revision + 1, **changes)
    tx.run(PUT_MEMO, **model.to_row(memo, f"{place}metadata"))
    tx.put(model.to_document(memo))
    return memo


def _build_blank(desk: Desk, given: dict[str, Any], at: int, place: str) -> Memo:
    """A new memo before its first version."""
    if "content" not in given:
        raise Invalid(f"{place}content is required for a new memo.", field=f"{place}content")
    if "expected_version" in given:
        raise Invalid("expected_version requires memo_id: a new memo has no version.", field="expected_version")
    namespace = resolve_namespace(given.get("namespace"), desk.principal)
    return Memo(uuid7(), namespace, "internal", "", "", {}, "", at, at, None, None, 0)


def _require_current(desk: Desk, tx: Tx, new: NewMemo, memo_id: str) -> Memo:
    """The memo to change, at the version that the caller expects."""
    old = require_memo(tx, desk, memo_id, new.get("namespace"), lock=True)
    expected = new.get("expected_version")
    if expected is None or expected == old.revision:
        return old
    # A short diff: what the caller would have overwritten.
    wanted = new.get("content") or old.content
    diff = difflib.unified_diff(old.content.splitlines(), wanted.splitlines(), "stored", "yours", lineterm="", n=1)
    raise Conflict(
        f"The memo is at version {old.revision}, not {expected}. Read it, then save again. Nothing was changed.",
        memo_id=old.id,
        current_version=old.revision,
        diff=[line[:200] for line in islice(diff, _DIFF_LINES)],
        metadata=json.dumps(old.metadata, ensure_ascii=False)[:500],
    )


def _parse_expiry(new: NewMemo, at: int, place: str) -> int | None:
    seconds, until = new.get("ttl_seconds"), new.get("expires_at")
    if seconds is not None and until is not None:
        raise Invalid("Give ttl_seconds or expires_at, not both.", field=f"{place}ttl_seconds")
    if seconds is not None:
        return min(at + seconds * 1000, model.LATEST)
    if until is None:
        return None
    field = f"{place}expires_at"
    try:
        moment = parse_time(until)
    except ValueError:
        raise Invalid(f"{field} must be a time like 2027-01-31T09:00:00Z.", field=field) from None
    if moment <= at:
        raise Invalid(f"{field} is in the past.", field=field)
    return moment
