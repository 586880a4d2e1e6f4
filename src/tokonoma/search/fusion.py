"""One score out of several, on one scale from 0 to 1. Pure.

Words and vectors are brought to a scale on which a value means the same in either leg, and joined as two witnesses are:
what one does not know, the other may still prove,

    score = 1 − (1 − words · text) · (1 − vectors · vector) · (1 − titles · title)

where `title` is how near the title alone is, divided by how many share it: what stands over many records names none of
them. So a vector can raise what words have found, and never push it down. Ranks
are not used: that the tenth of a hopeless list should count as much as the tenth of a good one is what makes fusion by
ranks lose against one leg alone.
"""

from typing import NamedTuple

_DAY = 86_400_000
_DIGITS = 6
"""Scores are rounded, so that equals are equal on every machine and the order falls to their age."""


class FusionWeights(NamedTuple):
    words: float = 1.0
    vectors: float = 0.6
    titles: float = 0.0
    unrelated: float = 0.22  # the cosine that two texts have which have nothing to do with each other
    same: float = 0.83  # the cosine of two texts that say the same
    unrelated_titles: float = 0.2  # of two titles


class MatchEvidence(NamedTuple):
    """What the legs know of one document."""

    id: int
    at: int
    text: float | None = None  # 0..1; None: no word of the query is in it
    similarity: float | None = None  # by the metric asked for; None: not embedded, or not asked
    language: str = ""  # of the piece that is as similar as that
    title: float | None = None  # the similarity of the title by itself, if it has one
    vector_level: float | None = None  # the similarity on the scale of words, if neighbours have raised it
    same_title_count: int = 1  # of what is compared, how many have this very title
    date_factor: float = 1.0  # what is left of its score beside the time that the question names


class FusedScore(NamedTuple):
    evidence: MatchEvidence
    score: float
    vector_level: float | None  # the similarity, brought to the scale of words
    decay: float
    weights: FusionWeights | None = None  # by which the legs were joined

    @property
    def sort_key(self) -> tuple[float, int, int]:
        """Best first; of equals the newest, then the one put last."""
        return (-self.score, -self.evidence.at, -self.evidence.id)


def calibrate(similarity: float, weights: FusionWeights) -> float:
    """0 for what unrelated texts have, 1 for what texts have that say the same."""
    return _scale(similarity, weights.unrelated, weights.same)


def combine_scores(text: float, vector: float, weights: FusionWeights, title: float = 0.0) -> float:
    doubt = (1.0 - weights.words * text) * (1.0 - weights.vectors * vector) * (1.0 - weights.titles * title)
    return 1.0 - doubt


def compute_decay(at: int, now: int, half_life: float | None) -> float:
    """What age leaves of a score; a time that is still to come counts as now."""
    if half_life is None:
        return 1.0
    return 0.5 ** (max(now - at, 0) / _DAY / half_life)


def fuse_scores(found: MatchEvidence, weights: FusionWeights, now: int, half_life: float | None = None) -> FusedScore:
    """Both legs were asked."""
    vector = found.vector_level
    if vector is None and found.similarity is not None:
        vector = calibrate(found.similarity, weights)
    decay = compute_decay(found.at, now, half_life)
    title = 0.0 if found.title is None else _scale(found.title, weights.unrelated_titles, weights.same)
    score = (
        combine_scores(found.text or 0.0, vector or 0.0, weights, title / found.same_title_count)
        * decay
        * found.date_factor
    )
    return FusedScore(found, round(score, _DIGITS), vector, decay, weights)


def score_single(found: MatchEvidence, now: int, half_life: float | None = None) -> FusedScore:
    """One leg was asked: its own scale is the score. With neither, what is left is age."""
    raw = found.similarity if found.similarity is not None else found.text
    decay = compute_decay(found.at, now, half_life)
    score = (1.0 if raw is None else raw) * decay * found.date_factor
    return FusedScore(found, round(score, _DIGITS), None, decay)


def _scale(similarity: float, low: float, high: float) -> float:
    return min(max((similarity - low) / max(high - low, 1e-9), 0.0), 1.0)
