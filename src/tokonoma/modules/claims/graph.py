"""What comes with a claim: where it is known from, what it speaks of, and how those hang together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import parse_time
from tokonoma.core.desk import Classification, Tx
from tokonoma.core.errors import Missing
from tokonoma.core.ids import uuid7
from tokonoma.modules.claims.claim import Claim


class ClaimEntity(TypedDict):
    id: Annotated[str, Field(min_length=1, max_length=200)]
    type: Literal["Actor", "Artifact", "Event", "Concept"]
    name: Annotated[str, Field(min_length=1, max_length=500)]
    canonical_key: NotRequired[Annotated[str, Field(max_length=500)]]
    attrs: NotRequired[dict[str, Any]]


class ClaimRelation(TypedDict):
    id: Annotated[str, Field(min_length=1, max_length=200)]
    src_id: Annotated[str, Field(min_length=1, max_length=200)]
    dst_id: Annotated[str, Field(min_length=1, max_length=200)]
    type: Annotated[str, Field(min_length=1, max_length=200)]
    props: NotRequired[dict[str, Any]]
    evidence_claim_id: NotRequired[Annotated[str, Field(max_length=64)]]


@dataclass(frozen=True, slots=True)
class ClaimParts:
    """What comes with a claim."""

    provenance: Mapping[str, Any]
    entities: Sequence[ClaimEntity] = ()
    relations: Sequence[ClaimRelation] = ()


def add_evidence(tx: Tx, claim: Claim, parts: ClaimParts, label: Classification) -> None:
    """Each source once: a commit, an address, or whoever said it."""
    given = parts.provenance
    git: Mapping[str, Any] = given.get("git") or {}
    sources = [("git", git["commit"] if "commit" in git else git.get("url", ""))] if git else []
    sources += [("url", given["url"])] if given.get("url") else []
    for source_type, source_id in sources or [("actor", str(given.get("actor") or "unknown"))]:
        tx.run(
            """insert into claim_evidence (id, claim, space, label, source_type, source_id, snippet, at)
            values (:id, :claim, :space, :label, :source_type, :source_id, :snippet, :at)
            on conflict (claim, source_type, source_id) do nothing""",
            id="evd_" + uuid7().replace("-", ""),
            claim=claim.id,
            space=claim.namespace,
            label=label,
            source_type=source_type,
            source_id=source_id,
            snippet=str(given.get("note") or "")[:500],
            at=parse_time(given["at"]),
        )


def add_graph(tx: Tx, claim: Claim, parts: ClaimParts, label: Classification) -> None:
    place = {"claim": claim.id, "space": claim.namespace, "label": label}
    for entity in parts.entities:
        tx.run(
            """insert into claim_entity (claim, id, space, label, type, name, canonical_key, attrs)
            values (:claim, :id, :space, :label, :type, :name, :canonical_key, :attrs)
            on conflict (claim, id) do update set type = excluded.type, name = excluded.name, label = excluded.label,
                canonical_key = excluded.canonical_key, attrs = excluded.attrs""",
            **place,
            id=entity["id"],
            type=entity["type"],
            name=entity["name"],
            canonical_key=entity.get("canonical_key", ""),
            attrs=json.dumps(entity.get("attrs", {})),
        )
    for relation in parts.relations:
        _check_evidence(tx, relation)
        tx.run(
            """insert into claim_relation (claim, id, space, label, src_id, dst_id, type, props, evidence_claim_id)
            values (:claim, :id, :space, :label, :src_id, :dst_id, :type, :props, :evidence)
            on conflict (claim, id) do update set src_id = excluded.src_id, dst_id = excluded.dst_id,
                type = excluded.type, props = excluded.props, evidence_claim_id = excluded.evidence_claim_id,
                label = excluded.label""",
            **place,
            id=relation["id"],
            src_id=relation["src_id"],
            dst_id=relation["dst_id"],
            type=relation["type"],
            props=json.dumps(relation.get("props", {})),
            evidence=relation.get("evidence_claim_id", ""),
        )


def _check_evidence(tx: Tx, relation: ClaimRelation) -> None:
    evidence = relation.get("evidence_claim_id")
    if evidence and tx.row("select 1 from claim where id = :id and {visible}", id=evidence) is None:
        raise Missing(f"There is no claim {evidence[:64]!r} to be evidence of a relation.", field="evidence_claim_id")
