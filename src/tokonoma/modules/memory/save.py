"""memory.save: one memo or many, new or changed, all or nothing."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now, parse_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.core.ids import uuid7
from tokonoma.modules.memory.memo import Memo, MemoSummary, to_document, to_memo, to_summary
from tokonoma.modules.memory.metadata import encode_metadata, merge_metadata
from tokonoma.modules.memory.tables import ALIVE, COLUMNS

MAX_CONTENT_BYTES = 1024 * 1024  # bytes
MAX_MEMOS = 1000
LATEST = 253402300799999  # the year 9999
_DIFF_LINES = 12

Content = Annotated[str, Field(description="what to remember, up to 1 MiB")]
Title = Annotated[str | None, Field(max_length=500)]
Namespace = Annotated[
    str | None, Field(max_length=500, description="like a folder: notes/today; default: your own; /x from your root")
]
Thread = Annotated[
    str | None, Field(max_length=200, description="conversation or document that it belongs to, in order of saving")
]
Mode = Annotated[Literal["merge", "replace"], Field(description="merge: null deletes a key")]
Seconds = Annotated[int | None, Field(ge=1, le=10**10, description="forget it after so many seconds")]
Until = Annotated[str | None, Field(description="forget it at this time (RFC 3339)")]
Version = Annotated[int | None, Field(ge=1, description="refuse if the memo is not at this version any more")]


class NewMemo(TypedDict):
    content: NotRequired[Content]
    namespace: NotRequired[Namespace]
    title: NotRequired[Title]
    metadata: NotRequired[dict[str, Any] | None]
    metadata_mode: NotRequired[Mode]
    memo_id: NotRequired[str | None]
    expected_version: NotRequired[Version]
    thread: NotRequired[Thread]
    ttl_seconds: NotRequired[Seconds]
    expires_at: NotRequired[Until]


class SavedMemos(TypedDict):
    memo_id: NotRequired[str]
    namespace: NotRequired[str]
    title: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    thread: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    expires_at: NotRequired[str]
    version: NotRequired[int]
    items: NotRequired[list[MemoSummary]]


@dataclass(frozen=True, slots=True)
class _FieldPlace:
    """Where in the call a memo stands, for what is said of it."""

    name: str

    def field(self, field: str) -> str:
        return f"{self.name}.{field}" if self.name else field


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
    memo_id: Annotated[str | None, Field(description="change this memo instead of making one")] = None,
    expected_version: Version = None,
    thread: Thread = None,
    ttl_seconds: Seconds = None,
    expires_at: Until = None,
    memos: Annotated[
        list[NewMemo] | None, Field(min_length=1, max_length=MAX_MEMOS, description="many at once, all or nothing")
    ] = None,
) -> SavedMemos:
    """Save a memo, or change one. Found by its words at once, and by its meaning shortly after. With `memos`, each has
    the same fields and the answer holds `items` in their order."""
    one = {
        "content": content, "title": title, "metadata": metadata, "memo_id": memo_id, "expires_at": expires_at,
        "expected_version": expected_version, "thread": thread, "ttl_seconds": ttl_seconds,
    }  # fmt: skip
    if memos is None:
        new = cast("NewMemo", {**one, "namespace": namespace, "metadata_mode": metadata_mode})
        with desk.write() as tx:
            kept = _save_memo(desk, tx, new, _FieldPlace(""))
        return cast("SavedMemos", to_summary(kept, desk.principal))
    extra = [name for name, value in one.items() if value is not None]
    if extra:
        raise Invalid(f"With `memos`, {', '.join(extra)} belongs into each memo, not beside them.", fields=extra)
    with desk.write() as tx:
        _lock_memos(tx, [named for new in memos if (named := new.get("memo_id"))])
        many = [
            _save_memo(desk, tx, cast("NewMemo", {"namespace": namespace, **new}), _FieldPlace(f"memos[{number}]"))
            for number, new in enumerate(memos)
        ]
    return {"items": [to_summary(memo, desk.principal) for memo in many]}


def _lock_memos(tx: Tx, ids: Sequence[str]) -> None:
    """All in one order, whatever the caller's is: two calls that share memos wait for each other, and not in a ring."""
    if len(ids) > 1:
        names = {f"id{number}": each for number, each in enumerate(ids)}
        listed = ", ".join(f":{name}" for name in names)
        tx.rows(f"select id from memo where id in ({listed}) and {{visible}} order by id {{for_update}}", **names)  # noqa: S608


def _save_memo(desk: Desk, tx: Tx, new: NewMemo, place: _FieldPlace) -> Memo:
    content = new.get("content")
    if content is not None:
        check_content(content, place.field("content"))
    memo_id = new.get("memo_id")
    memo = _build_changed(desk, tx, new, memo_id, place) if memo_id else _build_memo(desk, new, place)
    text = encode_metadata(memo.metadata, place.field("metadata"))
    row = {
        "id": memo.id, "space": memo.space, "label": memo.label, "title": memo.title, "content": memo.content,
        "metadata": text, "thread": memo.thread, "created_at": memo.created_at, "updated_at": memo.updated_at,
        "expires_at": memo.expires_at, "revision": memo.revision,
    }  # fmt: skip
    tx.run(_UPDATE if memo_id else _INSERT, **row)
    tx.put(to_document(memo))
    return memo


_INSERT = """insert into memo (id, space, label, title, content, metadata, thread, created_at, updated_at, expires_at,
    revision) values (:id, :space, :label, :title, :content, :metadata, :thread, :created_at, :updated_at, :expires_at,
    :revision)"""
_UPDATE = """update memo set space = :space, label = :label, title = :title, content = :content, metadata = :metadata,
    thread = :thread, created_at = :created_at, updated_at = :updated_at, expires_at = :expires_at, revision = :revision
    where id = :id and {visible}"""


def _build_memo(desk: Desk, new: NewMemo, place: _FieldPlace) -> Memo:
    content = new.get("content")
    if content is None:
        raise Invalid(f"{place.field('content')} is required for a new memo.", field=place.field("content"))
    if new.get("expected_version") is not None:
        raise Invalid("expected_version goes with memo_id: a new memo has no version.", field="expected_version")
    at = now()
    return Memo(
        id=uuid7(),
        space=spaces.resolve_namespace(new.get("namespace"), desk.principal),
        label="internal",
        title=new.get("title") or "",
        content=content,
        metadata=merge_metadata({}, new.get("metadata") or {}, new.get("metadata_mode", "merge")),
        thread=new.get("thread") or "",
        created_at=at,
        updated_at=at,
        expires_at=_parse_expiry(new, at, place),
        deleted_at=None,
        revision=1,
    )


def _build_changed(desk: Desk, tx: Tx, new: NewMemo, memo_id: str, place: _FieldPlace) -> Memo:
    old = require_memo(desk, tx, memo_id, new.get("namespace"), lock=True)
    expected = new.get("expected_version")
    if expected is not None and expected != old.revision:
        raise _build_stale_error(old, new, expected)
    at = max(now(), old.updated_at)
    given: Mapping[str, Any] = {key: value for key, value in new.items() if value is not None}
    return replace(
        old,
        title=given.get("title", old.title),
        content=given.get("content", old.content),
        metadata=merge_metadata(old.metadata, given.get("metadata") or {}, new.get("metadata_mode", "merge"))
        if "metadata" in given
        else old.metadata,
        thread=given.get("thread", old.thread),
        updated_at=at,
        expires_at=_parse_expiry(new, at, place) if {"ttl_seconds", "expires_at"} & given.keys() else old.expires_at,
        revision=old.revision + 1,
    )


def require_memo(desk: Desk, tx: Tx, memo_id: str, namespace: str | None, *, lock: bool = False) -> Memo:
    """The living memo with this id that the caller can see, in the namespace if one is named."""
    row = tx.row(
        f"select {COLUMNS} from memo where id = :id and {ALIVE} and {{visible}} {'{for_update}' if lock else ''}",  # noqa: S608
        id=memo_id,
        now=now(),
    )
    memo = to_memo(row) if row else None
    if memo is None or (
        namespace and not spaces.is_inside(memo.space, spaces.resolve_namespace(namespace, desk.principal))
    ):
        raise Missing(f"There is no memo {memo_id!r} here.", memo_id=memo_id)
    return memo


def _parse_expiry(new: NewMemo, at: int, place: _FieldPlace) -> int | None:
    seconds, until = new.get("ttl_seconds"), new.get("expires_at")
    if seconds is not None and until is not None:
        raise Invalid("Give ttl_seconds or expires_at, not both.", field=place.field("ttl_seconds"))
    if seconds is not None:
        return min(at + seconds * 1000, LATEST)
    if until is None:
        return None
    try:
        moment = parse_time(until)
    except ValueError:
        raise Invalid(
            f"{place.field('expires_at')} must be a time like 2027-01-31T09:00:00Z.", field=place.field("expires_at")
        ) from None
    if moment <= at:
        raise Invalid(f"{place.field('expires_at')} lies in the past.", field=place.field("expires_at"))
    return moment


def check_content(content: str, field: str = "content") -> None:
    if not content.strip():
        raise Invalid(f"{field} is empty.", field=field)
    if len(content.encode()) > MAX_CONTENT_BYTES:
        raise Invalid(
            f"{field} has more than {MAX_CONTENT_BYTES} bytes. Cut it into several memos of one thread.",
            field=field,
            limit=MAX_CONTENT_BYTES,
        )


def _build_stale_error(old: Memo, new: NewMemo, expected: int) -> Conflict:
    """The current version and a short diff: what the caller would have overwritten."""
    wanted = new.get("content") or old.content
    diff = difflib.unified_diff(old.content.splitlines(), wanted.splitlines(), "stored", "yours", lineterm="", n=1)
    return Conflict(
        f"The memo is at version {old.revision}, not {expected}. Read it, then save again. Nothing was changed.",
        memo_id=old.id,
        current_version=old.revision,
        diff=[line[:200] for line, _ in zip(diff, range(_DIFF_LINES), strict=False)],
        metadata=json.dumps(old.metadata, ensure_ascii=False)[:500],
    )
