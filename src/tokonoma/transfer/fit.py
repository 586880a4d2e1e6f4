"""Another program's memo, made to fit the limits of ours. Nothing is cut away silently: each change is a remark."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from tokonoma.modules.memory.model import LATEST, MAX_METADATA_BYTES, MAX_METADATA_DEPTH
from tokonoma.modules.memory.save import MAX_CONTENT_BYTES
from tokonoma.transfer.carried import Metadata, Remark, TransferMemo, TransferRelation, make_part_id

_TITLE, _THREAD, _NAMESPACE = 500, 200, 500
_TAG, _REASON = 64, 10_000
_RESERVE = 200  # bytes of metadata that are added when it is stored
_MOST_PARTS = 1000


def fit_memo(memo: TransferMemo) -> Iterator[TransferMemo | Remark]:
    """The memo, or its parts if it is too long for one, after what there is to say about it."""
    if len(memo.namespace) > _NAMESPACE:
        yield Remark(memo.place, f"Its namespace would have more than {_NAMESPACE} characters.")
        return
    memo, said = _fit_texts(memo)
    metadata, more = _fit_metadata(memo.metadata)
    memo = replace(memo, metadata=metadata)
    for why in (*said, *more):
        yield Remark(memo.place, why, lost=False)
    parts = split_text(memo.content, MAX_CONTENT_BYTES)
    if len(parts) == 1:
        yield memo
    elif len(parts) > _MOST_PARTS:
        yield Remark(memo.place, f"It would be more than {_MOST_PARTS} memos.")
    else:
        yield Remark(memo.place, f"It was cut into {len(parts)} memos of one thread: one holds 1 MiB.", lost=False)
        yield from _split_memo(memo, parts)


def fit_relation(relation: TransferRelation) -> Iterator[TransferRelation | Remark]:
    """The relation; a tag that is too long stands whole in its reason."""
    tag, reason = " ".join(relation.tag.split()), relation.reason.replace("\0", "")
    if not tag:
        yield Remark(relation.place, "The relation says nothing about what it is.")
        return
    if len(tag) > _TAG:
        said = f"The tag of a relation has {len(tag)} characters: all of it stands in its reason."
        yield Remark(relation.place, said, lost=False)
        reason = f"{tag}: {reason}" if reason else tag
    yield replace(relation, tag=tag[:_TAG].replace("\0", ""), reason=reason[:_REASON])


def split_text(text: str, most: int) -> list[str]:
    """The text in parts of at most so many bytes, cut between paragraphs or lines where that leaves no part short."""
    raw = text.encode()
    if len(raw) <= most:
        return [text]
    found: list[str] = []
    start = 0
    while len(raw) - start > most:
        end = _find_break(raw, start + most // 2, start + most)
        found.append(raw[start:end].decode())
        start = end
    found.append(raw[start:].decode())
    return [piece for piece in found if piece.strip()]


def _find_break(raw: bytes, low: int, high: int) -> int:
    for mark in (b"\n\n", b"\n", "。".encode(), b" "):
        place = raw.rfind(mark, low, high)
        if place >= 0:
            return place + len(mark)
    while raw[high] & 0xC0 == 0x80:  # inside of a character
        high -= 1
    return high


def _split_memo(memo: TransferMemo, parts: list[str]) -> Iterator[TransferMemo]:
    thread = memo.thread or f"imported {memo.memo_id}"
    for number, part in enumerate(parts):
        told = {**memo.metadata, "part": number + 1, "parts": len(parts)}
        yield replace(memo, memo_id=make_part_id(memo.memo_id, number), content=part, metadata=told, thread=thread)


def _fit_texts(memo: TransferMemo) -> tuple[TransferMemo, list[str]]:
    said: list[str] = []
    content, title, thread = memo.content, memo.title, memo.thread
    if any("\0" in text for text in (content, title, thread)) or "\\x00" in repr(memo.metadata):
        content, title, thread = (text.replace("\0", "") for text in (content, title, thread))
        said.append("NUL characters were taken out.")
    if len(title) > _TITLE:
        said.append(f"Its title has {len(title)} characters: the first {_TITLE} are kept.")
    if len(thread) > _THREAD:
        said.append(f"The name of its thread has {len(thread)} characters: the first {_THREAD} are kept.")
    # A note without a text is still one that others refer to.
    content = content if content.strip() else title.strip() or "-"
    times = {name: _valid_time(getattr(memo, name)) for name in ("created_at", "updated_at", "expires_at")}
    if any(times[name] is None and getattr(memo, name) is not None for name in times):
        said.append("A time before 1970 or after 9999 was left out.")
    return replace(memo, content=content, title=title[:_TITLE], thread=thread[:_THREAD], **times), said


def _valid_time(moment: int | None) -> int | None:
    return moment if moment is not None and 0 <= moment <= LATEST else None


def _fit_metadata(metadata: Mapping[str, Any]) -> tuple[Metadata, list[str]]:
    """Too deep a value becomes its JSON text; what is too large is left out, the largest first."""
    said: list[str] = []
    told: Metadata = {}
    for key, value in metadata.items():
        clean = _clean_value(value, MAX_METADATA_DEPTH - 1)
        if clean is not None:
            told[key.replace("\0", "")] = clean
    sizes = {key: len(json.dumps({key: value}, ensure_ascii=False).encode()) for key, value in told.items()}
    while sum(sizes.values()) > MAX_METADATA_BYTES - _RESERVE:
        largest = max(sizes, key=lambda key: sizes[key])
        said.append(
            f"metadata.{largest[:80]} was left out: all metadata together has more than {MAX_METADATA_BYTES} bytes."
        )
        del told[largest], sizes[largest]
    return told, said


def _clean_value(value: Any, deep: int) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict | list) and deep == 0:
        return json.dumps(value, ensure_ascii=False).replace("\\u0000", "")
    if isinstance(value, dict):
        told = {key.replace("\0", ""): _clean_value(each, deep - 1) for key, each in cast("Metadata", value).items()}
        return {key: each for key, each in told.items() if each is not None}
    if isinstance(value, list):
        return [_clean_value(each, deep - 1) for each in cast("list[Any]", value)]
    return value
