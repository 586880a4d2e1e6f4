"""A claim as a row, and as the outside sees it."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, Record, Row, format_address
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import LAYERS, Layer

MODULE_NAME = "claims"
Kind = Literal["fact", "preference", "task", "policy_hint"]

# Checked by hand: the specification has codes of their own for a scope and a class that do not exist.
Scope = Annotated[str, Field(json_schema_extra={"enum": list(LAYERS)})]
BoundaryClass = Annotated[str, Field(json_schema_extra={"enum": list(CLASSIFICATIONS)})]
ClaimId = Annotated[str, Field(min_length=1, max_length=64, description="clm_…")]


class ClaimResponse(TypedDict):
    id: Opaque
    text: str
    kind: Kind
    scope: Literal["session", "project", "principle"]
    boundary_class: Literal["public", "internal", "pii", "secret"]
    created_at: Opaque
    updated_at: Opaque


class EvidenceResponse(TypedDict):
    id: Opaque
    source_type: str
    source_id: str
    snippet: NotRequired[str]
    at: Opaque


class GitSource(TypedDict):
    commit: NotRequired[Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$")]]
    repo: NotRequired[Annotated[str, Field(max_length=500)]]
    url: NotRequired[Annotated[str, Field(max_length=2000, json_schema_extra={"format": "uri"})]]
    files: NotRequired[Annotated[list[str], Field(max_length=200)]]


class Provenance(TypedDict):
    at: NotRequired[Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]]
    actor: NotRequired[Annotated[str, Field(max_length=200)]]
    git: NotRequired[GitSource]
    url: NotRequired[Annotated[str, Field(max_length=2000, json_schema_extra={"format": "uri"})]]
    note: NotRequired[Annotated[str, Field(max_length=10_000)]]
    signed: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class Claim:
    id: str
    namespace: str
    classification: Classification  # the class it has: at least the one that was said
    declared: Classification
    scope: Layer
    kind: Kind
    text: str
    hash: str
    provenance_json: str  # its provenance, as JSON: most claims that are looked at are never shown
    created_at: int
    updated_at: int
    anchor_at: int  # from when its age counts
    expires_at: int | None
    utility: float
    confidence: float
    quality: float
    superseded_by: str | None
    forgotten_at: int | None
    revision: int

    @property
    def provenance(self) -> Mapping[str, Any]:
        return json.loads(self.provenance_json)

    @property
    def address(self) -> str:
        return format_address(MODULE_NAME, self.id)


def row_to_claim(row: Row) -> Claim:
    """From the columns of tables.COLUMNS, in their order."""
    return Claim(*row)


def to_response(claim: Claim) -> ClaimResponse:
    return {
        "id": claim.id,
        "text": claim.text,
        "kind": claim.kind,
        "scope": claim.scope,
        "boundary_class": claim.classification,
        "created_at": format_time(claim.created_at),
        "updated_at": format_time(claim.updated_at),
    }


def to_document(claim: Claim) -> Document:
    facts: list[tuple[str, str | float | bool]] = [("scope", claim.scope), ("kind", claim.kind)]
    return Document(
        claim.address,
        claim.namespace,
        claim.text,
        "",
        claim.classification,
        facts,
        "",
        claim.created_at,
        claim.expires_at,
    )


def to_record(claim: Claim) -> Record:
    return Record(claim.address, MODULE_NAME, claim.namespace, claim.classification, "", claim.text, claim.revision)


def compute_hash(text: str) -> str:
    """Of the normal form: NFC, line ends as LF, no white space around it, runs of white space as one blank."""
    normal = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    packed = re.sub(r"\s+", " ", normal.strip())
    return "sha256:" + hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()


def parse_scope(asked: str, field: str = "scope") -> Layer:
    for layer in LAYERS:
        if layer == asked:
            return layer
    raise Invalid(
        f"{field}: there is no scope {asked[:40]!r}. Use session, project or principle.", reason="scope", field=field
    )


def parse_class(asked: str) -> Classification:
    for label in CLASSIFICATIONS:
        if label == asked:
            return label
    raise Invalid(
        f"There is no boundary class {asked[:40]!r}. Use public, internal, pii or secret.",
        reason="boundary",
        field="boundary_class",
    )
