"""Reads exports of other memory servers: the graph of the official memory server, mcp-memory-service, mem0.

An entity of the graph becomes a memo: its name is the title, its observations are the lines of the content.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_list, as_object, as_text, drop_fields, first_time, load_document, read_objects
from tokonoma.transfer.fit import fit_memo, fit_relation
from tokonoma.transfer.memory_databases import is_database, load_database
from tokonoma.transfer.model import ImportSource, MemoRecord, Metadata, RelationRecord, Remark, SourceItem

PlacedObject = tuple[str, Metadata]  # its place in the source, the object
MemoryLink = tuple[str, str]  # a tag, the original id of the target
ParsedMemory = tuple[MemoRecord, str, list[MemoryLink]]  # a memo, its original id, its links

_SERVICE_TIMES = (
    *("created_at", "created_at_iso", "updated_at", "updated_at_iso"),
    *("timestamp", "timestamp_float", "timestamp_str"),
)
_SERVICE_FIELDS = ("content", "document", "content_hash", "id", "tags", "memory_type", "metadata", "embedding")
_MEM0_FIELDS = (
    *("id", "memory", "data", "text", "metadata", "created_at", "updated_at", "expiration_date"),
    *("hash", "score", "event", "structured_attributes"),  # computed from the others
)


@dataclass(slots=True)
class _Entity:
    name: str
    kind: str
    place: str
    observations: list[str]
    others: Metadata
    missing: list[Metadata] = field(default_factory=list[Metadata])


@dataclass(slots=True)
class _Graph:
    source: ImportSource
    entities: dict[str, _Entity] = field(default_factory=dict[str, _Entity])
    relations: list[RelationRecord] = field(default_factory=list[RelationRecord])

    def add_entity(self, place: str, raw: Metadata) -> Iterator[Remark]:
        name, kind = as_text(raw.get("name")), as_text(raw.get("entityType"))
        if not name.strip():
            yield Remark(place, "The entity has no name.")
            return
        value: Any = raw.get("observations")
        listed = as_list(value) if isinstance(value, list) else [value] if value is not None else []  # pyright: ignore[reportUnknownArgumentType]
        observations = [each if isinstance(each, str) else orjson.dumps(each).decode() for each in listed]
        before = self.entities.get(name)
        if before is None:
            others = drop_fields(raw, "type", "name", "entityType", "observations")
            self.entities[name] = _Entity(name, kind, place, observations, others)
            return
        before.observations += [each for each in observations if each not in before.observations]
        why = f"{name[:80]!r} was already at {before.place}: the observations were merged."
        yield Remark(place, why, lost=False)

    def add_relation(self, place: str, raw: Metadata) -> Iterator[Remark]:
        """Add a relation. One that is not possible is kept in the metadata of an entity that exists."""
        origin, target, tag = (as_text(raw.get(key)) for key in ("from", "to", "relationType"))
        if not origin or not target or not tag.strip():
            yield Remark(place, "The relation lacks from, to or relationType.")
            return
        absent = [name for name in (origin, target) if name not in self.entities]
        if not absent and origin != target:
            ends = self.source.make_memo_id(origin), self.source.make_memo_id(target)
            self.relations.append(RelationRecord(self.source.namespace, *ends, tag, place=place))
            return
        holder = self.entities.get(origin) or self.entities.get(target)
        why = f"There is no entity {absent[0][:80]!r}" if absent else "An entity cannot be related to itself"
        if holder is None:
            yield Remark(place, f"{why}, and none {target[:80]!r}.")
            return
        other_end = {"target": target} if holder.name == origin else {"source": origin}
        holder.missing.append({**other_end, "tag": tag})
        why = f"{why}; the relation was saved in metadata.missing_links of {holder.name[:80]!r}."
        yield Remark(place, why, lost=False)


def read_graph(source: ImportSource) -> Iterator[SourceItem]:
    """Read lines of JSON, or the one object that the tool `read_graph` of the official server returns."""
    graph = _Graph(source)
    links: list[PlacedObject] = []
    for each in _read_graph_objects(source):
        if isinstance(each, Remark):
            yield each
            continue
        place, raw = each
        if raw.get("type") == "entity":
            yield from graph.add_entity(place, raw)
        elif raw.get("type") == "relation":
            links.append(each)
        else:
            yield Remark(place, f"{str(raw.get('type'))[:40]!r} is neither an entity nor a relation.")
    for place, raw in links:
        yield from graph.add_relation(place, raw)
    for entity in graph.entities.values():
        metadata = {**entity.others, **({"entity_type": entity.kind} if entity.kind else {})}
        metadata |= {"missing_links": entity.missing} if entity.missing else {}
        content = "\n".join("- " + each.replace("\n", "\n  ") for each in entity.observations) or entity.name
        title = " ".join(entity.name.split())
        yield from fit_memo(source.build_memo(entity.name, content, metadata, title=title, place=entity.place))
    for relation in graph.relations:
        yield from fit_relation(relation)


def _read_graph_objects(source: ImportSource) -> Iterator[PlacedObject | Remark]:
    with source.path.open("rb") as file:
        start = file.read(4096)
    is_whole = b'"entities"' in start or b'"relations"' in start
    whole = as_object(load_document(source.path)) if is_whole else {}
    if not isinstance(whole.get("entities"), list):
        for each in read_objects(source.path):
            yield each if isinstance(each, Remark) else (f"{source.path.name}:{each[0]}", each[1])
        return
    for kind, plural in (("entity", "entities"), ("relation", "relations")):
        for number, raw in enumerate(as_list(whole.get(plural))):
            place = f"{source.path.name}: {plural}[{number}]"
            yield (place, {**as_object(raw), "type": kind}) if raw else Remark(place, "It is not a JSON object.")


def read_mem0(source: ImportSource) -> Iterator[SourceItem]:
    """Read a list of memories, or `{"results": […]}`."""
    if as_object(load_memories(source.path)).get("relations"):
        yield Remark(f"{source.path.name}: relations", "Its relations connect names, not memories; they were skipped.")
    yield from read_memories(source, _parse_mem0_memory)


def load_memories(path: Path) -> Any:
    """An export, or the database of the server itself."""
    return load_database(path) if is_database(path) else load_document(path)


def find_memory_list(value: Any) -> list[Any] | None:
    """The list of memories in a document of mcp-memory-service or mem0."""
    if isinstance(value, list):
        return as_list(value)  # pyright: ignore[reportUnknownArgumentType]
    whole = as_object(value)
    return next((as_list(whole[key]) for key in ("memories", "results", "items") if key in whole), None)


def read_memories(
    source: ImportSource, parse: Callable[[ImportSource, Metadata, str], ParsedMemory]
) -> Iterator[SourceItem]:
    memories = find_memory_list(load_memories(source.path))
    if memories is None:
        raise Invalid(f"{source.path} contains no list of memories.")
    places: dict[str, str] = {}
    links: list[tuple[str, str, MemoryLink]] = []
    for number, raw in enumerate(memories):
        place = f"{source.path.name}: [{number}]"
        if not isinstance(raw, dict):
            yield Remark(place, "It is not a JSON object.")
            continue
        memo, original, linked = parse(source, as_object(raw), place)  # pyright: ignore[reportUnknownArgumentType]
        if not memo.content.strip():
            yield Remark(place, "It contains no text.")
        elif memo.expires_at is not None and memo.expires_at <= now():
            yield Remark(place, "It has expired.")
        elif original in places:
            yield Remark(place, f"The same memory is already at {places[original]}.", lost=False)
        else:
            places[original] = place
            links += [(original, place, link) for link in linked]
            yield from fit_memo(memo)
    for original, place, (tag, target) in links:
        if target in places and target != original:
            ends = source.make_memo_id(original), source.make_memo_id(target)
            yield from fit_relation(RelationRecord(source.namespace, *ends, tag, place=place))


def parse_service_memory(source: ImportSource, raw: Metadata, place: str) -> ParsedMemory:
    """Parse a memory of mcp-memory-service: of an export, of the export of its web page, or of an older backup."""
    inner = as_object(raw.get("metadata"))
    content = as_text(raw.get("content")) or as_text(raw.get("document"))
    given = as_text(raw.get("content_hash")) or as_text(inner.get("content_hash")) or as_text(raw.get("id"))
    original = given or hashlib.sha256(content.encode()).hexdigest()
    fields = {**inner, **drop_fields(raw, "metadata")}
    created = first_time(fields, "created_at", "created_at_iso", "timestamp_float", "timestamp", "timestamp_str")
    metadata = drop_fields(inner, *_SERVICE_TIMES, "content_hash", "tags", "tags_str", "type")
    metadata |= {"memory_type": fields.get("memory_type") or fields.get("type")}
    tags = (_parse_tags(value) for value in (raw.get("tags"), inner.get("tags"), inner.get("tags_str")))
    metadata |= {"tags": next(filter(None, tags), None)}
    metadata |= drop_fields(raw, *_SERVICE_TIMES, *_SERVICE_FIELDS)
    memo = source.build_memo(
        original,
        content,
        {key: value for key, value in metadata.items() if value},
        thread=as_text(inner.get("episode_id")),
        created_at=created,
        updated_at=first_time(fields, "updated_at", "updated_at_iso") or created,
        place=place,
    )
    before = as_text(inner.get("preceding_memory_id"))
    return memo, original, [("follows", before)] if before else []


def _parse_mem0_memory(source: ImportSource, raw: Metadata, place: str) -> ParsedMemory:
    content = as_text(raw.get("memory")) or as_text(raw.get("data")) or as_text(raw.get("text"))
    original = as_text(raw.get("id")) or hashlib.sha256(content.encode()).hexdigest()
    metadata = drop_fields(as_object(raw.get("metadata")))
    metadata |= {key: value for key, value in drop_fields(raw, *_MEM0_FIELDS).items() if value not in ("", [], {})}
    created = first_time(raw, "created_at")
    memo = source.build_memo(
        original,
        content,
        metadata,
        thread=as_text(raw.get("run_id")) or as_text(raw.get("session_id")),
        created_at=created,
        updated_at=first_time(raw, "updated_at") or created,
        expires_at=first_time(raw, "expiration_date"),
        place=place,
    )
    newer = as_text(raw.get("replaced_by"))
    return memo, original, [("replaced_by", newer)] if newer else []


def _parse_tags(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    return [as_text(each).strip() for each in as_list(value) if as_text(each).strip()]
