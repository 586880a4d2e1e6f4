"""JSON exports that list memories: mcp-memory-service's and mem0's."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import Carried, Memo, Metadata, Origin, Relation, Remark
from tokonoma.transfer.documents import document, kept, list_of, object_of, text_of
from tokonoma.transfer.fit import fitted, fitted_relation
from tokonoma.transfer.times import moment

Link = tuple[str, str]  # a tag, and the original id that it leads to
Made = tuple[Memo, str, list[Link]]  # a memo, its original id, what it refers to


def mcp_memory_service(origin: Origin) -> Iterator[Carried]:
    """`{"export_metadata": …, "memories": […]}`, the web page's export, or its older backups."""
    return _memories(origin, _of_service)


def mem0(origin: Origin) -> Iterator[Carried]:
    """A list of memories, or `{"results": […]}`."""
    if object_of(document(origin.path)).get("relations"):
        why = "Its relations join names, not memories; they were left out."
        yield Remark(f"{origin.path.name}: relations", why)
    yield from _memories(origin, _of_mem0)


def listed(value: Any) -> list[Any] | None:
    """The list of memories in a document of either program."""
    if isinstance(value, list):
        return list_of(value)  # pyright: ignore[reportUnknownArgumentType]
    whole = object_of(value)
    return next((list_of(whole[key]) for key in ("memories", "results", "items") if key in whole), None)


def _memories(origin: Origin, made: Callable[[Origin, Metadata, str], Made]) -> Iterator[Carried]:
    memories = listed(document(origin.path))
    if memories is None:
        raise Invalid(f"{origin.path} holds no list of memories.")
    seen: dict[str, str] = {}
    links: list[tuple[str, str, Link]] = []
    for number, raw in enumerate(memories):
        place = f"{origin.path.name}: [{number}]"
        if not isinstance(raw, dict):
            yield Remark(place, "It is not a JSON object.")
            continue
        memo, original, refers = made(origin, object_of(raw), place)  # pyright: ignore[reportUnknownArgumentType]
        if not memo.content.strip():
            yield Remark(place, "It holds no text.")
        elif memo.expires_at is not None and memo.expires_at <= now():
            yield Remark(place, "It has expired.")
        elif original in seen:
            yield Remark(place, f"The same memory stands already at {seen[original]}.", lost=False)
        else:
            seen[original] = place
            links += [(original, place, link) for link in refers]
            yield from fitted(memo)
    for original, place, (tag, target) in links:
        if target in seen and target != original:
            ends = origin.memo_id(original), origin.memo_id(target)
            yield from fitted_relation(Relation(origin.namespace, *ends, tag, place=place))


def _of_service(origin: Origin, raw: Metadata, place: str) -> Made:
    about = object_of(raw.get("metadata"))
    content = text_of(raw.get("content")) or text_of(raw.get("document"))
    given = text_of(raw.get("content_hash")) or text_of(about.get("content_hash")) or text_of(raw.get("id"))
    original = given or hashlib.sha256(content.encode()).hexdigest()
    every = {**about, **kept(raw, "metadata")}
    created = _first(every, "created_at", "created_at_iso", "timestamp_float", "timestamp", "timestamp_str")
    told = kept(about, *_SERVICE_TIMES, "content_hash", "tags", "tags_str", "type")
    told |= {"memory_type": every.get("memory_type") or every.get("type")}
    told |= {"tags": _tags(raw.get("tags")) or _tags(about.get("tags")) or _tags(about.get("tags_str"))}
    told |= kept(raw, *_SERVICE_TIMES, *_SERVICE_TAKEN)
    memo = Memo(
        memo_id=origin.memo_id(original),
        namespace=origin.namespace,
        content=content,
        metadata={**{key: value for key, value in told.items() if value}, **origin.marks(original)},
        thread=text_of(about.get("episode_id")),
        created_at=created,
        updated_at=_first(every, "updated_at", "updated_at_iso") or created,
        place=place,
    )
    before = text_of(about.get("preceding_memory_id"))
    return memo, original, [("follows", before)] if before else []


_SERVICE_TIMES = (
    *("created_at", "created_at_iso", "updated_at", "updated_at_iso"),
    *("timestamp", "timestamp_float", "timestamp_str"),
)
_SERVICE_TAKEN = ("content", "document", "content_hash", "id", "tags", "memory_type", "metadata", "embedding")


def _of_mem0(origin: Origin, raw: Metadata, place: str) -> Made:
    content = text_of(raw.get("memory")) or text_of(raw.get("data")) or text_of(raw.get("text"))
    original = text_of(raw.get("id")) or hashlib.sha256(content.encode()).hexdigest()
    told = kept(object_of(raw.get("metadata")))
    told |= {key: value for key, value in kept(raw, *_MEM0_TAKEN).items() if value not in ("", [], {})}
    created = moment(raw.get("created_at"))
    memo = Memo(
        memo_id=origin.memo_id(original),
        namespace=origin.namespace,
        content=content,
        metadata={**told, **origin.marks(original)},
        thread=text_of(raw.get("run_id")) or text_of(raw.get("session_id")),
        created_at=created,
        updated_at=moment(raw.get("updated_at")) or created,
        expires_at=moment(raw.get("expiration_date")),
        place=place,
    )
    newer = text_of(raw.get("replaced_by"))
    return memo, original, [("replaced_by", newer)] if newer else []


# Left out beside what was understood: what is computed from the rest.
_MEM0_TAKEN = (
    *("id", "memory", "data", "text", "metadata", "created_at", "updated_at", "expiration_date"),
    *("hash", "score", "event", "structured_attributes"),
)


def _tags(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    return [text_of(each).strip() for each in list_of(value) if text_of(each).strip()]


def _first(about: Metadata, *keys: str) -> int | None:
    return next((at for key in keys if (at := moment(about.get(key))) is not None), None)
