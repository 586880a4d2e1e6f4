"""A claim outside of the database, with everything that belongs to it."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Classification, Desk, Rows
from tokonoma.core.namespaces import format_namespace
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import bind_list
from tokonoma.modules.claims.model import Claim, ClaimEntity, ClaimRelation
from tokonoma.modules.claims.parts import load_parts

ImportedId = Annotated[str, Field(pattern=r"^clm_[A-Za-z0-9]{1,60}$")]
Part = Mapping[str, Any]

# The lists of a claim, the columns of their tables, and what makes a row of a claim the same row.
LISTS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "evidences": ("claim_evidence", ("id", "source_type", "source_id", "snippet", "at"), ("source_type", "source_id")),
    "events": ("claim_event", ("revision", "at", "what", "by", "details"), ("revision",)),
    "feedback": ("claim_feedback", ("caller", "signal", "bucket", "score"), ("caller", "signal", "bucket")),
}


class PortableClaim(TypedDict):
    """A claim outside of the database. Times are RFC 3339."""

    claim_id: ImportedId
    namespace: str
    text: str
    kind: model.Kind
    scope: Literal["session", "project", "principle"]
    boundary_class: Classification
    provenance: model.Provenance
    created_at: str
    updated_at: str
    anchor_at: str
    expires_at: NotRequired[str | None]
    utility: Annotated[float, Field(ge=-1, le=1)]
    confidence: Annotated[float, Field(ge=0, le=1)]
    quality: Annotated[float, Field(ge=0, le=1)]
    superseded_by: NotRequired[str | None]
    version: Annotated[int, Field(ge=1, lt=2**62)]
    evidences: list[dict[str, Any]]
    entities: list[ClaimEntity]
    relations: list[ClaimRelation]
    events: list[dict[str, Any]]
    feedback: list[dict[str, Any]]


def to_portable(rows: Rows, desk: Desk, claims: Sequence[Claim]) -> list[PortableClaim]:
    lists = {name: _load_list(rows, name, [claim.id for claim in claims]) for name in LISTS}
    return [
        {
            "claim_id": claim.id,
            "namespace": format_namespace(claim.namespace, desk.principal),
            "text": claim.text,
            "kind": claim.kind,
            "scope": claim.scope,
            "boundary_class": claim.declared,
            "provenance": cast("model.Provenance", dict(claim.provenance)),
            "created_at": format_time(claim.created_at),
            "updated_at": format_time(claim.updated_at),
            "anchor_at": format_time(claim.anchor_at),
            "expires_at": None if claim.expires_at is None else format_time(claim.expires_at),
            "utility": claim.utility,
            "confidence": claim.confidence,
            "quality": claim.quality,
            "superseded_by": claim.superseded_by,
            "version": claim.revision,
            "evidences": lists["evidences"].get(claim.id, []),
            "entities": cast("Any", load_parts(rows, "claim_entity", ClaimEntity, "attrs", claim.id)),
            "relations": cast("Any", load_parts(rows, "claim_relation", ClaimRelation, "props", claim.id)),
            "events": lists["events"].get(claim.id, []),
            "feedback": lists["feedback"].get(claim.id, []),
        }
        for claim in claims
    ]


def _load_list(rows: Rows, name: str, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    table, columns, key = LISTS[name]
    listed, params = bind_list(ids)
    wanted = ", ".join(f"p.{column}" for column in columns)
    visible = "{visible:p} and " if name != "feedback" else ""
    sql = f"""select c.id, {wanted} from {table} p join claim c on c.id = p.claim
        where {visible}{{visible:c}} and c.id in ({listed}) order by {", ".join(f"p.{each}" for each in key)}"""  # noqa: S608
    found: dict[str, list[dict[str, Any]]] = {}
    for claim_id, *values in rows.rows(sql, **params) if ids else ():
        part = dict(zip(columns, values, strict=True))
        part |= {"at": format_time(part["at"])} if "at" in part else {}
        part |= {"details": json.loads(part["details"])} if "details" in part else {}
        found.setdefault(claim_id, []).append(part)
    return found
