"""What comes with a claim: its sources, and the entities and relations that it names."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.clock import parse_time
from tokonoma.core.desk import Rows, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import uuid7
from tokonoma.core.normalize import normalize
from tokonoma.modules.claims.model import ClaimEntity, ClaimRelation


def add_evidence(tx: Tx, place: Mapping[str, str], provenance: Mapping[str, Any]) -> bool:
    """Add each source once: a commit, a URL, or the actor. True if one of them is new, or newer than it was."""
    git: Mapping[str, Any] = provenance.get("git") or {}
    sources = [("git", git["commit"] if "commit" in git else git.get("url", ""))] if git else []
    sources += [("url", provenance["url"])] if provenance.get("url") else []
    added = 0
    for source_type, source_id in sources or [("actor", str(provenance.get("actor") or "unknown"))]:
        added += tx.run(
            """insert into claim_evidence (claim, id, space, label, source_type, source_id, snippet, at)
            values (:claim, :id, :space, :label, :source_type, :source_id, :snippet, :at)
            on conflict (claim, source_type, source_id) do update set at = excluded.at
            where claim_evidence.at < excluded.at""",
            id="evd_" + uuid7().replace("-", ""),
            **place,
            source_type=source_type,
            source_id=source_id,
            snippet=str(provenance.get("note") or "")[:500],
            at=parse_time(provenance["at"]),
        )
    return added > 0


def put_entities(tx: Tx, place: Mapping[str, str], entities: Sequence[ClaimEntity]) -> None:
    for entity in entities:
        key = entity.get("canonical_key", "")
        words = normalize(f"{entity['name']} {key} {entity['id']}")
        node = key or name_node(entity["type"], entity["name"])
        _put_part(tx, "claim_entity", ClaimEntity, "attrs", {**place, "node": node, "folded": words}, entity)


def name_node(entity_type: str, name: str) -> str:
    """What an entity without a canonical key is known by in all claims."""
    return f"{entity_type}:{normalize(name)}"


def put_relations(
    tx: Tx, place: Mapping[str, str], relations: Sequence[ClaimRelation], entities: Sequence[ClaimEntity]
) -> None:
    """Missing if the evidence of a relation does not exist; Invalid if one of its ends does not. `entities` came with
    the relations: their writer may not be allowed to read them."""
    given = {entity["id"] for entity in entities}
    for relation in relations:
        evidence = relation.get("evidence_claim_id", "")
        if evidence and tx.row("select 1 from claim where id = :id and {visible}", id=evidence) is None:
            message = f"There is no claim {evidence[:64]!r} that could be the evidence of a relation."
            raise Missing(message, field="evidence_claim_id")
        for end in ("src_id", "dst_id"):
            if relation[end] not in given and not _knows_entity(tx, place["space"], relation[end]):
                message = (
                    f"The relation {relation['id'][:64]!r} needs the entity {relation[end][:64]!r}, which does not"
                    " exist. Add it to entities, or use the id of an entity of another claim."
                )
                raise Invalid(message, field=f"relations.{end}")
        _put_part(tx, "claim_relation", ClaimRelation, "props", place, relation)


def _knows_entity(rows: Rows, namespace: str, entity_id: str) -> bool:
    """Whether this claim, or another one of its namespace, names the entity."""
    sql = "select 1 from claim_entity where space = :space and id = :id and {visible} limit 1"
    return rows.row(sql, space=namespace, id=entity_id) is not None


def _put_part(
    tx: Tx, table: str, members: type, json_column: str, place: Mapping[str, str], part: Mapping[str, Any]
) -> None:
    """Store an entity or a relation, or replace the claim's part with the same id."""
    values = {**place, **{name: part.get(name, "") for name in members.__annotations__}}
    values[json_column] = json.dumps(part.get(json_column, {}))
    changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in ("claim", "id", "space"))
    tx.run(
        f"""insert into {table} ({", ".join(values)}) values ({", ".join(f":{name}" for name in values)})
        on conflict (claim, id) do update set {changes}""",  # noqa: S608 - the names of our own types
        **values,
    )


def load_parts(rows: Rows, table: str, members: type, column: str, claim_id: str) -> list[dict[str, Any]]:
    """Entities or relations, without empty members; `column` holds JSON."""
    columns = list(members.__annotations__)
    found = rows.rows(
        f"select {', '.join(columns)} from {table} where claim = :id and {{visible}} order by id",  # noqa: S608
        id=claim_id,
    )
    parts = (dict(zip(columns, row, strict=True)) for row in found)
    parts = ({**part, column: json.loads(part[column])} for part in parts)
    return [{name: value for name, value in part.items() if value} for part in parts]
