"""The versions of memos: every change keeps the one before it, and memory.history lists them.

An earlier version is a row of its own with its own class, so that the filter, the masks and the policy treat it like
the memo. It lies where the memo lies now: who sees the memo may see where it comes from, and no other caller.
"""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Rows, Tx, parse_address
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, is_inside
from tokonoma.modules.memory import model
from tokonoma.modules.memory.marks import read_superseded
from tokonoma.modules.memory.model import Memo
from tokonoma.modules.memory.read import PageCursor, require_memo
from tokonoma.modules.memory.tables import COLUMNS, PUT_MEMO

KEPT_VERSIONS = 100  # earlier ones of a memo
KEPT_BYTES = 4 * 1024 * 1024  # of their texts; the last one stays in any case
_LISTED = 2_000  # characters of content in a list of versions
_WHOLE = 100_000  # of the one version that was asked for
_WRITTEN = frozenset({"saved", "merged", "imported"})
_DIFF_LENGTH = 20_000  # characters
_DIFF_LINES = 1_000  # that are compared one by one: beyond that, comparing takes too long

_KEEP = f"""insert into memo_version ({COLUMNS}, place, size)
select {COLUMNS}, space, :size from memo where id = :id and {{visible}}"""  # noqa: S608 - our own columns
FORGET = "delete from memo_version where id = :id and {visible}"
_PRUNE = """delete from memo_version where id = :id and {everyone:memo_version} and revision <= (
    select coalesce(max(revision), 0) from (
        select revision, row_number() over newest as number, sum(size) over newest as total
        from memo_version kept where id = :id and {everyone:kept} window newest as (order by revision desc)
    ) counted where number > 1 and (number > :most or total > :bytes)
)"""
_EARLIER = f"""select {COLUMNS}, place from memo_version
where id = :id and {{visible}} and revision < :before order by revision desc limit :most"""  # noqa: S608


class MemoVersion(TypedDict):
    version: int
    at: Opaque
    author: NotRequired[str]
    change: NotRequired[str]
    merged: NotRequired[list[Opaque]]
    merged_into: NotRequired[Opaque]
    restored_version: NotRequired[int]
    namespace: NotRequired[str]
    title: NotRequired[str]
    content: NotRequired[str]
    content_truncated: NotRequired[bool]
    metadata: dict[str, Any]
    thread: NotRequired[str]
    expires_at: NotRequired[Opaque]
    date: NotRequired[Opaque]
    valid_from: NotRequired[Opaque]
    valid_until: NotRequired[Opaque]
    supersedes: NotRequired[list[Opaque]]
    deleted_at: NotRequired[Opaque]
    diff: NotRequired[str]


class MemoHistory(TypedDict):
    memo_id: Opaque
    superseded_by: NotRequired[Opaque]
    items: list[MemoVersion]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def write_version(
    tx: Tx, desk: Desk, old: Memo, memo: Memo, change: str, detail: str = "", place: str = "metadata"
) -> Memo:
    """Write a changed memo as its next version, or the first one of a new memo; the one before is kept."""
    made = {"version_at": desk.now(), "author": desk.principal.name, "change": change, "detail": detail}
    memo = replace(memo, revision=old.revision + 1, **made)
    if old.revision:
        keep_version(tx, old)
    tx.run(PUT_MEMO, **model.to_row(memo, place))
    return memo


def check_version(memo: Memo, expected: int | None, so: str) -> None:
    if expected is not None and expected != memo.revision:
        raise Conflict(
            f"The memo is at version {memo.revision}, not {expected}. {so}",
            memo_id=memo.id,
            current_version=memo.revision,
        )


def format_name(memo: Memo) -> str:
    """The name of an earlier version in its address."""
    return f"{memo.id}@{memo.revision}"


def parse_name(name: str) -> tuple[str, int]:
    """The memo and the version; 0: the memo itself."""
    memo_id, _, version = name.partition("@")
    return memo_id, int(version) if version.isdecimal() else 0


def keep_version(tx: Tx, memo: Memo) -> None:
    """Keep the stored memo as an earlier version. Its row is about to be replaced."""
    size = len(memo.content.encode()) + len(model.encode_metadata(memo.metadata).encode())
    tx.run(_KEEP, id=memo.id, size=size)
    tx.run(_PRUNE, id=memo.id, most=KEPT_VERSIONS, bytes=KEPT_BYTES)


def fetch_version(rows: Rows, memo: Memo, version: int) -> Memo:
    """An earlier or the present version of a memo."""
    found = [memo] if memo.revision == version else [each for each, _ in _fetch_earlier(rows, memo.id, version + 1, 1)]
    if not found or found[0].revision != version:
        raise Missing(f"Memo {memo.id!r} has no version {version}. memory.history lists them.", memo_id=memo.id)
    return found[0]


def get_text_author(memo: Memo) -> str:
    """Who wrote the text of a version; empty if unknown. Who deletes or moves a memo writes none of it."""
    return memo.author if memo.change in _WRITTEN else ""


def list_history(
    desk: Desk,
    memo_id: str,
    version: Annotated[int | None, Field(ge=1, description="only this one, with its whole content")] = None,
    diff: Annotated[bool, Field(description="what each changed, instead of its content")] = False,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: PageCursor = None,
    offset: Annotated[int, Field(ge=0, description="with version: character to start at")] = 0,
) -> MemoHistory:
    """List the versions of a memo, newest first, also of a deleted one. Up to 100 earlier ones are kept."""
    memo = require_memo(desk, desk, memo_id, state="any")
    (before,) = desk.open_cursor("memo_history", cursor) if cursor else (2**62,)
    if version is not None:
        before, limit = version + 1, 1
    found = [(memo, memo.namespace)] if memo.revision < before else []
    found += _fetch_earlier(desk, memo_id, before, limit + 1 - len(found))
    if version is not None and (not found or found[0][0].revision != version):
        raise Missing(f"Memo {memo_id!r} has no version {version}. memory.history lists them.", memo_id=memo_id)
    shown = (offset, offset + _WHOLE) if version is not None else (0, _LISTED)
    items: list[MemoVersion] = []
    for number, (each, place) in enumerate(found[:limit]):
        desk.cite(f"{each.address} {each.revision}", get_text_author(each))
        item = _to_response(desk, each, place, None if diff else shown)
        if ids := read_superseded(desk, [each]).get(each.id):
            item["supersedes"] = ids
        if diff and number + 1 < len(found):
            item["diff"] = compare_versions(found[number + 1][0], each)
        items.append(item)
    has_more = len(found) > limit and version is None
    history: MemoHistory = {"memo_id": memo_id, "items": items, "has_more": has_more}
    if newer := desk.find_successors([memo.address]).get(memo.address):
        history["superseded_by"] = parse_address(newer)[1]
    if has_more:
        history["next_cursor"] = desk.seal_cursor("memo_history", found[limit - 1][0].revision)
    return history


def _fetch_earlier(rows: Rows, memo_id: str, before: int, most: int) -> list[tuple[Memo, str]]:
    """With the namespace that each was in."""
    found = rows.rows(_EARLIER, id=memo_id, before=before, most=most)
    return [(model.to_memo(row[:-1]), row[-1]) for row in found]


def _to_response(desk: Desk, memo: Memo, place: str, shown: tuple[int, int] | None) -> MemoVersion:
    item: MemoVersion = {
        "version": memo.revision,
        "at": format_time(memo.version_at or memo.deleted_at or memo.updated_at),
        "metadata": memo.metadata,
    }
    if is_inside(place, desk.principal.root):  # a key must not see where it was before it came to the key's root
        item["namespace"] = format_namespace(place, desk.principal)
    for name in ("author", "change", "title", "thread", *model.DATES):
        if text := getattr(memo, name):
            item[name] = text
    for name in ("expires_at", "deleted_at"):
        if (at := getattr(memo, name)) is not None:
            item[name] = format_time(at)
    if merged_into := model.get_merged_into(memo):
        item["merged_into"] = merged_into
    elif memo.change == "merged":
        item["merged"] = memo.detail.split()
    elif memo.change == "restored" and memo.detail:
        item["restored_version"] = int(memo.detail)
    if shown is not None:
        item["content"] = memo.content[slice(*shown)]
        if len(memo.content) > shown[1]:
            item["content_truncated"] = True
    return item


def compare_versions(old: Memo, new: Memo) -> str:
    """A unified diff of everything that a version holds. A long one is cut, and says so."""
    text = "\n".join(_diff_lines(_render(old), _render(new), f"version {old.revision}", f"version {new.revision}"))
    return text if len(text) <= _DIFF_LENGTH else f"{text[:_DIFF_LENGTH]}\n… ({len(text)} characters)"


def _diff_lines(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterable[str]:
    if max(len(before), len(after)) <= _DIFF_LINES:
        return difflib.unified_diff(before, after, old, new, lineterm="", n=1)
    # One block, from the first line that differs to the last.
    same = _count_equal(before, after)
    end = _count_equal(before[same:][::-1], after[same:][::-1])
    gone, came = before[same : len(before) - end], after[same : len(after) - end]
    place = f"@@ -{same + 1},{len(gone)} +{same + 1},{len(came)} @@"
    return (f"--- {old}", f"+++ {new}", place, *(f"-{line}" for line in gone), *(f"+{line}" for line in came))


def _count_equal(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _render(memo: Memo) -> list[str]:
    """The fields above the content, each in one line; those that are empty have none."""
    fields = {
        "title": memo.title,
        "thread": memo.thread,
        "metadata": json.dumps(memo.metadata, ensure_ascii=False, sort_keys=True) if memo.metadata else "",
        **{name: getattr(memo, name) for name in model.DATES},
        "expires_at": format_time(memo.expires_at) if memo.expires_at is not None else "",
        "deleted_at": format_time(memo.deleted_at) if memo.deleted_at is not None else "",
    }
    return [*(f"{name}: {text}" for name, text in fields.items() if text), "", *memo.content.splitlines()]
