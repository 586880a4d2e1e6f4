"""Scores of claims: S = α·S_vec + (1 − α)·S_text, times g for usefulness, confidence and age. Pure.

S_text and S_vec come calibrated from the shared index: a score does not depend on the other hits, and an unrelated
vector counts as 0. The minimum applies to S, so age alone never drops a claim. Usefulness is measured on a fixed scale:
feedback on one claim moves that claim by the amount of the feedback, and no other.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tokonoma.core.policy import RetrievalSettings
from tokonoma.modules.claims.model import Claim

MIN_SCORE = 0.15
MMR_LAMBDA = 0.85
UNRELATED_COSINE, SAME_COSINE = 0.3, 1.0  # of two unrelated texts, of two texts with the same meaning
FULL_MATCH = 1.3  # of the weight of the query's words, in a claim that repeats them
UTILITY_SCALE = 0.5  # one `helpful` is a fifth of it
YOUNGER = 0.25  # the part of its age that a claim loses by one `helpful`
MANY_SIGNALS = 3.0  # of harmful and outdated, from which on a claim is returned with a warning
_DAY = 86_400_000
_DIGITS = 6
_POOL = 24  # so many claims are compared with those before them to find the next one
_CODE = re.compile(r"[`{}()<>=;/\\_]|https?:|::|\b\w+\.\w+\b|[\"“”「『]")
_WORDS = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class ClaimHit:
    """The scores of the index; None if that search did not find the claim."""

    claim: Claim
    text: float | None
    similarity: float | None
    exact: bool = False  # it contains the whole query


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    claim: Claim
    text: float
    vector: float
    combined: float
    utility: float
    recency: float
    g: float
    score: float
    exact: bool

    @property
    def parts(self) -> list[Any]:
        """All fields but the claim, in their order."""
        return [getattr(self, each.name) for each in fields(self)[1:]]

    @property
    def sort_key(self) -> tuple[float, int, str]:
        return (-self.score, -self.claim.created_at, self.claim.id)


def choose_alpha(query: str, retrieval: RetrievalSettings) -> float:
    """The weight of meaning: set by the policy, or low for short queries, code, quotes and URLs, high for prose."""
    if retrieval.alpha is not None:
        return retrieval.alpha
    if _CODE.search(query):
        return 0.35
    # In scripts without spaces between words, two characters count as one word.
    size = sum(1 if word.isascii() else max(1, len(word) // 2) for word in _WORDS.findall(query))
    return next(alpha for most, alpha in ((3, 0.4), (8, 0.6), (20, 0.75), (math.inf, 0.8)) if size <= most)


def scale_text_level(level: float) -> float:
    """The index returns m / (1 + m) for the matched share m of the weight of the query's words; repeated words count
    for more than 1. This returns √m as a part of its usual maximum: on this scale the minimum keeps every claim that
    shares an important word, and claims that hold all words still differ."""
    return min(math.sqrt(level / (1 - level) / FULL_MATCH), 1.0) if level < 1 else 1.0


def calibrate_similarity(similarity: float) -> float:
    """0 for unrelated texts, 1 for the same meaning. Squared: the larger a store is, the more claims are somewhat
    similar to any query, and they must not add up to what shares its words."""
    return min(max((similarity - UNRELATED_COSINE) / (SAME_COSINE - UNRELATED_COSINE), 0.0), 1.0) ** 2


def compute_recency(claim: Claim, retrieval: RetrievalSettings, now: int) -> float:
    """0.5 after a half-life; a time in the future counts as now."""
    half_life = retrieval.half_life_by_kind.get(claim.kind, retrieval.half_life_days)
    return math.exp(-math.log(2) * max(now - claim.anchor_at, 0) / _DAY / half_life)


def score_claims(
    query: str, found: Sequence[ClaimHit], alpha: float, retrieval: RetrievalSettings, now: int
) -> list[ScoredClaim]:
    """The relevant claims, best first. Without any vector α is 0."""
    weight = alpha if any(each.similarity is not None for each in found) else 0.0
    items = [_score_claim(each, weight, retrieval, now) for each in found]
    pieces = _query_terms(query)
    return sorted((each for each in items if _is_relevant(each, pieces)), key=lambda each: each.sort_key)


def _score_claim(one: ClaimHit, alpha: float, retrieval: RetrievalSettings, now: int) -> ScoredClaim:
    claim = one.claim
    text = scale_text_level(one.text or 0.0)
    vector = 0.0 if one.similarity is None else calibrate_similarity(one.similarity)
    # Found by words, while its vector is not computed yet: the unknown part does not count against it.
    weight = alpha if one.similarity is not None or one.text is None else 0.0
    combined = weight * vector + (1 - weight) * text
    useful = claim.utility / UTILITY_SCALE
    recency = compute_recency(claim, retrieval, now)
    g = (0.6 + 0.4 / (1 + math.exp(-useful))) * (0.5 + 0.5 * claim.confidence) * (0.3 + 0.7 * recency)
    if retrieval.use_quality:
        g *= 0.5 + 0.5 * claim.quality
    values = (round(each, _DIGITS) for each in (text, vector, combined, useful, recency, g, combined * g))
    return ScoredClaim(claim, *values, exact=one.exact)


def _is_relevant(one: ScoredClaim, pieces: Sequence[str]) -> bool:
    """S or one of its parts (S_vec before it is squared) reaches the minimum, or the claim shares enough words with the
    query: in a small store it is not yet known which words are rare, and S is small for every claim."""
    if one.exact or max(one.combined, one.text, math.sqrt(one.vector)) >= MIN_SCORE:
        return True
    folded = one.claim.text.casefold()
    return one.text > 0 and sum(piece in folded for piece in pieces) >= MIN_SCORE * len(pieces)


def _query_terms(query: str) -> list[str]:
    """Whole words of alphabets; pairs of characters in scripts without spaces between words."""
    pieces: set[str] = set()
    for word in _WORDS.findall(query.casefold()):
        pairs = {word[place : place + 2] for place in range(len(word) - 1)}
        pieces |= {word} if word.isascii() or len(word) <= 2 else pairs
    return sorted(pieces)


def order_diverse(items: Sequence[ScoredClaim]) -> list[ScoredClaim]:
    """All of them, without repetition at the front: each next one by what it adds (maximal marginal relevance). The
    order does not depend on how many of them are wanted."""
    if not items:
        return []
    top = items[0].score or 1.0
    rest, pool = list(reversed(items)), list[ScoredClaim]()
    shingles: dict[str, frozenset[str]] = {}
    nearest: dict[str, float] = {}
    ordered: list[ScoredClaim] = []
    while rest or pool:
        while rest and len(pool) < _POOL:
            joined = rest.pop()
            pool.append(joined)
            mine = shingles[joined.claim.id] = _make_shingles(joined.claim.text)
            nearest[joined.claim.id] = max((_jaccard(mine, shingles[one.claim.id]) for one in ordered), default=0.0)
        best = max(pool, key=lambda each: MMR_LAMBDA * each.score / top - (1 - MMR_LAMBDA) * nearest[each.claim.id])
        pool.remove(best)
        ordered.append(best)
        for each in pool:
            alike = _jaccard(shingles[best.claim.id], shingles[each.claim.id])
            nearest[each.claim.id] = max(nearest[each.claim.id], alike)
    return ordered


def explain_score(one: ScoredClaim, alpha: float) -> str:
    """What contributed to the score, in words."""
    reasons = {
        "it contains the whole query": one.exact,
        "its words match": not one.exact and one.text >= one.vector and one.text > 0,
        "its meaning is similar": one.vector > 0 and (one.vector > one.text or alpha >= 0.5),
        "it has helped before": one.claim.utility > 0,
        "it has misled before": one.claim.utility < 0,
        "it is old": one.recency < 0.25,
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds) or "it is similar enough"


def compute_quality(provenance: Mapping[str, object]) -> float:
    """How well its source can be checked."""
    weights = {"git": 0.2, "url": 0.1, "note": 0.05, "actor": 0.05, "signed": 0.1}
    return round(0.5 + sum(weight for key, weight in weights.items() if provenance.get(key)), 3)


def apply_signal(claim: Claim, signal: str, score: float, now: int) -> Claim:
    """The claim after feedback, changed in proportion to its score. Only `helpful` makes it younger."""
    utility, confidence = SIGNALS[signal]
    changed = replace(
        claim,
        utility=round(min(max(claim.utility + utility * score, -1.0), 1.0), _DIGITS),
        confidence=round(min(max(claim.confidence + confidence * score, 0.0), 1.0), _DIGITS),
    )
    if signal != "helpful" or score <= 0:
        return changed
    return replace(changed, anchor_at=claim.anchor_at + round(max(now - claim.anchor_at, 0) * YOUNGER * score))


def describe_doubts(scores: Mapping[str, float]) -> str:
    """A warning, from the sum of the feedback for each signal; empty if few called the claim harmful or outdated,
    compared with those whom it helped."""
    against = {name: scores.get(name, 0.0) for name in ("harmful", "outdated")}
    total = sum(against.values())
    if total < MANY_SIGNALS or 3 * total < scores.get("helpful", 0.0):
        return ""
    said = " and ".join(f"{name} ({amount:g})" for name, amount in against.items() if amount > 0)
    return f"Warning: feedback calls this claim {said}. Check it before you rely on it."


SIGNALS = {"helpful": (0.10, 0.05), "harmful": (-0.20, -0.10), "outdated": (0.0, -0.20), "duplicate": (-0.05, 0.0)}


def _make_shingles(text: str) -> frozenset[str]:
    packed = "".join(text[:200].casefold().split())
    return frozenset(map("".join, zip(packed, packed[1:], packed[2:], strict=False))) or frozenset({packed})


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
