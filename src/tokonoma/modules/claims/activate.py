"""pce.memory.activate and .context.get: an active context, which is what an agent works with until it expires."""

import json
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Expired, Missing
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.policy import LAYERS
from tokonoma.modules.claims.claim import to_response
from tokonoma.modules.claims.recall import (
    Allow,
    IncludeMeta,
    PageCursor,
    RecallPage,
    RecallRequest,
    Scopes,
    ScoredClaimItem,
    ScoringParams,
    TopK,
    build_items,
    build_params,
    encode_next_cursor,
    load_claims,
    parse_request,
    recall_page,
)

_EXPIRED_KEPT_FOR = 7 * 86_400_000  # milliseconds for which an expired context is still known to have been one


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


def activate(
    desk: Desk,
    q: Annotated[str, Field(min_length=1, max_length=8_000, description="the task or question at hand")],
    scope: Scopes = None,
    allow: Allow = None,
    top_k: TopK = None,
    cursor: PageCursor = None,
    include_meta: IncludeMeta = False,
) -> ActivateResponse:
    """Make an active context for a task: what is known and may be used for it. Put the claims at the head of your
    prompt; context.get gives the same again until it expires."""
    asked = parse_request(desk, q, scope, allow, top_k, cursor, include_meta)
    found = recall_page(desk, asked)
    at = now()
    lives = [ttl for layer in asked.scopes if (ttl := desk.policy.layer_rule(layer).ttl) is not None]
    expires = at + min(lives) if lives else None
    context_id = _save_context(desk, asked, found, at, expires)
    answer: ActivateResponse = {
        "active_context_id": context_id,
        "claims": build_items(desk, asked, found),
        "claims_count": len(found.items),
        "has_more": found.has_more,
        "policy_version": desk.policy.version,
        "provenance": [{"claim_id": one.claim.id, **one.claim.provenance} for one in found.items],
        "scoring_params": build_params(desk.policy.retrieval, found.alpha),
    }
    if expires is not None:
        answer["expires_at"] = format_time(expires)
    if found.has_more:
        answer["next_cursor"] = encode_next_cursor(asked, found)
    return answer


def context_get(
    desk: Desk,
    active_context_id: Annotated[str, Field(max_length=64, description="ac_…")],
) -> ActiveContextResponse:
    """An active context again: its claims as they are now, with the scores they had. After its expiry: 410."""
    row = desk.row(
        """select created_at, expires_at, policy_version, claims, tags from active_context
        where id = :id and caller = :caller""",
        id=active_context_id,
        caller=desk.principal.name,
    )
    if row is None:
        raise Missing(f"There is no active context {active_context_id!r} of yours.", reason="context")
    created, expires, version, listed, tags = row
    if expires is not None and expires <= now():
        over = format_time(expires)
        raise Expired(f"The active context expired at {over}. Activate a new one.", reason="context", expired_at=over)
    scores: dict[str, float] = dict(json.loads(listed))
    items = [
        ScoredClaimItem(claim=to_response(claim), score=scores[claim.id])
        for claim in load_claims(desk, list(scores), now())
        if desk.policy.decide(json.loads(tags), claim.classification, claim.scope).verdict != "deny"
    ]
    items.sort(key=lambda item: (-item["score"], item["claim"]["id"]))
    told_context: ActiveContextResponse = {
        "active_context_id": active_context_id,
        "claims": items,
        "claims_count": len(items),
        "created_at": format_time(created),
        "policy_version": version,
    }
    if expires is not None:
        told_context["expires_at"] = format_time(expires)
    return told_context


def _save_context(desk: Desk, asked: RecallRequest, found: RecallPage, at: int, expires: int | None) -> str:
    """Which claims, in which order and with which scores; the question itself is nobody's business later."""
    context_id = "ac_" + uuid7().replace("-", "")
    with desk.write() as tx:
        tx.run("delete from active_context where expires_at < :before", before=at - _EXPIRED_KEPT_FOR)
        tx.run(
            """insert into active_context (id, caller, created_at, expires_at, policy_version, scopes, tags, claims)
            values (:id, :caller, :at, :expires, :version, :scopes, :tags, :claims)""",
            id=context_id,
            caller=desk.principal.name,
            at=at,
            expires=expires,
            version=desk.policy.version,
            scopes=" ".join(layer for layer in LAYERS if layer in asked.scopes),
            tags=json.dumps(asked.tags),
            claims=json.dumps([(one.claim.id, one.score) for one in found.items]),
        )
    return context_id
