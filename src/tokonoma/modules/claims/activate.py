"""pce.memory.activate, .context.get and .search: the claims that fit a task and that the policy allows, ranked."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, parse_address
from tokonoma.core.errors import Denied, Expired, Invalid, Missing
from tokonoma.core.ids import uuid7
from tokonoma.core.policy import LAYERS, DeskPolicy, Layer
from tokonoma.core.query import Condition, Hit, Query, SearchFilter
from tokonoma.modules.claims.hooks import load_claims, load_evidence
from tokonoma.modules.claims.model import (
    MODULE_NAME,
    ActivateResponse,
    ActiveContextResponse,
    Allow,
    ClaimSearchResponse,
    EvidenceResponse,
    Scope,
    ScoredClaimItem,
    parse_scope,
    to_response,
)
from tokonoma.modules.claims.ranking import (
    ClaimHit,
    ScoredClaim,
    choose_alpha,
    explain_score,
    score_claims,
    select_diverse,
)

Scopes = Annotated[list[Scope] | None, Field(min_length=1, max_length=3, description="default: all three")]
TopK = Annotated[int | None, Field(ge=1, le=50, description="default: k_final of the policy")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]
IncludeMeta = Annotated[bool, Field(description="also return the parts of the score, the evidence and the reason")]

_EXPIRED_KEPT_FOR = 7 * 86_400_000  # milliseconds in which context.get still says that a context has expired


@dataclass(frozen=True, slots=True)
class RecallRequest:
    policy: DeskPolicy
    query: str
    scopes: tuple[Layer, ...]
    tags: tuple[str, ...]
    limit: int
    offset: int
    digest: str
    meta: bool


@dataclass(frozen=True, slots=True)
class RecallPage:
    claims: Sequence[ScoredClaim]
    items: list[ScoredClaimItem]
    alpha: float
    next_cursor: str | None


def activate(
    desk: Desk,
    q: Annotated[str, Field(min_length=1, max_length=8_000, description="the task or question")],
    scope: Scopes = None,
    allow: Allow = None,
    top_k: TopK = None,
    cursor: PageCursor = None,
    include_meta: IncludeMeta = False,
) -> ActivateResponse:
    """Create an active context for a task: the claims that fit it and may be used for it. Put them at the start of your
    prompt; context.get returns the same context until it expires."""
    policy = desk.policy
    request = _parse_request(policy, q, scope, allow, top_k, cursor, include_meta)
    page = _recall_page(desk, request)
    at = now()
    ttls = [ttl for layer in request.scopes if (ttl := policy.layer_rule(layer).ttl) is not None]
    expires = at + min(ttls) if ttls else None
    retrieval = policy.retrieval
    response: ActivateResponse = {
        "active_context_id": _save_context(desk, request, page.claims, at, expires),
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
    desk: Desk,
    active_context_id: Annotated[str, Field(max_length=64, description="ac_…")],
) -> ActiveContextResponse:
    """Return an active context: its claims as they are now, with their original scores. 410 after it has expired."""
    row = desk.row(
        """select created_at, expires_at, policy_version, claims, tags from active_context
        where id = :id and caller = :caller""",
        id=active_context_id,
        caller=desk.principal.name,
    )
    if row is None:
        raise Missing(f"You have no active context {active_context_id!r}.", reason="context")
    created, expires, version, claims_json, tags_json = row
    if expires is not None and expires <= now():
        over = format_time(expires)
        raise Expired(f"The active context expired at {over}. Activate a new one.", reason="context", expired_at=over)
    policy, tags, scores = desk.policy, json.loads(tags_json), dict[str, float](json.loads(claims_json))
    items = [
        ScoredClaimItem(claim=to_response(claim), score=scores[claim.id])
        for claim in load_claims(desk, list(scores), now())
        if policy.decide(tags, claim.classification, claim.scope).verdict != "deny"
    ]
    items.sort(key=lambda item: (-item["score"], item["claim"]["id"]))
    response: ActiveContextResponse = {
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
) -> ClaimSearchResponse:
    """Search claims without creating a context. Best first; equal scores newest first."""
    policy = desk.policy
    page = _recall_page(desk, _parse_request(policy, query, scope, allow, top_k, cursor, include_meta))
    response: ClaimSearchResponse = {
        "items": page.items,
        "has_more": page.next_cursor is not None,
        "policy_version": policy.version,
    }
    if page.next_cursor is not None:
        response["next_cursor"] = page.next_cursor
    return response


def _parse_request(
    policy: DeskPolicy,
    query: str,
    scope: Sequence[str] | None,
    allow: Sequence[str] | None,
    top_k: int | None,
    cursor: str | None,
    meta: bool,
) -> RecallRequest:
    if not query.strip():
        raise Invalid("The query is empty.", field="query")
    wanted: list[Layer] = [parse_scope(each) for each in scope] if scope else list(LAYERS)
    scopes: list[Layer] = [layer for layer in LAYERS if layer in wanted]
    tags = tuple(allow) if allow is not None else policy.tags
    not_held = policy.find_tags_not_held(tags)
    if not_held:
        raise Denied(
            f"This caller does not hold {', '.join(not_held)}. It holds: {', '.join(policy.tags) or 'nothing'}.",
            reason="allow",
            allow=list(policy.tags),
        )
    digest = hashlib.sha256("\0".join([query, *scopes, "\0", *tags]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    offset = 0
    if cursor is not None:
        offset, cursor_digest = cursors.decode("claims", cursor)
        if cursor_digest != digest:
            raise Invalid("This cursor belongs to another query. Omit it to start from the first page.", field="cursor")
    limit = top_k or policy.retrieval.k_final
    return RecallRequest(policy, query, tuple(scopes), tags, limit, offset, digest, meta)


def _recall_page(desk: Desk, request: RecallRequest) -> RecallPage:
    """The requested page. The search itself returns only what the policy allows."""
    retrieval, at = request.policy.retrieval, now()
    alpha = choose_alpha(request.query, retrieval)
    end = request.offset + request.limit
    most = max((retrieval.k_txt + retrieval.k_vec) // 2, 2 * end)  # about what two searches of these sizes have joined
    hits: list[ClaimHit] = []
    for scopes, classifications in _readable_groups(request):
        conditions = (Condition("scope", "in", scopes),) if len(scopes) < len(LAYERS) else ()
        where = SearchFilter((MODULE_NAME,), conditions=conditions, classifications=classifications)
        found = desk.find(Query(request.query, limit=most, neighbours=False), where)
        hits += _load_hits(desk, found.items, request.query, at)
    ranked = score_claims(request.query, hits, alpha, retrieval, at)
    claims = _fit_token_limits(request.policy, select_diverse(ranked, end)[request.offset : end])
    evidence = load_evidence(desk, [one.claim.id for one in claims]) if request.meta else {}
    items = [_build_item(one, alpha, evidence.get(one.claim.id, []), request.meta) for one in claims]
    return RecallPage(
        claims, items, alpha, cursors.encode("claims", end, request.digest) if len(ranked) > end else None
    )


def _readable_groups(request: RecallRequest) -> list[tuple[tuple[Layer, ...], tuple[Classification, ...]]]:
    """Scopes with the classes that may be read in them. An invariant may treat one scope differently."""
    groups: dict[tuple[Classification, ...], list[Layer]] = {}
    for layer in request.scopes:
        readable: list[Classification] = [
            each for each in CLASSIFICATIONS if request.policy.decide(request.tags, each, layer).verdict != "deny"
        ]
        if readable:
            groups.setdefault(tuple(readable), []).append(layer)
    return [(tuple(layers), classifications) for classifications, layers in groups.items()]


def _load_hits(desk: Desk, hits: Sequence[Hit], query: str, at: int) -> list[ClaimHit]:
    claims = {claim.address: claim for claim in load_claims(desk, [parse_address(hit.address)[1] for hit in hits], at)}
    phrase = query.strip().casefold()
    return [
        ClaimHit(claim, hit.text_score, hit.similarity, phrase in claim.text.casefold())
        for hit in hits
        if (claim := claims.get(hit.address)) is not None
    ]


def _fit_token_limits(policy: DeskPolicy, claims: Sequence[ScoredClaim]) -> list[ScoredClaim]:
    """As many as the max_tokens of the scopes allow: a token is about four characters. The first always fits."""
    left = {layer: policy.layer_rule(layer).max_tokens for layer in LAYERS}
    fitting: list[ScoredClaim] = []
    for one in claims:
        left[one.claim.scope] -= -(-len(one.claim.text) // 4)
        if left[one.claim.scope] >= 0 or not fitting:
            fitting.append(one)
    return fitting


def _build_item(one: ScoredClaim, alpha: float, evidence: list[EvidenceResponse], meta: bool) -> ScoredClaimItem:
    item: ScoredClaimItem = {"claim": to_response(one.claim), "score": one.score}
    if meta:
        item["scores"] = {
            "text": one.text, "vector": one.vector, "combined": one.combined, "utility": one.claim.utility,
            "confidence": one.claim.confidence, "quality": one.claim.quality, "recency": one.recency, "g": one.g,
        }  # fmt: skip
        item["evidences"] = evidence
        item["reason"] = explain_score(one, alpha)
    return item


def _save_context(
    desk: Desk, request: RecallRequest, claims: Sequence[ScoredClaim], at: int, expires: int | None
) -> str:
    """Store which claims, in which order and with which scores. The query itself is not stored."""
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
            version=request.policy.version,
            scopes=" ".join(request.scopes),
            tags=json.dumps(request.tags),
            claims=json.dumps([(one.claim.id, one.score) for one in claims]),
        )
    return context_id
