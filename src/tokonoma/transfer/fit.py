"""Changes a memo of another program so that it fits the limits of this one. Each change is reported as a remark."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from tokonoma.modules.memory.model import LATEST, MAX_METADATA_BYTES, MAX_METADATA_DEPTH
from tokonoma.modules.memory.save import MAX_CONTENT_BYTES
from tokonoma.transfer.model import MemoRecord, Metadata, RelationRecord, Remark

_MAX_TITLE, _MAX_THREAD, _MAX_NAMESPACE, _MAX_TAG, _MAX_REASON = 500, 200, 500, 64, 10_000  # characters
_MAX_PARTS = 1000
_RESERVED = 200  # bytes of metadata that storing the memo adds


def fit_memo(memo: MemoRecord) -> Iterator[MemoRecord | Remark]:
    """Yield remarks on the changes, then the memo, or its parts if it is too long for one memo."""
    if len(memo.namespace) > _MAX_NAMESPACE:
        yield Remark(memo.place, f"Its namespace would have more than {_MAX_NAMESPACE} characters.")
        return
    memo, changes = _fit_texts(memo)
    metadata, more = _fit_metadata(memo.metadata)
    memo = replace(memo, metadata=metadata)
    for why in (*changes, *more):
        yield Remark(memo.place, why, lost=False)
    parts = split_text(memo.content, MAX_CONTENT_BYTES)
    if len(parts) == 1:
        yield memo
        return
    if len(parts) > _MAX_PARTS:
        yield Remark(memo.place, f"It would become more than {_MAX_PARTS} memos.")
        return
    yield Remark(memo.place, f"It was split into {len(parts)} memos of one thread: the limit is 1 MiB.", lost=False)
    thread = memo.thread or f"imported {memo.memo_id}"
    for number, part in enumerate(parts):
        metadata = {**memo.metadata, "part": number + 1, "parts": len(parts)}
        memo_id = str(uuid.UUID(int=uuid.UUID(memo.memo_id).int + number))  # sorts after that of the part before
        yield replace(memo, memo_id=memo_id, content=part, metadata=metadata, thread=thread)


def fit_relation(relation: RelationRecord) -> Iterator[RelationRecord | Remark]:
    """Yield the relation; if its tag is too long, the reason holds the whole tag."""
    tag, reason = " ".join(relation.tag.split()), relation.reason.replace("\0", "")
    if not tag:
        yield Remark(relation.place, "The relation has no tag.")
        return
    if len(tag) > _MAX_TAG:
        why = f"The tag of a relation has {len(tag)} characters; the whole tag is in its reason."
        yield Remark(relation.place, why, lost=False)
        reason = f"{tag}: {reason}" if reason else tag
    yield replace(relation, tag=tag[:_MAX_TAG].replace("\0", ""), reason=reason[:_MAX_REASON])


def split_text(text: str, max_bytes: int) -> list[str]:
    """Split the text into parts of at most `max_bytes`, between paragraphs or lines if no part gets too short."""
    raw = text.encode()
    if len(raw) <= max_bytes:
        return [text]
    parts: list[str] = []
    start = 0
    while len(raw) - start > max_bytes:
        end = _find_break(raw, start + max_bytes // 2, start + max_bytes)
        parts.append(raw[start:end].decode())
        start = end
    parts.append(raw[start:].decode())
    return [part for part in parts if part.strip()]


def _find_break(raw: bytes, low: int, high: int) -> int:
    for mark in (b"\n\n", b"\n", "。".encode(), b" "):
        place = raw.rfind(mark, low, high)
        if place >= 0:
            return place + len(mark)
    while raw[high] & 0xC0 == 0x80:  # inside a character
        high -= 1
    return high


def _fit_texts(memo: MemoRecord) -> tuple[MemoRecord, list[str]]:
    changes: list[str] = []
    content, title, thread = memo.content, memo.title, memo.thread
    if any("\0" in text for text in (content, title, thread)) or "\\x00" in repr(memo.metadata):
        content, title, thread = (text.replace("\0", "") for text in (content, title, thread))
        changes.append("NUL characters were removed.")
    if len(title) > _MAX_TITLE:
        changes.append(f"Its title has {len(title)} characters: the first {_MAX_TITLE} are kept.")
    if len(thread) > _MAX_THREAD:
        changes.append(f"The name of its thread has {len(thread)} characters: the first {_MAX_THREAD} are kept.")
    # A note without text is kept, because other notes may refer to it.
    content = content if content.strip() else title.strip() or "-"
    times: dict[str, int | None] = {name: getattr(memo, name) for name in ("created_at", "updated_at", "expires_at")}
    invalid = [name for name, time in times.items() if time is not None and not 0 <= time <= LATEST]
    if invalid:
        changes.append("A time before 1970 or after 9999 was dropped.")
    times |= dict.fromkeys(invalid)
    return replace(memo, content=content, title=title[:_MAX_TITLE], thread=thread[:_MAX_THREAD], **times), changes


def _fit_metadata(metadata: Mapping[str, Any]) -> tuple[Metadata, list[str]]:
    """Replace values that are nested too deep by their JSON text; drop the largest ones if all are too large."""
    changes: list[str] = []
    fitted = cast("Metadata", _clean_value(dict(metadata), MAX_METADATA_DEPTH))
    sizes = {key: len(json.dumps({key: value}, ensure_ascii=False).encode()) for key, value in fitted.items()}
    while sum(sizes.values()) > MAX_METADATA_BYTES - _RESERVED:
        largest = max(sizes, key=lambda key: sizes[key])
        changes.append(
            f"metadata.{largest[:80]} was dropped, because the metadata has more than {MAX_METADATA_BYTES} bytes."
        )
        del fitted[largest], sizes[largest]
    return fitted, changes


def _clean_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict | list) and depth == 0:
        return json.dumps(value, ensure_ascii=False).replace("\\u0000", "")
    if isinstance(value, dict):
        clean = {key.replace("\0", ""): _clean_value(each, depth - 1) for key, each in cast("Metadata", value).items()}
        return {key: each for key, each in clean.items() if each is not None}
    if isinstance(value, list):
        return [_clean_value(each, depth - 1) for each in cast("list[Any]", value)]
    return value
