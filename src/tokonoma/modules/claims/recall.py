"""pce.memory.activate and .search: what is known and fits, inside the boundary, scored and explained."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.addresses import parts_of
from tokonoma.core.clock import now
from tokonoma.core.desk import LABELS, Desk, Label
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.opaque import Plain
from tokonoma.core.policy_api import LAYERS, Layer, Retrieval
from tokonoma.core.query import Condition, Hit, Query, Where
from tokonoma.modules.claims.claim import MODULE_NAME, Claim, ClaimTold, Evidence, Scope, claim_of, scope_of, told
from tokonoma.modules.claims.evidence import evidence_of
from tokonoma.modules.claims.ranking import Found, Scored, alpha_of, chosen, reason_of, scored
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

Scopes = Annotated[list[Scope] | None, Field(min_length=1, max_length=3, description="default: all three")]
Allow = Annotated[
    list[str] | None, Field(max_length=50, description="purposes, like answer:task or tool:mail; default: your own")
]
TopK = Annotated[int | None, Field(ge=1, le=50, description="default: the policy's k_final")]
Page = Annotated[str | None, Field(description="next_cursor of the page before")]
Meta = Annotated[bool, Field(description="every part of the score, evidence, and why")]


class Scoring(TypedDict):
    text: float
    vector: float
    combined: float
    utility: float
    confidence: float
    quality: float
    recency: float
    g: float


class ScoredItem(TypedDict):
    claim: ClaimTold
    score: float
    scores: NotRequired[Scoring]
    evidences: NotRequired[list[Evidence]]
    reason: NotRequired[str]


class Searched(TypedDict):
    items: list[ScoredItem]
    next_cursor: NotRequired[Plain]
    has_more: bool
    policy_version: Plain


class Rerank(TypedDict):
    use_quality: bool
    recency_half_life_days: float


class ScoringParams(TypedDict):
    alpha: float
    k_txt: int
    k_vec: int
    k_final: int
    rerank: Rerank


@dataclass(frozen=True, slots=True)
class Asked:
    query: str
    scopes: tuple[Layer, ...]
    tags: tuple[str, ...]
    most: int
    offset: int
    digest: str
    meta: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    items: Sequence[Scored]
    alpha: float
    more: bool


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=8_000, description="words or a question, in any language")],
    top_k: TopK = None,
    scope: Scopes = None,
    allow: Allow = None,
    cursor: Page = None,
    include_meta: Meta = False,
) -> Searched:
    """Recall claims without making a context of them: best first, of equals the newest."""
    asked = asked_of(desk, query, scope, allow, top_k, cursor, include_meta)
    found = recalled(desk, asked)
    page: Searched = {
        "items": items_of(desk, asked, found),
        "has_more": found.more,
        "policy_version": desk.boundary.version,
    }
    if found.more:
        page["next_cursor"] = next_of(asked, found)
    return page


def asked_of(
    desk: Desk,
    query: str,
    scope: Sequence[str] | None,
    allow: Sequence[str] | None,
    top_k: int | None,
    cursor: str | None,
    meta: bool,
) -> Asked:
    if not query.strip():
        raise Invalid("The query is empty.", field="query")
    wanted: list[Layer] = [scope_of(each) for each in scope] if scope else list(LAYERS)
    listed: list[Layer] = [layer for layer in LAYERS if layer in wanted]
    scopes = tuple(listed)
    boundary = desk.boundary
    tags = tuple(allow) if allow is not None else boundary.tags
    beyond = boundary.beyond(tags)
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
    return Asked(query, scopes, tags, top_k or boundary.retrieval.k_final, offset, digest, meta)


def recalled(desk: Desk, asked: Asked) -> Recalled:
    """The page that was asked for. The boundary filters first, in the search itself."""
    retrieval, at = desk.boundary.retrieval, now()
    alpha = alpha_of(asked.query, retrieval)
    wanted = asked.offset + asked.most
    most = max((retrieval.k_txt + retrieval.k_vec) // 2, 2 * wanted)  # what two legs of these sizes have left, joined
    found: list[Found] = []
    for scopes, labels in _groups(desk, asked):
        conditions = (Condition("scope", "in", scopes),) if len(scopes) < len(LAYERS) else ()
        where = Where((MODULE_NAME,), conditions=conditions, labels=labels)
        hits = desk.find(Query(asked.query, limit=most, neighbours=False), where)
        found += _fetched(desk, hits.items, asked.query, at)
    ranked = scored(asked.query, found, alpha, retrieval, at)
    picked = chosen(ranked, wanted)
    page = _within(desk, picked[asked.offset : wanted])
    return Recalled(page, alpha, len(ranked) > wanted)


def _groups(desk: Desk, asked: Asked) -> list[tuple[tuple[Layer, ...], tuple[Label, ...]]]:
    """Scopes with the classes that may be read in them. An invariant may make one scope differ from the others."""
    groups: dict[tuple[Label, ...], list[Layer]] = {}
    for layer in asked.scopes:
        seen: list[Label] = [
            label for label in LABELS if desk.boundary.decide(asked.tags, label, layer).verdict != "deny"
        ]
        if seen:
            groups.setdefault(tuple(seen), []).append(layer)
    return [(tuple(layers), labels) for labels, layers in groups.items()]


def _fetched(desk: Desk, hits: Sequence[Hit], query: str, at: int) -> list[Found]:
    claims = {claim.address: claim for claim in claims_of(desk, [parts_of(hit.address)[1] for hit in hits], at)}
    folded = query.strip().casefold()
    return [
        Found(claim, hit.text_score, hit.similarity, folded in claim.text.casefold())
        for hit in hits
        if (claim := claims.get(hit.address)) is not None
    ]


def claims_of(desk: Desk, ids: Sequence[str], at: int) -> list[Claim]:
    if not ids:
        return []
    names = {f"id{number}": each for number, each in enumerate(ids)}
    listed = ", ".join(f":{name}" for name in names)
    sql = f"select {COLUMNS} from claim where id in ({listed}) and {ALIVE} and {{visible}}"  # noqa: S608 - parameters
    return [claim_of(row) for row in desk.rows(sql, now=at, **names)]


def _within(desk: Desk, items: Sequence[Scored]) -> list[Scored]:
    """As many as the scopes have room for: a token is about four characters. The first always comes."""
    left = {layer: desk.boundary.layer(layer).max_tokens for layer in LAYERS}
    kept: list[Scored] = []
    for one in items:
        left[one.claim.scope] -= -(-len(one.claim.text) // 4)
        if left[one.claim.scope] >= 0 or not kept:
            kept.append(one)
    return kept


def items_of(desk: Desk, asked: Asked, found: Recalled) -> list[ScoredItem]:
    evidence = evidence_of(desk, [one.claim.id for one in found.items]) if asked.meta else {}
    return [_item(one, found.alpha, evidence.get(one.claim.id, []), asked.meta) for one in found.items]


def _item(one: Scored, alpha: float, evidence: list[Evidence], meta: bool) -> ScoredItem:
    item: ScoredItem = {"claim": told(one.claim), "score": one.score}
    if meta:
        item["scores"] = {
            "text": one.text, "vector": one.vector, "combined": one.combined, "utility": one.claim.utility,
            "confidence": one.claim.confidence, "quality": one.claim.quality, "recency": one.recency, "g": one.g,
        }  # fmt: skip
        item["evidences"] = evidence
        item["reason"] = reason_of(one, alpha)
    return item


def next_of(asked: Asked, found: Recalled) -> str:
    return cursors.encode("claims", asked.offset + asked.most, asked.digest)


def params_of(retrieval: Retrieval, alpha: float) -> ScoringParams:
    return {
        "alpha": alpha,
        "k_txt": retrieval.k_txt,
        "k_vec": retrieval.k_vec,
        "k_final": retrieval.k_final,
        "rerank": {"use_quality": retrieval.use_quality, "recency_half_life_days": retrieval.half_life_days},
    }
