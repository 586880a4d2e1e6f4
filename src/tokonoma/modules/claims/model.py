"""A claim: its types, and how a row becomes a claim, a response, a document and a record."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Record, format_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import LAYERS, DeskPolicy, Layer

MODULE_NAME = "claims"
Kind = Literal["fact", "preference", "task", "policy_hint"]

# Not enums: the specification has special error codes for an unknown scope and an unknown class.
Scope = Annotated[str, Field(json_schema_extra={"enum": list(LAYERS)})]
BoundaryClass = Annotated[str, Field(json_schema_extra={"enum": list(CLASSIFICATIONS)})]
Allow = Annotated[
    list[str] | None,
    Field(max_length=50, description="purposes, such as answer:task or tool:mail; default: all of yours"),
]
PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]
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


class ClaimScoreParts(TypedDict):
    text: float
    vector: float
    combined: float
    utility: float
    confidence: float
    quality: float
    recency: float
    g: float


class ScoredClaimItem(TypedDict):
    claim: ClaimResponse
    score: float
    scores: NotRequired[ClaimScoreParts]
    evidences: NotRequired[list[EvidenceResponse]]
    reason: NotRequired[str]


class RerankParams(TypedDict):
    use_quality: bool
    recency_half_life_days: float


class ScoringParams(TypedDict):
    alpha: float
    k_txt: int
    k_vec: int
    k_final: int
    rerank: RerankParams


class ClaimSearchResponse(TypedDict):
    items: list[ScoredClaimItem]
    next_cursor: NotRequired[Opaque]
    has_more: bool
    policy_version: Opaque


class ActivateResponse(TypedDict):
    active_context_id: Opaque
    claims: list[ScoredClaimItem]
    claims_count: int
    expires_at: NotRequired[Opaque]
    next_cursor: NotRequired[Opaque]
    has_more: bool
    policy_version: Opaque
    provenance: NotRequired[list[dict[str, Any]]]
    scoring_params: ScoringParams


class ActiveContextResponse(TypedDict):
    active_context_id: Opaque
    claims: list[ScoredClaimItem]
    claims_count: int
    created_at: Opaque
    expires_at: NotRequired[Opaque]
    policy_version: Opaque


Uri = Annotated[str, Field(max_length=2000, json_schema_extra={"format": "uri"})]
PartName = Annotated[str, Field(min_length=1, max_length=200)]


class GitSource(TypedDict):
    commit: NotRequired[Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$")]]
    repo: NotRequired[Annotated[str, Field(max_length=500)]]
    url: NotRequired[Uri]
    files: NotRequired[Annotated[list[str], Field(max_length=200)]]


class Provenance(TypedDict):
    at: NotRequired[Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]]
    actor: NotRequired[Annotated[str, Field(max_length=200)]]
    git: NotRequired[GitSource]
    url: NotRequired[Uri]
    note: NotRequired[Annotated[str, Field(max_length=10_000)]]
    signed: NotRequired[bool]


EntityType = Literal["Actor", "Artifact", "Event", "Concept"]


class ClaimEntity(TypedDict):
    id: PartName
    type: EntityType
    name: Annotated[str, Field(min_length=1, max_length=500)]
    canonical_key: NotRequired[Annotated[str, Field(max_length=500)]]
    attrs: NotRequired[dict[str, Any]]


class ClaimRelation(TypedDict):
    id: PartName
    src_id: PartName
    dst_id: PartName
    type: PartName
    props: NotRequired[dict[str, Any]]
    evidence_claim_id: NotRequired[Annotated[str, Field(max_length=64)]]


@dataclass(frozen=True, slots=True)
class Claim:
    """A row: the fields are the columns of tables.COLUMNS, in their order."""

    id: str
    namespace: str
    classification: Classification  # at least as strict as the declared one
    declared: Classification
    scope: Layer
    kind: Kind
    text: str
    hash: str
    provenance_json: str  # parsed only when needed: most claims that are ranked are not shown
    created_at: int
    updated_at: int
    anchor_at: int  # its age counts from here
    expires_at: int | None
    utility: float = 0.0
    confidence: float = 0.5
    quality: float = 0.5
    superseded_by: str | None = None
    forgotten_at: int | None = None
    revision: int = 1

    @property
    def provenance(self) -> Mapping[str, Any]:
        return json.loads(self.provenance_json)

    @property
    def address(self) -> str:
        return format_address(MODULE_NAME, self.id)


def to_response(desk: Desk, claim: Claim) -> ClaimResponse:
    desk.cite(claim.address)
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
    return Document(
        claim.address,
        claim.namespace,
        claim.text,
        classification=claim.classification,
        facts=[("scope", claim.scope), ("kind", claim.kind)],
        at=claim.created_at,
        expires_at=claim.expires_at,
        aside=(claim.provenance_json,),
        changed_at=claim.updated_at,
    )


def to_record(claim: Claim) -> Record:
    return Record(
        claim.address,
        MODULE_NAME,
        claim.namespace,
        claim.classification,
        "",
        claim.text,
        claim.revision,
        details={"kind": claim.kind, "scope": claim.scope},
    )


def compute_hash(text: str) -> str:
    """Hash the normal form: NFC, LF, trimmed, each run of white space as one blank."""
    normal = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    packed = re.sub(r"\s+", " ", normal.strip())
    return "sha256:" + hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()


def parse_scope(asked: str) -> Layer:
    if asked in LAYERS:
        return asked
    message = f"There is no scope {asked[:40]!r}. Use session, project or principle."
    raise Invalid(message, reason="scope", field="scope")


def require_tags(policy: DeskPolicy, allow: Sequence[str] | None, hint: str = "") -> tuple[str, ...]:
    """The purposes of a call; Denied if the caller does not hold one of them."""
    tags = tuple(allow) if allow is not None else policy.tags
    if not_held := policy.find_tags_not_held(tags):
        message = f"This caller does not hold {', '.join(not_held)}.{hint}"
        raise Denied(message, reason="allow", allow=list(policy.tags))
    return tags


def parse_class(asked: str) -> Classification:
    if asked in CLASSIFICATIONS:
        return asked
    message = f"There is no boundary class {asked[:40]!r}. Use public, internal, pii or secret."
    raise Invalid(message, reason="boundary", field="boundary_class")
