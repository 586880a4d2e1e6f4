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


class Weights(NamedTuple):
    words: float = 1.0
    vectors: float = 0.6
    titles: float = 0.0
    unrelated: float = 0.22  # the cosine that two texts have which have nothing to do with each other
    same: float = 0.83  # the cosine of two texts that say the same
    unrelated_titles: float = 0.2  # of two titles


class Found(NamedTuple):
    """What the legs know of one document."""

    id: int
    at: int
    text: float | None = None  # 0..1; None: no word of the query is in it
    similarity: float | None = None  # by the metric asked for; None: not embedded, or not asked
    language: str = ""  # of the piece that is as similar as that
    title: float | None = None  # the similarity of the title by itself, if it has one
    share: float | None = None  # the similarity on the scale of words, if neighbours have raised it
    namesakes: int = 1  # of what is compared, how many have this very title
    timely: float = 1.0  # what is left of its score beside the time that the question names


class Fused(NamedTuple):
    found: Found
    score: float
    vector: float | None  # the similarity, brought to the scale of words
    decay: float
    weights: Weights | None = None  # by which the legs were joined

    @property
    def order(self) -> tuple[float, int, int]:
        """Best first; of equals the newest, then the one put last."""
        return (-self.score, -self.found.at, -self.found.id)


def calibrated(similarity: float, weights: Weights) -> float:
    """0 for what unrelated texts have, 1 for what texts have that say the same."""
    return _scaled(similarity, weights.unrelated, weights.same)


def joined(text: float, vector: float, weights: Weights, title: float = 0.0) -> float:
    doubt = (1.0 - weights.words * text) * (1.0 - weights.vectors * vector) * (1.0 - weights.titles * title)
    return 1.0 - doubt


def decay_of(at: int, now: int, half_life: float | None) -> float:
    """What age leaves of a score; a time that is still to come counts as now."""
    if half_life is None:
        return 1.0
    return 0.5 ** (max(now - at, 0) / _DAY / half_life)


def fused(found: Found, weights: Weights, now: int, half_life: float | None = None) -> Fused:
    """Both legs were asked."""
    vector = found.share
    if vector is None and found.similarity is not None:
        vector = calibrated(found.similarity, weights)
    decay = decay_of(found.at, now, half_life)
    title = 0.0 if found.title is None else _scaled(found.title, weights.unrelated_titles, weights.same)
    score = joined(found.text or 0.0, vector or 0.0, weights, title / found.namesakes) * decay * found.timely
    return Fused(found, round(score, _DIGITS), vector, decay, weights)


def alone(found: Found, now: int, half_life: float | None = None) -> Fused:
    """One leg was asked: its own scale is the score. With neither, what is left is age."""
    raw = found.similarity if found.similarity is not None else found.text
    decay = decay_of(found.at, now, half_life)
    score = (1.0 if raw is None else raw) * decay * found.timely
    return Fused(found, round(score, _DIGITS), None, decay)


def _scaled(similarity: float, low: float, high: float) -> float:
    return min(max((similarity - low) / max(high - low, 1e-9), 0.0), 1.0)
