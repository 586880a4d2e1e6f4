"""pce.memory.activate, .context.get and .search: the claims that fit a task and that the policy allows, ranked."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Expired, Missing
from tokonoma.core.ids import uuid7
from tokonoma.core.recent import RecentResults
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import load_claims, load_warnings
from tokonoma.modules.claims.model import Allow, PageCursor, ScoredClaimItem
from tokonoma.modules.claims.recall import RecallPage, recall_page

Scopes = Annotated[list[model.Scope] | None, Field(min_length=1, max_length=3, description="default: all three")]
TopK = Annotated[int | None, Field(ge=1, le=50, description="default: k_final of the policy")]
IncludeMeta = Annotated[bool, Field(description="also return the parts of the score, the evidence and the reason")]

_EXPIRED_KEPT_FOR = 7 * 86_400_000  # milliseconds in which context.get still says that a context has expired
_RECENT_MS = 30 * 60_000  # in which a caller that may only read can come back for its context
_recent = RecentResults()


def activate(
    desk: Desk,
    q: Annotated[str, Field(min_length=1, max_length=8_000, description="the task or question")],
    scope: Scopes = None,
    allow: Allow = None,
    top_k: TopK = None,
    cursor: PageCursor = None,
    include_meta: IncludeMeta = False,
) -> model.ActivateResponse:
    """Create an active context for a task: the claims that fit it and may be used for it. Put them at the start of your
    prompt; context.get returns the same context until it expires. A claim that feedback calls harmful or outdated has a
    warning in `reason`."""
    policy, retrieval = desk.policy, desk.policy.retrieval
    page = recall_page(desk, q, scope, allow, top_k, cursor, include_meta)
    at = desk.now()
    ttls = [ttl for layer in page.scopes if (ttl := policy.layer_rule(layer).ttl) is not None]
    expires = at + min(ttls) if ttls else None
    response: model.ActivateResponse = {
        "active_context_id": _save_context(desk, page, at, expires),
        "claims": page.items,
        "claims_count": len(page.items),
        "has_more": page.next_cursor is not None,
        "policy_version": policy.version,
        "provenance": [{"claim_id": one.claim.id, **one.claim.provenance} for one in page.claims],
        "scoring_params": {
            "alpha": page.alpha,
            "k_txt": retrieval.k_txt,
            "k_vec": retrieval.k_vec,
            "k_final": retrieval.k_final,
            "rerank": {"use_quality": retrieval.use_quality, "recency_half_life_days": retrieval.half_life_days},
        },
    }
    if expires is not None:
        response["expires_at"] = format_time(expires)
    if page.next_cursor is not None:
        response["next_cursor"] = page.next_cursor
    return response


def context_get(
    desk: Desk, active_context_id: Annotated[str, Field(max_length=64, description="ac_…")]
) -> model.ActiveContextResponse:
    """Return an active context: its claims as they are now, with their original scores. 410 after it has expired."""
    row = _load_context(desk, active_context_id)
    if row is None:
        raise Missing(f"You have no active context {active_context_id!r}.", reason="context")
    created, expires, version, claims_json, tags_json = row
    if expires is not None and expires <= desk.now():
        over = format_time(expires)
        raise Expired(f"The active context expired at {over}. Activate a new one.", reason="context", expired_at=over)
    policy, tags, scores = desk.policy, json.loads(tags_json), dict[str, float](json.loads(claims_json))
    items = [
        ScoredClaimItem(claim=model.to_response(desk, claim), score=scores[claim.id])
        for claim in load_claims(desk, list(scores), desk.now())
        if policy.decide(tags, claim.classification, claim.scope).verdict != "deny"
    ]
    for claim_id, warning in load_warnings(desk, list(scores)).items():
        for item in items:
            if item["claim"]["id"] == claim_id:
                item["reason"] = warning
    items.sort(key=lambda item: (-item["score"], item["claim"]["id"]))
    response: model.ActiveContextResponse = {
        "active_context_id": active_context_id,
        "claims": items,
        "claims_count": len(items),
        "created_at": format_time(created),
        "policy_version": version,
    }
    if expires is not None:
        response["expires_at"] = format_time(expires)
    return response


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=8_000, description="words or a question, in any language")],
    top_k: TopK = None,
    scope: Scopes = None,
    allow: Allow = None,
    cursor: PageCursor = None,
    include_meta: IncludeMeta = False,
    kind: Annotated[model.Kind | None, Field(description="only this kind")] = None,
    boundary_class: Annotated[model.BoundaryClass | None, Field(description="only this class")] = None,
) -> model.ClaimSearchResponse:
    """Search claims without creating a context. Best first; equal scores newest first."""
    boundary = model.parse_class(boundary_class) if boundary_class else ""
    page = recall_page(desk, query, scope, allow, top_k, cursor, include_meta, kind or "", boundary)
    response: model.ClaimSearchResponse = {
        "items": page.items,
        "has_more": page.next_cursor is not None,
        "policy_version": desk.policy.version,
    }
    if page.next_cursor is not None:
        response["next_cursor"] = page.next_cursor
    return response


def _save_context(desk: Desk, page: RecallPage, at: int, expires: int | None) -> str:
    """Store which claims, in which order and with which scores. The query itself is not stored. The context of a caller
    that may only read stays in this process."""
    context_id, caller, version = "ac_" + uuid7().replace("-", ""), desk.principal.name, desk.policy.version
    tags, claims = json.dumps(page.tags), json.dumps([(one.claim.id, one.score) for one in page.claims])
    if not desk.may_write:
        until = at + _RECENT_MS if expires is None else min(expires, at + _RECENT_MS)
        _recent.put(caller, context_id, json.dumps([at, expires, version, claims, tags]), until)
        return context_id
    with desk.write() as tx:
        tx.run("delete from active_context where expires_at < :before", before=at - _EXPIRED_KEPT_FOR)
        tx.run(
            """insert into active_context (id, caller, created_at, expires_at, policy_version, scopes, tags, claims)
            values (:id, :caller, :at, :expires, :version, :scopes, :tags, :claims)""",
            id=context_id,
            caller=caller,
            at=at,
            expires=expires,
            version=version,
            scopes=" ".join(page.scopes),
            tags=tags,
            claims=claims,
        )
    return context_id


def _load_context(desk: Desk, context_id: str) -> Sequence[Any] | None:
    """created_at, expires_at, policy_version, claims and tags."""
    kept = _recent.get(desk.principal.name, context_id, desk.now())
    if kept is not None:
        return json.loads(kept)
    return desk.row(
        """select created_at, expires_at, policy_version, claims, tags from active_context
        where id = :id and caller = :caller""",
        id=context_id,
        caller=desk.principal.name,
    )
