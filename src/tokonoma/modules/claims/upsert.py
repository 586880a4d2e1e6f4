"""pce.memory.upsert: a fragment worth keeping, with where it is known from. The same again is the same claim."""

import json
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now, parse_time
from tokonoma.core.desk import Classification, Desk, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.policy import Layer
from tokonoma.modules.claims.claim import (
    BoundaryClass,
    Claim,
    Kind,
    Provenance,
    Scope,
    compute_hash,
    parse_class,
    parse_scope,
    row_to_claim,
    to_document,
)
from tokonoma.modules.claims.events import add_event
from tokonoma.modules.claims.graph import ClaimEntity, ClaimParts, ClaimRelation, add_evidence, add_graph
from tokonoma.modules.claims.ranking import compute_quality
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

MAX_TEXT_BYTES = 60_000  # bytes; the whole call may have 64 KB
_MAX_PARTS = 100


class ClaimUpsertResponse(TypedDict):
    id: Opaque
    policy_version: Opaque


def upsert(
    desk: Desk,
    text: Annotated[str, Field(min_length=1, description="one fact, preference, task or hint")],
    provenance: Annotated[Provenance, Field(description="where it is known from; `at` is required outside session")],
    kind: Kind = "fact",
    scope: Annotated[Scope, Field(description="session fades; project and principle stay")] = "session",
    boundary_class: Annotated[BoundaryClass, Field(description="who may see it; finds make it stricter")] = "internal",
    entities: Annotated[list[ClaimEntity] | None, Field(max_length=_MAX_PARTS)] = None,
    relations: Annotated[list[ClaimRelation] | None, Field(max_length=_MAX_PARTS)] = None,
    content_hash: Annotated[str | None, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="checked if given")] = None,
) -> ClaimUpsertResponse:
    """Keep a claim. The same text in the same scope and class is the same claim: its id comes back, and the new source
    is added to its evidence. Secrets are refused; personal data makes its class stricter."""
    layer, label = parse_scope(scope), parse_class(boundary_class)
    digest = _check_text(text, content_hash)
    _check_boundary(desk, label, layer)
    parts = ClaimParts(_complete_provenance(provenance, layer), entities or (), relations or ())
    with desk.write() as tx:
        claim_id = upsert_claim(desk, tx, text, kind, layer, label, digest, parts).id
    return {"id": claim_id, "policy_version": desk.policy.version}


def upsert_claim(
    desk: Desk, tx: Tx, text: str, kind: Kind, layer: Layer, label: Classification, digest: str, parts: ClaimParts
) -> Claim:
    """The claim with this content, made if there is none."""
    space = desk.principal.default
    row = tx.row(
        f"""select {COLUMNS} from claim where hash = :hash and space = :space and scope = :scope and class = :class
        and {ALIVE} and {{visible}} {{for_update}}""",  # noqa: S608 - the columns are our own
        hash=digest,
        space=space,
        scope=layer,
        **{"class": label},
        now=now(),
    )
    claim = row_to_claim(row) if row else _build_claim(desk, space, text, kind, layer, label, digest, parts)
    if row is None:
        _release_expired(tx, claim)
        there = _insert_claim(tx, claim)
        if there != claim.id:
            return replace(claim, id=there)  # it is there, and not for this caller's eyes: nothing of it is changed
        given = tx.put(to_document(claim))
        add_event(tx, claim, "made", desk.principal, given)
    else:
        given = claim.classification
        _renew_expiry(desk, tx, claim)
    strict = tx.classify(given, space, *_part_texts(parts))
    add_evidence(tx, claim, parts, strict)
    add_graph(tx, claim, parts, strict)
    return claim


def _build_claim(
    desk: Desk, space: str, text: str, kind: Kind, layer: Layer, label: Classification, digest: str, parts: ClaimParts
) -> Claim:
    at = now()
    return Claim(
        id="clm_" + uuid7().replace("-", ""),
        namespace=space,
        classification=label,
        declared=label,
        scope=layer,
        kind=kind,
        text=text,
        hash=digest,
        provenance_json=json.dumps(parts.provenance),
        created_at=at,
        updated_at=at,
        anchor_at=at,
        expires_at=_session_expiry(desk, layer, at),
        utility=0.0,
        confidence=0.5,
        quality=compute_quality(parts.provenance),
        superseded_by=None,
        forgotten_at=None,
        revision=1,
    )


def _release_expired(tx: Tx, claim: Claim) -> None:
    """One that has faded, or that this caller cannot see, does not stand in the way of saying it anew."""
    tx.run(
        """update claim set forgotten_at = :at where hash = :hash and space = :space and scope = :scope
        and class = :class and forgotten_at is null and expires_at is not null and expires_at <= :at and {visible}""",
        at=claim.created_at,
        hash=claim.hash,
        space=claim.namespace,
        scope=claim.scope,
        **{"class": claim.declared},
    )


def _insert_claim(tx: Tx, claim: Claim) -> str:
    """Its id, or that of the same one which is there already."""
    row = {
        "id": claim.id,
        "space": claim.namespace,
        "label": claim.classification,
        "class": claim.declared,
        "scope": claim.scope,
        "kind": claim.kind,
        "text": claim.text,
        "hash": claim.hash,
        "provenance": claim.provenance_json,
        "created_at": claim.created_at,
        "updated_at": claim.updated_at,
        "anchor_at": claim.anchor_at,
        "expires_at": claim.expires_at,
        "utility": claim.utility,
        "confidence": claim.confidence,
        "quality": claim.quality,
    }
    made = tx.row(
        f"""insert into claim ({COLUMNS}) values (:id, :space, :label, :class, :scope, :kind, :text, :hash, :provenance,
        :created_at, :updated_at, :anchor_at, :expires_at, :utility, :confidence, :quality, null, null, 1)
        on conflict (hash, space, scope, class) where forgotten_at is null do update set revision = claim.revision
        returning id""",  # noqa: S608
        **row,
    )
    assert made is not None
    return made[0]


def _renew_expiry(desk: Desk, tx: Tx, claim: Claim) -> None:
    """Said again, an observation fades later."""
    expires = _session_expiry(desk, claim.scope, now())
    if expires != claim.expires_at:
        tx.run("update claim set expires_at = :expires where id = :id and {visible}", expires=expires, id=claim.id)
        tx.put(to_document(replace(claim, expires_at=expires)))


def _session_expiry(desk: Desk, layer: Layer, at: int) -> int | None:
    ttl = desk.policy.layer_rule(layer).ttl
    return at + ttl if layer == "session" and ttl is not None else None


def _part_texts(parts: ClaimParts) -> list[str]:
    return [json.dumps(each, ensure_ascii=False) for each in (parts.provenance, *parts.entities, *parts.relations)]


def _check_text(text: str, given: str | None) -> str:
    if not text.strip():
        raise Invalid("text is empty.", field="text")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        told = f"text has more than {MAX_TEXT_BYTES} bytes. A claim is one thing: say it shorter."
        raise Invalid(told, field="text", limit=MAX_TEXT_BYTES)
    digest = compute_hash(text)
    if given is not None and given != digest:
        raise Invalid(
            "content_hash is not that of text in its normal form (NFC, LF, trimmed, runs of white space as one).",
            field="content_hash",
            expected=digest,
        )
    return digest


def _check_boundary(desk: Desk, label: Classification, layer: Layer) -> None:
    decision = desk.policy.decide(desk.policy.tags, label, layer, "write")
    if decision.verdict == "deny":
        told = f"A claim of class {label} cannot be kept in {layer}: {decision.reason}."
        raise Invalid(told, reason="boundary", field="boundary_class")


def _complete_provenance(given: Provenance, layer: Layer) -> dict[str, Any]:
    """With its time: now for an observation, told for everything that stays."""
    at = given.get("at")
    if at is None:
        if layer != "session":
            raise Invalid(f"provenance.at is required in {layer}: when was this known?", field="provenance.at")
        return {"at": format_time(now()), **given}
    try:
        return {**given, "at": format_time(parse_time(at))}
    except (ValueError, OverflowError):
        raise Invalid("provenance.at must be a time like 2027-01-31T09:00:00Z.", field="provenance.at") from None
