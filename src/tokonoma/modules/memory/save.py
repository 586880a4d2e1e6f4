"""memory.save: new memos, and changes of memos."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import normalize_date, parse_end, parse_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.modules.memory import model
from tokonoma.modules.memory.marks import describe_memos
from tokonoma.modules.memory.model import Memo, MemoSummary, Namespace, Version
from tokonoma.modules.memory.read import fetch_memos, require_memo
from tokonoma.modules.memory.similar import MAX_COMPARED_SAVES, SimilarMemo, find_similar
from tokonoma.modules.memory.supersede import MAX_SUPERSEDED, check_superseded
from tokonoma.modules.memory.versions import write_version

MAX_CONTENT_BYTES = 1024 * 1024
MAX_MEMOS = 1000
_DIFF_LINES = 12

Content = Annotated[str, Field(description="what to remember, up to 1 MiB")]
Title = Annotated[str | None, Field(max_length=500)]
Thread = Annotated[
    str | None, Field(max_length=200, description="conversation or document it belongs to, in order of saving")
]
Mode = Annotated[Literal["merge", "replace"], Field(description="merge: null deletes a key")]
Seconds = Annotated[int | None, Field(ge=1, le=10**10, description="expires after this many seconds")]
Date = Annotated[str | None, Field(max_length=40, description='when it happened: day or time; "never" removes it')]
ValidFrom = Annotated[str | None, Field(max_length=40, description='day or time from which it holds; "never": none')]
ValidUntil = Annotated[
    str | None, Field(max_length=40, description='last day or time at which it holds; "never": none')
]
MemoId = Annotated[str, Field(max_length=100)]
Superseded = Annotated[
    MemoId | Annotated[list[MemoId], Field(max_length=MAX_SUPERSEDED)] | None,
    Field(description="memo_id of outdated memos that this one replaces, in its namespace; added; [] removes all"),
]
Until = Annotated[str | None, Field(description='expires at this time (RFC 3339); "never" removes the expiry')]


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
    date: Date
    valid_from: ValidFrom
    valid_until: ValidUntil
    supersedes: Superseded


class SavedMemo(MemoSummary):
    similar: NotRequired[list[SimilarMemo]]


class SavedMemos(TypedDict, total=False):
    memo_id: str
    namespace: str
    title: str
    metadata: dict[str, Any]
    thread: str
    created_at: str
    updated_at: str
    expires_at: str
    date: str
    valid_from: str
    valid_until: str
    supersedes: list[Opaque]
    superseded_by: Opaque
    version: int
    similar: list[SimilarMemo]
    items: list[SavedMemo]


def save_memos(
    desk: Desk,
    content: Annotated[str | None, Field(description="what to remember, up to 1 MiB; optional with memo_id")] = None,
    namespace: Namespace = None,
    title: Title = None,
    metadata: Annotated[
        dict[str, Any] | None,
        Field(description="anything to filter by, up to 64 KiB"),
    ] = None,
    metadata_mode: Mode = "merge",
    memo_id: Annotated[str | None, Field(description="change this memo instead of creating one")] = None,
    expected_version: Version = None,
    thread: Thread = None,
    ttl_seconds: Seconds = None,
    expires_at: Until = None,
    date: Date = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    supersedes: Superseded = None,
    memos: Annotated[
        list[NewMemo] | None, Field(min_length=1, max_length=MAX_MEMOS, description="save many at once, all or nothing")
    ] = None,
) -> SavedMemos:
    """Save a note in free text, or change one. Text search finds it at once, semantic search shortly after. `similar`
    lists up to three earlier memos that it probably corrects or repeats, each with the call that marks it. With
    `memos`, each has the same fields, and the answer lists `items` in their order."""
    single = {
        "content": content, "title": title, "metadata": metadata, "memo_id": memo_id, "expires_at": expires_at,
        "expected_version": expected_version, "thread": thread, "ttl_seconds": ttl_seconds, "date": date,
        "valid_from": valid_from, "valid_until": valid_until, "supersedes": supersedes,
    }  # fmt: skip
    if memos is None:
        new = cast("NewMemo", {**single, "namespace": namespace, "metadata_mode": metadata_mode})
        with desk.write() as tx:
            memo = _save_memo(desk, tx, new)
        return cast("SavedMemos", _describe(desk, [memo], content is not None)[0])
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
    return {"items": _describe(desk, saved, len(saved) <= MAX_COMPARED_SAVES)}


def _describe(desk: Desk, saved: Sequence[Memo], compares: bool) -> list[SavedMemo]:
    """`compares`: look for earlier memos that say the same, or something else."""
    new = all(memo.revision == 1 and not memo.supersedes for memo in saved)  # nothing can have replaced it yet
    summaries = [model.to_summary(memo, desk) for memo in saved] if new else describe_memos(desk, saved)
    items = [cast("SavedMemo", each) for each in summaries]
    for memo, item in zip(saved, items, strict=True) if compares else ():
        if similar := find_similar(desk, memo):
            item["similar"] = similar
    return items


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
    for name in model.DATES:
        if name in given:
            changes[name] = _parse_date(given[name], f"{place}{name}")
    if (ids := given.get("supersedes")) is not None:
        listed = [ids] if isinstance(ids, str) else dict.fromkeys(ids)
        changes["supersedes"] = check_superseded(tx, desk, old, list(listed), f"{place}supersedes") if ids != [] else ()
    memo = replace(old, updated_at=at, **changes)
    _check_validity(memo, f"{place}valid_until")
    memo = write_version(tx, desk, old, memo, "saved", place=f"{place}metadata")
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


def _parse_date(text: str, field: str) -> str:
    if text == "never":
        return ""
    try:
        return normalize_date(text)
    except ValueError:
        raise Invalid(
            f'{field} must be a day like 2027-01-31, a time like 2027-01-31T09:00:00Z, or "never".', field=field
        ) from None


def _check_validity(memo: Memo, field: str) -> None:
    if memo.valid_from and memo.valid_until and parse_end(memo.valid_until) < parse_time(memo.valid_from):
        raise Invalid(
            f"valid_until ({memo.valid_until}) is before valid_from ({memo.valid_from}). Change one, or remove it"
            ' with "never".',
            field=field,
        )


def _parse_expiry(new: NewMemo, at: int, place: str) -> int | None:
    seconds, until = new.get("ttl_seconds"), new.get("expires_at")
    if seconds is not None and until is not None:
        raise Invalid("Give ttl_seconds or expires_at, not both.", field=f"{place}ttl_seconds")
    if seconds is not None:
        return min(at + seconds * 1000, model.LATEST)
    if until is None or until == "never":
        return None
    field = f"{place}expires_at"
    try:
        moment = parse_time(until)
    except ValueError:
        raise Invalid(f'{field} must be a time like 2027-01-31T09:00:00Z, or "never".', field=field) from None
    if moment <= at:
        raise Invalid(f"{field} is in the past.", field=field)
    return moment
