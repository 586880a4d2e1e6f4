"""The knowledge graph of the official memory server: a line of JSON for each entity and each relation.

An entity becomes a memo whose title is its name and whose content are its observations, one a line.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from tokonoma.transfer.carried import ImportSource, Metadata, Remark, SourceRecord, TransferMemo, TransferRelation
from tokonoma.transfer.documents import as_list, as_object, as_text, drop_fields, load_document
from tokonoma.transfer.fit import fit_memo, fit_relation
from tokonoma.transfer.lines import read_objects

PlacedObject = tuple[str, Metadata]  # where it stands, and what it says


@dataclass(slots=True)
class _Entity:
    name: str
    kind: str
    place: str
    observations: list[str]
    more: Metadata
    missing: list[Metadata] = field(default_factory=list[Metadata])


def read_graph(origin: ImportSource) -> Iterator[SourceRecord]:
    entities: dict[str, _Entity] = {}
    links: list[PlacedObject] = []
    for each in _read_entries(origin):
        if isinstance(each, Remark):
            yield each
            continue
        place, raw = each
        if raw.get("type") == "entity":
            yield from _add_entity(place, raw, entities)
        elif raw.get("type") == "relation":
            links.append(each)
        else:
            yield Remark(place, f"{str(raw.get('type'))[:40]!r} is neither an entity nor a relation.")
    relations: list[TransferRelation] = []
    for place, raw in links:
        yield from _add_relation(origin, place, raw, entities, relations)
    for entity in entities.values():
        yield from fit_memo(_build_memo(origin, entity))
    for relation in relations:
        yield from fit_relation(relation)


def _read_entries(origin: ImportSource) -> Iterator[PlacedObject | Remark]:
    """Lines, or the one object that the server's `read_graph` answers with."""
    whole = _load_whole(origin)
    if whole is None:
        for each in read_objects(origin.path):
            yield each if isinstance(each, Remark) else (f"{origin.path.name}:{each[0]}", each[1])
        return
    for kind, plural in (("entity", "entities"), ("relation", "relations")):
        for number, raw in enumerate(as_list(whole.get(plural))):
            place = f"{origin.path.name}: {plural}[{number}]"
            yield (place, {**as_object(raw), "type": kind}) if raw else Remark(place, "It is not a JSON object.")


def _load_whole(origin: ImportSource) -> Metadata | None:
    with origin.path.open("rb") as file:
        start = file.read(4096)
    if b'"entities"' not in start and b'"relations"' not in start:
        return None
    value = as_object(load_document(origin.path))
    return value if isinstance(value.get("entities"), list) else None


def _add_entity(place: str, raw: Metadata, entities: dict[str, _Entity]) -> Iterator[Remark]:
    name, kind = as_text(raw.get("name")), as_text(raw.get("entityType"))
    if not name.strip():
        yield Remark(place, "The entity has no name.")
        return
    told: Any = raw.get("observations")
    listed = as_list(told) if isinstance(told, list) else [told] if told is not None else []  # pyright: ignore[reportUnknownArgumentType]
    observations = [each if isinstance(each, str) else orjson.dumps(each).decode() for each in listed]
    before = entities.get(name)
    if before is None:
        more = drop_fields(raw, "type", "name", "entityType", "observations")
        entities[name] = _Entity(name, kind, place, observations, more)
        return
    before.observations += [each for each in observations if each not in before.observations]
    yield Remark(place, f"{name[:80]!r} was already at {before.place}: the observations were put together.", lost=False)


def _add_relation(
    origin: ImportSource, place: str, raw: Metadata, entities: dict[str, _Entity], relations: list[TransferRelation]
) -> Iterator[Remark]:
    source, target, tag = (as_text(raw.get(key)) for key in ("from", "to", "relationType"))
    if not source or not target or not tag.strip():
        yield Remark(place, "The relation lacks from, to or relationType.")
        return
    absent = [name for name in (source, target) if name not in entities]
    if not absent and source != target:
        relations.append(
            TransferRelation(
                origin.namespace, origin.make_memo_id(source), origin.make_memo_id(target), tag, place=place
            )
        )
        return
    # What cannot be a relation stays with the entity that is there.
    holder = entities.get(source) or entities.get(target)
    why = f"There is no entity {absent[0][:80]!r}" if absent else "An entity cannot be related to itself"
    if holder is None:
        yield Remark(place, f"{why}, and none {target[:80]!r}.")
        return
    side = {"target": target} if holder.name == source else {"source": source}
    holder.missing.append({**side, "tag": tag})
    yield Remark(place, f"{why}; the relation is kept in metadata.missing_links of {holder.name[:80]!r}.", lost=False)


def _build_memo(origin: ImportSource, entity: _Entity) -> TransferMemo:
    told = {**entity.more, **({"entity_type": entity.kind} if entity.kind else {})}
    told |= {"missing_links": entity.missing} if entity.missing else {}
    return TransferMemo(
        memo_id=origin.make_memo_id(entity.name),
        namespace=origin.namespace,
        title=" ".join(entity.name.split()),
        content="\n".join("- " + each.replace("\n", "\n  ") for each in entity.observations) or entity.name,
        metadata={**told, **origin.build_metadata(entity.name)},
        place=entity.place,
    )
