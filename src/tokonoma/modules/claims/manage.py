"""pce.memory.get, .list, .history, .supersede and .forget: single claims and their life."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Desk, Tx, parse_address
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import (
    add_event,
    count_feedback,
    load_evidence,
    load_warnings,
    require_claim,
    save_claim,
    unknown_claim,
)
from tokonoma.modules.claims.model import Claim, ClaimId, ClaimResponse, Scope, parse_class, parse_scope, to_response
from tokonoma.modules.claims.parts import load_parts
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

_FORGET_LIMIT = 1000


class FullClaimResponse(ClaimResponse):
    content_hash: Opaque
    provenance: dict[str, Any]
    evidences: list[model.EvidenceResponse]
    entities: list[dict[str, Any]]
    relations: list[dict[str, Any]]
    utility: float
    confidence: float
    quality: float
    feedback: NotRequired[dict[str, int]]
    warning: NotRequired[str]
    expires_at: NotRequired[Opaque]
    superseded_by: NotRequired[Opaque]
    version: int


class ListedClaim(ClaimResponse):
    superseded_by: NotRequired[Opaque]


class ClaimListResponse(TypedDict):
    items: list[ListedClaim]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class ClaimEvent(TypedDict):
    version: int
    at: Opaque
    what: str
    by: str
    details: dict[str, Any]


class ClaimHistoryResponse(TypedDict):
    id: Opaque
    items: list[ClaimEvent]
    superseded: list[ClaimResponse]


class ClaimSupersedeResponse(TypedDict):
    id: Opaque
    supersedes: Opaque
    version: int


class ClaimForgetResponse(TypedDict):
    forgotten: int
    ids: list[Opaque]
    has_more: bool


def get(desk: Desk, claim_id: ClaimId) -> FullClaimResponse:
    """Return one claim with its sources, entities, relations and the effect of feedback."""
    claim = require_claim(desk, claim_id)
    response: FullClaimResponse = {
        **to_response(desk, claim),
        "content_hash": model.compute_hash(claim.text),  # of what is shown: that of a masked text could be guessed at
        "provenance": dict(claim.provenance),
        "evidences": load_evidence(desk, [claim.id]).get(claim.id, []),
        "entities": load_parts(desk, "claim_entity", model.ClaimEntity, "attrs", claim.id),
        "relations": load_parts(desk, "claim_relation", model.ClaimRelation, "props", claim.id),
        "utility": claim.utility,
        "confidence": claim.confidence,
        "quality": claim.quality,
        "version": claim.revision,
    }
    if counts := count_feedback(desk, claim.id):
        response["feedback"] = counts
    if warning := load_warnings(desk, [claim.id]).get(claim.id):
        response["warning"] = warning
    if claim.expires_at is not None:
        response["expires_at"] = format_time(claim.expires_at)
    if claim.superseded_by is not None:
        response["superseded_by"] = claim.superseded_by
    return response


def list_claims(
    desk: Desk,
    scope: Annotated[Scope | None, Field(description="only this scope")] = None,
    kind: model.Kind | None = None,
    boundary_class: Annotated[model.BoundaryClass | None, Field(description="only this class")] = None,
    superseded: Annotated[bool, Field(description="include superseded claims")] = False,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: model.PageCursor = None,
) -> ClaimListResponse:
    """List stored claims, newest first."""
    at, last = desk.open_cursor("claim_list", cursor) if cursor else (2**62, "")
    rows = desk.rows(
        f"""select {COLUMNS} from claim where {ALIVE} and {{visible}} and (:scope = '' or scope = :scope)
        and (:kind = '' or kind = :kind) and (:label_wanted = '' or label = :label_wanted)
        and (superseded_by is null or :superseded = 1)
        and (created_at < :at or (created_at = :at and id < :last))
        order by created_at desc, id desc limit :most""",  # noqa: S608 - the columns are our own
        now=desk.now(),
        scope=parse_scope(scope) if scope else "",
        kind=kind or "",
        label_wanted=parse_class(boundary_class) if boundary_class else "",
        superseded=int(superseded),
        at=at,
        last=last,
        most=limit + 1,
    )
    claims = [Claim(*row) for row in rows[:limit]]
    page: ClaimListResponse = {"items": [_list_claim(desk, claim) for claim in claims], "has_more": len(rows) > limit}
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor("claim_list", claims[-1].created_at, claims[-1].id)
    return page


def _list_claim(desk: Desk, claim: Claim) -> ListedClaim:
    listed: ListedClaim = {**to_response(desk, claim)}
    if claim.superseded_by is not None:
        listed["superseded_by"] = claim.superseded_by
    return listed


def history(desk: Desk, claim_id: ClaimId) -> ClaimHistoryResponse:
    """Return the events of a claim, oldest first, and the claims that it supersedes."""
    if desk.row("select id from claim where id = :id and {visible}", id=claim_id) is None:
        raise unknown_claim(claim_id)
    rows = desk.rows(
        """select revision, at, what, by, details from claim_event where claim = :id and {visible}
        order by revision limit 500""",
        id=claim_id,
    )
    older = desk.rows(
        f"select {COLUMNS} from claim where superseded_by = :id and {{visible}} order by created_at limit 100",  # noqa: S608
        id=claim_id,
    )
    events = [
        ClaimEvent(version=revision, at=format_time(at), what=what, by=by, details=json.loads(details))
        for revision, at, what, by, details in rows
    ]
    return {"id": claim_id, "items": events, "superseded": [to_response(desk, Claim(*each)) for each in older]}


def supersede(
    desk: Desk,
    claim_id: Annotated[ClaimId, Field(description="the older claim")],
    by: Annotated[ClaimId, Field(description="the newer claim, which is recalled instead")],
    expected_version: Annotated[int | None, Field(ge=1, description="fails if the older claim has changed")] = None,
) -> ClaimSupersedeResponse:
    """Replace an older claim by a newer one. Both stay stored; only the newer one is recalled."""
    if claim_id == by:
        raise Invalid("A claim cannot supersede itself.", field="by")
    with desk.write() as tx:
        for each in sorted((claim_id, by)):  # in a fixed order, to avoid deadlocks
            require_claim(tx, each, lock=True)
        old, new = require_claim(tx, claim_id, expected_version), require_claim(tx, by)
        if _is_superseded_by(tx, new, old.id):
            raise Conflict("The newer claim is itself superseded by the older one.", reason="circle")
        changed = save_claim(tx, replace(old, superseded_by=new.id), desk.now())
        add_event(tx, changed, "superseded", desk.principal, by=new.id)
    return {"id": new.id, "supersedes": old.id, "version": changed.revision}


def forget(
    desk: Desk,
    claim_id: Annotated[ClaimId | None, Field(description="one claim")] = None,
    scope: Annotated[Scope | None, Field(description="all claims of this scope")] = None,
    provenance: Annotated[
        dict[str, str] | None, Field(description='source: {"actor"|"url"|"commit"|"repo": …}')
    ] = None,
    expected_version: Annotated[int | None, Field(ge=1, description="with claim_id")] = None,
) -> ClaimForgetResponse:
    """Forget claims: by id, by source, by scope, or by source and scope. Up to 1 000 per call."""
    if claim_id is None and scope is None and not provenance:
        raise Invalid("Give claim_id, scope or provenance.", fields=["claim_id", "scope", "provenance"])
    if claim_id is not None and (scope is not None or provenance):
        raise Invalid("Give claim_id, or scope and provenance, not both.", fields=["claim_id", "scope", "provenance"])
    with desk.write() as tx:
        if claim_id is not None:
            wanted = [require_claim(tx, claim_id, expected_version, lock=True)]
        else:
            wanted = _find_matching(tx, parse_scope(scope) if scope else "", provenance or {})
        ids: list[Opaque] = [forget_claim(tx, desk, claim) for claim in wanted[:_FORGET_LIMIT]]
    return {"forgotten": len(ids), "ids": ids, "has_more": len(wanted) > _FORGET_LIMIT}


def forget_address(desk: Desk, address: str) -> ClaimForgetResponse:
    """The owner's own command: also for a claim that the policy hides."""
    return forget(desk, claim_id=parse_address(address)[1])


def forget_claim(tx: Tx, desk: Desk, claim: Claim) -> Opaque:
    """Delete its text; that it existed, and the caller that forgot it, stay recorded. Returns its id."""
    changed = replace(claim, revision=claim.revision + 1)
    tx.run(
        """update claim set forgotten_at = :at, text = '', provenance = '{}', revision = :revision
        where id = :id and {visible}""",
        at=desk.now(),
        revision=changed.revision,
        id=claim.id,
    )
    for table in ("claim_evidence", "claim_entity", "claim_relation"):
        tx.run(f"delete from {table} where claim = :id and {{visible}}", id=claim.id)  # noqa: S608 - our own names
    # The claims that it superseded are recalled again.
    rows = tx.rows(f"select {COLUMNS} from claim where superseded_by = :id and {{visible}}", id=claim.id)  # noqa: S608
    for older in (Claim(*row) for row in rows):
        restored = save_claim(tx, replace(older, superseded_by=None), desk.now())
        add_event(tx, restored, "restored", desk.principal, after=claim.id)
    tx.drop(claim.address)
    add_event(tx, changed, "forgotten", desk.principal)
    return claim.id


def _find_matching(tx: Tx, scope: str, provenance: Mapping[str, str]) -> list[Claim]:
    if unknown := sorted(provenance.keys() - {"actor", "url", "commit", "repo"}):
        message = f"provenance: {', '.join(unknown)} is not supported; use actor, commit, repo, url."
        raise Invalid(message, field="provenance")
    rows = tx.rows(
        f"""select {COLUMNS} from claim where {ALIVE} and (:scope = '' or scope = :scope) and {{visible}}
        order by id {{for_update}}""",  # noqa: S608
        now=now(),
        scope=scope,
    )
    return [claim for row in rows if _comes_from(claim := Claim(*row), provenance)]


def _comes_from(claim: Claim, wanted: Mapping[str, str]) -> bool:
    git: Mapping[str, Any] = claim.provenance.get("git") or {}
    known = {**claim.provenance, "commit": git.get("commit"), "repo": git.get("repo")}
    return all(known.get(key) == value or (key == "url" and git.get("url") == value) for key, value in wanted.items())


def _is_superseded_by(tx: Tx, claim: Claim, by: str) -> bool:
    """Whether a claim is superseded by another, directly or through others."""
    seen: set[str] = set()
    current = claim.superseded_by
    while current is not None and current != by and current not in seen:
        seen.add(current)
        row = tx.row("select superseded_by from claim where id = :id and {visible}", id=current)
        current = row[0] if row else None
    return current == by
