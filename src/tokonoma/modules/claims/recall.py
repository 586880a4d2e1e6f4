"""pce.memory.activate and .search: what is known and fits, inside the boundary, scored and explained."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import now
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, parse_address
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import LAYERS, Layer, RetrievalSettings
from tokonoma.core.query import Condition, Hit, Query, SearchFilter
from tokonoma.modules.claims.claim import (
    MODULE_NAME,
    Claim,
    ClaimResponse,
    EvidenceResponse,
    Scope,
    parse_scope,
    row_to_claim,
    to_response,
)
from tokonoma.modules.claims.evidence import load_evidence
from tokonoma.modules.claims.ranking import (
    ClaimHit,
    ScoredClaim,
    choose_alpha,
    explain_score,
    score_claims,
    select_diverse,
)
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

Scopes = Annotated[list[Scope] | None, Field(min_length=1, max_length=3, description="default: all three")]
Allow = Annotated[
    list[str] | None, Field(max_length=50, description="purposes, like answer:task or tool:mail; default: your own")
]
TopK = Annotated[int | None, Field(ge=1, le=50, description="default: the policy's k_final")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]
IncludeMeta = Annotated[bool, Field(description="every part of the score, evidence, and why")]


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


class ClaimSearchResponse(TypedDict):
    items: list[ScoredClaimItem]
    next_cursor: NotRequired[Opaque]
    has_more: bool
    policy_version: Opaque


class RerankParams(TypedDict):
    use_quality: bool
    recency_half_life_days: float


class ScoringParams(TypedDict):
    alpha: float
    k_txt: int
    k_vec: int
    k_final: int
    rerank: RerankParams


@dataclass(frozen=True, slots=True)
class RecallRequest:
    query: str
    scopes: tuple[Layer, ...]
    tags: tuple[str, ...]
    limit: int
    offset: int
    digest: str
    meta: bool


@dataclass(frozen=True, slots=True)
class RecallPage:
    items: Sequence[ScoredClaim]
    alpha: float
    has_more: bool


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=8_000, description="words or a question, in any language")],
    top_k: TopK = None,
    scope: Scopes = None,
    allow: Allow = None,
    cursor: PageCursor = None,
    include_meta: IncludeMeta = False,
) -> ClaimSearchResponse:
    """Recall claims without making a context of them: best first, of equals the newest."""
    asked = parse_request(desk, query, scope, allow, top_k, cursor, include_meta)
    found = recall_page(desk, asked)
    page: ClaimSearchResponse = {
        "items": build_items(desk, asked, found),
        "has_more": found.has_more,
        "policy_version": desk.policy.version,
    }
    if found.has_more:
        page["next_cursor"] = encode_next_cursor(asked, found)
    return page


def parse_request(
    desk: Desk,
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
    listed: list[Layer] = [layer for layer in LAYERS if layer in wanted]
    scopes = tuple(listed)
    boundary = desk.policy
    tags = tuple(allow) if allow is not None else boundary.tags
    beyond = boundary.find_tags_not_held(tags)
    if beyond:
        raise Denied(
            f"This caller does not hold {', '.join(beyond)}. It holds: {', '.join(boundary.tags) or 'nothing'}.",
            reason="allow",
            allow=list(boundary.tags),
        )
    digest = hashlib.sha256("\0".join([query, *scopes, "\0", *tags]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    offset = 0
    if cursor is not None:
        offset, of = cursors.decode("claims", cursor)
        if of != digest:
            raise Invalid("This cursor belongs to another query. Leave it out to start anew.", field="cursor")
    return RecallRequest(query, scopes, tags, top_k or boundary.retrieval.k_final, offset, digest, meta)


def recall_page(desk: Desk, asked: RecallRequest) -> RecallPage:
    """The page that was asked for. The boundary filters first, in the search itself."""
    retrieval, at = desk.policy.retrieval, now()
    alpha = choose_alpha(asked.query, retrieval)
    wanted = asked.offset + asked.limit
    most = max((retrieval.k_txt + retrieval.k_vec) // 2, 2 * wanted)  # what two legs of these sizes have left, joined
    found: list[ClaimHit] = []
    for scopes, labels in _readable_groups(desk, asked):
        conditions = (Condition("scope", "in", scopes),) if len(scopes) < len(LAYERS) else ()
        where = SearchFilter((MODULE_NAME,), conditions=conditions, classifications=labels)
        hits = desk.find(Query(asked.query, limit=most, neighbours=False), where)
        found += _load_hits(desk, hits.items, asked.query, at)
    ranked = score_claims(asked.query, found, alpha, retrieval, at)
    picked = select_diverse(ranked, wanted)
    page = _fit_token_limits(desk, picked[asked.offset : wanted])
    return RecallPage(page, alpha, len(ranked) > wanted)


def _readable_groups(desk: Desk, asked: RecallRequest) -> list[tuple[tuple[Layer, ...], tuple[Classification, ...]]]:
    """Scopes with the classes that may be read in them. An invariant may make one scope differ from the others."""
    groups: dict[tuple[Classification, ...], list[Layer]] = {}
    for layer in asked.scopes:
        seen: list[Classification] = [
            label for label in CLASSIFICATIONS if desk.policy.decide(asked.tags, label, layer).verdict != "deny"
        ]
        if seen:
            groups.setdefault(tuple(seen), []).append(layer)
    return [(tuple(layers), labels) for labels, layers in groups.items()]


def _load_hits(desk: Desk, hits: Sequence[Hit], query: str, at: int) -> list[ClaimHit]:
    claims = {claim.address: claim for claim in load_claims(desk, [parse_address(hit.address)[1] for hit in hits], at)}
    folded = query.strip().casefold()
    return [
        ClaimHit(claim, hit.text_score, hit.similarity, folded in claim.text.casefold())
        for hit in hits
        if (claim := claims.get(hit.address)) is not None
    ]


def load_claims(desk: Desk, ids: Sequence[str], at: int) -> list[Claim]:
    if not ids:
        return []
    names = {f"id{number}": each for number, each in enumerate(ids)}
    listed = ", ".join(f":{name}" for name in names)
    sql = f"select {COLUMNS} from claim where id in ({listed}) and {ALIVE} and {{visible}}"  # noqa: S608 - parameters
    return [row_to_claim(row) for row in desk.rows(sql, now=at, **names)]


def _fit_token_limits(desk: Desk, items: Sequence[ScoredClaim]) -> list[ScoredClaim]:
    """As many as the scopes have room for: a token is about four characters. The first always comes."""
    left = {layer: desk.policy.layer_rule(layer).max_tokens for layer in LAYERS}
    kept: list[ScoredClaim] = []
    for one in items:
        left[one.claim.scope] -= -(-len(one.claim.text) // 4)
        if left[one.claim.scope] >= 0 or not kept:
            kept.append(one)
    return kept


def build_items(desk: Desk, asked: RecallRequest, found: RecallPage) -> list[ScoredClaimItem]:
    evidence = load_evidence(desk, [one.claim.id for one in found.items]) if asked.meta else {}
    return [_build_item(one, found.alpha, evidence.get(one.claim.id, []), asked.meta) for one in found.items]


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


def encode_next_cursor(asked: RecallRequest, found: RecallPage) -> str:
    return cursors.encode("claims", asked.offset + asked.limit, asked.digest)


def build_params(retrieval: RetrievalSettings, alpha: float) -> ScoringParams:
    return {
        "alpha": alpha,
        "k_txt": retrieval.k_txt,
        "k_vec": retrieval.k_vec,
        "k_final": retrieval.k_final,
        "rerank": {"use_quality": retrieval.use_quality, "recency_half_life_days": retrieval.half_life_days},
    }
