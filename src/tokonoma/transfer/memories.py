"""JSON exports that list memories: mcp-memory-service's and mem0's."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import ImportSource, Metadata, Remark, SourceRecord, TransferMemo, TransferRelation
from tokonoma.transfer.documents import as_list, as_object, as_text, drop_fields, load_document
from tokonoma.transfer.fit import fit_memo, fit_relation
from tokonoma.transfer.times import parse_foreign_time

MemoryLink = tuple[str, str]  # a tag, and the original id that it leads to
ParsedMemory = tuple[TransferMemo, str, list[MemoryLink]]  # a memo, its original id, what it refers to


def read_mcp_memory_service(origin: ImportSource) -> Iterator[SourceRecord]:
    """`{"export_metadata": …, "memories": […]}`, the web page's export, or its older backups."""
    return _read_memories(origin, _parse_service_memory)


def read_mem0(origin: ImportSource) -> Iterator[SourceRecord]:
    """A list of memories, or `{"results": […]}`."""
    if as_object(load_document(origin.path)).get("relations"):
        why = "Its relations join names, not memories; they were left out."
        yield Remark(f"{origin.path.name}: relations", why)
    yield from _read_memories(origin, _parse_mem0_memory)


def find_memory_list(value: Any) -> list[Any] | None:
    """The list of memories in a document of either program."""
    if isinstance(value, list):
        return as_list(value)  # pyright: ignore[reportUnknownArgumentType]
    whole = as_object(value)
    return next((as_list(whole[key]) for key in ("memories", "results", "items") if key in whole), None)


def _read_memories(
    origin: ImportSource, made: Callable[[ImportSource, Metadata, str], ParsedMemory]
) -> Iterator[SourceRecord]:
    memories = find_memory_list(load_document(origin.path))
    if memories is None:
        raise Invalid(f"{origin.path} holds no list of memories.")
    seen: dict[str, str] = {}
    links: list[tuple[str, str, MemoryLink]] = []
    for number, raw in enumerate(memories):
        place = f"{origin.path.name}: [{number}]"
        if not isinstance(raw, dict):
            yield Remark(place, "It is not a JSON object.")
            continue
        memo, original, refers = made(origin, as_object(raw), place)  # pyright: ignore[reportUnknownArgumentType]
        if not memo.content.strip():
            yield Remark(place, "It holds no text.")
        elif memo.expires_at is not None and memo.expires_at <= now():
            yield Remark(place, "It has expired.")
        elif original in seen:
            yield Remark(place, f"The same memory stands already at {seen[original]}.", lost=False)
        else:
            seen[original] = place
            links += [(original, place, link) for link in refers]
            yield from fit_memo(memo)
    for original, place, (tag, target) in links:
        if target in seen and target != original:
            ends = origin.make_memo_id(original), origin.make_memo_id(target)
            yield from fit_relation(TransferRelation(origin.namespace, *ends, tag, place=place))


def _parse_service_memory(origin: ImportSource, raw: Metadata, place: str) -> ParsedMemory:
    about = as_object(raw.get("metadata"))
    content = as_text(raw.get("content")) or as_text(raw.get("document"))
    given = as_text(raw.get("content_hash")) or as_text(about.get("content_hash")) or as_text(raw.get("id"))
    original = given or hashlib.sha256(content.encode()).hexdigest()
    every = {**about, **drop_fields(raw, "metadata")}
    created = _first_time(every, "created_at", "created_at_iso", "timestamp_float", "timestamp", "timestamp_str")
    told = drop_fields(about, *_SERVICE_TIMES, "content_hash", "tags", "tags_str", "type")
    told |= {"memory_type": every.get("memory_type") or every.get("type")}
    told |= {
        "tags": _parse_tags(raw.get("tags")) or _parse_tags(about.get("tags")) or _parse_tags(about.get("tags_str"))
    }
    told |= drop_fields(raw, *_SERVICE_TIMES, *_SERVICE_TAKEN)
    memo = TransferMemo(
        memo_id=origin.make_memo_id(original),
        namespace=origin.namespace,
        content=content,
        metadata={**{key: value for key, value in told.items() if value}, **origin.build_metadata(original)},
        thread=as_text(about.get("episode_id")),
        created_at=created,
        updated_at=_first_time(every, "updated_at", "updated_at_iso") or created,
        place=place,
    )
    before = as_text(about.get("preceding_memory_id"))
    return memo, original, [("follows", before)] if before else []


_SERVICE_TIMES = (
    *("created_at", "created_at_iso", "updated_at", "updated_at_iso"),
    *("timestamp", "timestamp_float", "timestamp_str"),
)
_SERVICE_TAKEN = ("content", "document", "content_hash", "id", "tags", "memory_type", "metadata", "embedding")


def _parse_mem0_memory(origin: ImportSource, raw: Metadata, place: str) -> ParsedMemory:
    content = as_text(raw.get("memory")) or as_text(raw.get("data")) or as_text(raw.get("text"))
    original = as_text(raw.get("id")) or hashlib.sha256(content.encode()).hexdigest()
    told = drop_fields(as_object(raw.get("metadata")))
    told |= {key: value for key, value in drop_fields(raw, *_MEM0_TAKEN).items() if value not in ("", [], {})}
    created = parse_foreign_time(raw.get("created_at"))
    memo = TransferMemo(
        memo_id=origin.make_memo_id(original),
        namespace=origin.namespace,
        content=content,
        metadata={**told, **origin.build_metadata(original)},
        thread=as_text(raw.get("run_id")) or as_text(raw.get("session_id")),
        created_at=created,
        updated_at=parse_foreign_time(raw.get("updated_at")) or created,
        expires_at=parse_foreign_time(raw.get("expiration_date")),
        place=place,
    )
    newer = as_text(raw.get("replaced_by"))
    return memo, original, [("replaced_by", newer)] if newer else []


# Left out beside what was understood: what is computed from the rest.
_MEM0_TAKEN = (
    *("id", "memory", "data", "text", "metadata", "created_at", "updated_at", "expiration_date"),
    *("hash", "score", "event", "structured_attributes"),
)


def _parse_tags(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    return [as_text(each).strip() for each in as_list(value) if as_text(each).strip()]


def _first_time(about: Metadata, *keys: str) -> int | None:
    return next((at for key in keys if (at := parse_foreign_time(about.get(key))) is not None), None)
