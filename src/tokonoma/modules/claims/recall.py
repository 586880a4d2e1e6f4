"""One page of the claims that fit a query: every page is cut from the same ranking.

The ranking is made for the first page and kept in this process. The cursor says when it was made and what the pages
before have shown. Another process makes it again from the claims of that time, and refuses the cursor if that ranking
does not begin with what was shown.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, parse_address
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import LAYERS, DeskPolicy, Layer
from tokonoma.core.query import Condition, Hit, Query, SearchFilter
from tokonoma.core.recent import RecentResults
from tokonoma.modules.claims import model, ranking
from tokonoma.modules.claims.hooks import load_claims, load_evidence, load_warnings
from tokonoma.modules.claims.model import Claim, ScoredClaimItem
from tokonoma.modules.claims.ranking import ClaimHit, ScoredClaim

_KEPT_MS = 30 * 60_000  # in which the next page comes from the ranking as it was
_MAX_RANKED = 2000
_GROWTH = 4  # so many times more claims are compared where a ranking ends
_rankings = RecentResults()


class RecallPage(NamedTuple):
    scopes: list[Layer]
    tags: tuple[str, ...]
    claims: Sequence[ScoredClaim]
    items: list[ScoredClaimItem]
    alpha: float
    next_cursor: Opaque | None


class _Position(NamedTuple):
    """Where a page starts: the position in the ranking, and positions before it that did not fit on a page."""

    digest: str
    at: int
    depth: int
    start: int
    shown: str
    skipped: list[int]


class _ClaimQuery(NamedTuple):
    text: str
    scopes: list[Layer]
    tags: tuple[str, ...]
    alpha: float
    digest: str
    kind: str
    boundary: str


@dataclass(slots=True)
class _ClaimRanking:
    """Claims by what each adds to those before it; `parts` are the scores of each. It grows while pages are asked for:
    `depth` claims of each search were compared."""

    at: int
    depth: int
    parts: dict[str, list[Any]]
    order: list[str]
    is_complete: bool = False

    def fingerprint(self, end: int) -> str:
        return hashlib.sha256("".join(self.order[:end]).encode()).hexdigest()[:12]


def recall_page(
    desk: Desk,
    text: str,
    scope: Sequence[str] | None,
    allow: Sequence[str] | None,
    top_k: int | None,
    cursor: str | None,
    meta: bool,
    kind: str = "",
    boundary: str = "",
) -> RecallPage:
    """The requested page. The search itself returns only what the policy allows, of one kind and class if given."""
    if not text.strip():
        raise Invalid("The query is empty.", field="query")
    query = _prepare_query(desk.policy, text, scope, allow, kind, boundary)
    size = top_k or desk.policy.retrieval.k_final
    retrieval = desk.policy.retrieval
    depth = max(
        (retrieval.k_txt + retrieval.k_vec) // 2, 2 * size
    )  # about what two searches of these sizes have joined
    place = _Position(query.digest, desk.now(), depth, 0, "", []) if cursor is None else _parse_cursor(desk, cursor)
    if place.digest != query.digest:
        raise Invalid("This cursor belongs to another query. Omit it to start from the first page.", field="cursor")
    ranked, known = _open_ranking(desk, query, place)
    claims, following = _fill_page(desk, query, ranked, place, size, known)
    ids = [one.claim.id for one in claims]
    evidence, warnings = load_evidence(desk, ids) if meta else {}, load_warnings(desk, ids)
    items = [_build_item(desk, one, query.alpha, evidence.get(one.claim.id, []), warnings, meta) for one in claims]
    next_cursor = None
    if following is not None:
        next_cursor = desk.seal_cursor("claims", *following[:-1], *following.skipped)
        kept = json.dumps([ranked.depth, ranked.parts, ranked.order, ranked.is_complete])
        _rankings.put(desk.principal.name, f"{query.digest} {ranked.at}", kept, desk.now() + _KEPT_MS)
    return RecallPage(query.scopes, query.tags, claims, items, query.alpha, next_cursor)


def _parse_cursor(desk: Desk, cursor: str) -> _Position:
    match desk.open_cursor("claims", cursor):
        case [str(digest), int(at), int(depth), int(start), str(shown), *skipped]:
            return _Position(digest, at, depth, start, shown, skipped)
        case _:
            raise Invalid("This cursor is from an older version. Omit it to start from the first page.", field="cursor")


def _prepare_query(
    policy: DeskPolicy,
    text: str,
    scope: Sequence[str] | None,
    allow: Sequence[str] | None,
    kind: str,
    boundary: str,
) -> _ClaimQuery:
    wanted = [model.parse_scope(each) for each in scope or LAYERS]
    scopes: list[Layer] = [layer for layer in LAYERS if layer in wanted]
    tags = model.require_tags(policy, allow, f" It holds: {', '.join(policy.tags) or 'nothing'}.")
    narrowed = ["\0", kind, boundary] if kind or boundary else []
    asked = "\0".join([text, *scopes, "\0", *tags, *narrowed])
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return _ClaimQuery(text, scopes, tags, ranking.choose_alpha(text, policy.retrieval), digest, kind, boundary)


def _open_ranking(desk: Desk, query: _ClaimQuery, place: _Position) -> tuple[_ClaimRanking, dict[str, Claim]]:
    """The ranking that the page is cut from, and the claims that were loaded for it."""
    kept = _rankings.get(desk.principal.name, f"{query.digest} {place.at}", desk.now()) if place.start else None
    if kept is not None:
        return _ClaimRanking(place.at, *json.loads(kept)), dict[str, Claim]()
    ranked = _ClaimRanking(place.at, place.depth, {}, [])
    # What is stored after the first page does not move the others.
    known = _extend_ranking(desk, query, ranked, until=place.at if place.start else None)
    while len(ranked.order) < place.start and not ranked.is_complete:
        known |= _extend_ranking(desk, query, ranked, until=place.at)
    if place.start and ranked.fingerprint(place.start) != place.shown:
        raise Invalid("The claims have changed since the page before. Omit cursor to start again.", field="cursor")
    return ranked, known


def _extend_ranking(desk: Desk, query: _ClaimQuery, ranked: _ClaimRanking, until: int | None) -> dict[str, Claim]:
    """Compare more claims, and add those that are not ranked yet at the end. Returns the claims that it loaded."""
    ranked.depth = min(ranked.depth * _GROWTH, _MAX_RANKED) if ranked.order else ranked.depth
    hits: list[ClaimHit] = []
    last: set[str] = set()
    for classifications, layers in group_readable(desk.policy, query.scopes, query.tags).items():
        wanted: tuple[Classification, ...] = tuple(each for each in classifications if query.boundary in ("", each))
        if not wanted:
            continue
        conditions = (Condition("scope", "in", tuple(layers)),) if len(layers) < len(LAYERS) else ()
        conditions += (Condition("kind", "in", (query.kind,)),) if query.kind else ()
        where = SearchFilter((model.MODULE_NAME,), conditions=conditions, classifications=wanted, until=until)
        found = desk.find(Query(query.text, limit=ranked.depth, neighbours=False), where).items
        last |= {hit.address for hit in found[-ranked.depth // 4 :]} if len(found) == ranked.depth else set()
        hits += _load_hits(desk, found, query.text, ranked.at)
    new = [hit for hit in hits if hit.claim.id not in ranked.parts]
    scored = ranking.score_claims(query.text, new, query.alpha, desk.policy.retrieval, ranked.at)
    for one in ranking.order_diverse(scored):
        ranked.order.append(one.claim.id)
        ranked.parts[one.claim.id] = one.parts
    # If nothing fits the query in the last quarter of a search, more of it would not bring anything either.
    ranked.is_complete = ranked.depth == _MAX_RANKED or last.isdisjoint(one.claim.address for one in scored)
    return {hit.claim.id: hit.claim for hit in new}


def group_readable(
    policy: DeskPolicy, scopes: Sequence[Layer], tags: Sequence[str]
) -> dict[tuple[Classification, ...], list[Layer]]:
    """Scopes by the classes that may be read in them. An invariant may treat one scope differently."""
    groups: dict[tuple[Classification, ...], list[Layer]] = {}
    for layer in scopes:
        readable: list[Classification] = [
            each for each in CLASSIFICATIONS if policy.decide(tags, each, layer).verdict != "deny"
        ]
        if readable:
            groups.setdefault(tuple(readable), []).append(layer)
    return groups


def _load_hits(desk: Desk, hits: Sequence[Hit], query: str, at: int) -> list[ClaimHit]:
    claims = {claim.address: claim for claim in load_claims(desk, [parse_address(hit.address)[1] for hit in hits], at)}
    phrase = query.strip().casefold()
    return [
        ClaimHit(claim, hit.text_score, hit.similarity, phrase in claim.text.casefold())
        for hit in hits
        if (claim := claims.get(hit.address)) is not None
    ]


def _fill_page(
    desk: Desk, query: _ClaimQuery, ranked: _ClaimRanking, place: _Position, size: int, known: dict[str, Claim]
) -> tuple[list[ScoredClaim], _Position | None]:
    """The claims of a page, best first, and where the next one starts. What does not fit into the max_tokens of its
    scope comes first on the next page. The first claim of a page always fits."""
    left = {layer: desk.policy.layer_rule(layer).max_tokens for layer in LAYERS}
    page: list[ScoredClaim] = []
    skipped: list[int] = []
    end = place.start
    for position, one in _walk_ranking(desk, query, ranked, place, size, known):
        if len(page) == size:
            if position < end:
                skipped.append(position)  # it did not fit before, and this page is full
                continue
            break
        end = max(end, position + 1)
        cost = -(-len(one.claim.text) // 4)  # a token is about four characters
        if left[one.claim.scope] >= cost or not page:
            left[one.claim.scope] -= cost
            page.append(one)
        else:
            skipped.append(position)
    else:
        end = len(ranked.order)
        if not skipped:
            return _sort_page(page), None
    following = place._replace(at=ranked.at, start=end, skipped=skipped, shown=ranked.fingerprint(end))
    return _sort_page(page), following


def _sort_page(page: list[ScoredClaim]) -> list[ScoredClaim]:
    return sorted(page, key=lambda one: one.sort_key)


def _walk_ranking(
    desk: Desk, query: _ClaimQuery, ranked: _ClaimRanking, place: _Position, size: int, known: dict[str, Claim]
) -> Iterator[tuple[int, ScoredClaim]]:
    """From a position on, what did not fit before it first: those that are still there and still allowed."""
    waiting, following = list(place.skipped), place.start
    while True:
        if not waiting and following == len(ranked.order):
            if ranked.is_complete:
                return
            known |= _extend_ranking(desk, query, ranked, until=ranked.at)
            continue
        chunk: Sequence[int] = waiting or range(following, min(following + 2 * size, len(ranked.order)))
        following, waiting = following if waiting else chunk[-1] + 1, []
        missing = [ranked.order[position] for position in chunk if ranked.order[position] not in known]
        known |= {claim.id: claim for claim in load_claims(desk, missing, desk.now())}
        for position in chunk:
            claim = known.get(ranked.order[position])
            if claim is not None and claim.superseded_by is None and _is_allowed(desk.policy, query, claim):
                yield position, ScoredClaim(claim, *ranked.parts[claim.id])


def _is_allowed(policy: DeskPolicy, query: _ClaimQuery, claim: Claim) -> bool:
    return policy.decide(query.tags, claim.classification, claim.scope).verdict != "deny"


def _build_item(
    desk: Desk,
    one: ScoredClaim,
    alpha: float,
    evidence: list[model.EvidenceResponse],
    warnings: dict[str, str],
    meta: bool,
) -> ScoredClaimItem:
    item: ScoredClaimItem = {"claim": model.to_response(desk, one.claim), "score": one.score}
    reasons = [warnings[one.claim.id]] if one.claim.id in warnings else []
    if meta:
        item["scores"] = {
            "text": one.text, "vector": one.vector, "combined": one.combined, "utility": one.claim.utility,
            "confidence": one.claim.confidence, "quality": one.claim.quality, "recency": one.recency, "g": one.g,
        }  # fmt: skip
        item["evidences"] = evidence
        reasons.append(ranking.explain_score(one, alpha))
    if reasons:
        item["reason"] = " ".join(reasons)
    return item
