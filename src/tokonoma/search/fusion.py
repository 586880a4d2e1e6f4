"""One score out of several, on one scale from 0 to 1, and how much text and vectors count for it. Pure.

Text and vectors are brought to a scale on which a value means the same for both, and combined like two witnesses: what
one does not know, the other may still prove,

    score = 1 − (1 − words · text) · (1 − vectors · vector) · (1 − titles · title)

where `title` is how near the title alone is, divided by the number of candidates that share it. So a vector can raise
what text has found, and never lower it. Ranks are not used: fusion by ranks counts the tenth of a hopeless list as much
as the tenth of a good one, and so loses against one search alone.

Between two languages texts share only names; there vectors decide. Within one language text is more reliable wherever
it is sure, and vectors decide among what text leaves equal or did not find. How sure text is shows in its own scores:
in the best one, and in how far the fifth falls behind it. How sure vectors are shows in how far the nearest stands out
from the twentieth.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from tokonoma.search.tuning import TUNING, EvidenceWeight

_KNOWN = ("ja", "en")
_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺー々一-鿿㐀-䶿]")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]")
_READ = 2_000  # letters from the beginning of a text
_DAY = 86_400_000
_DIGITS = 6  # scores are rounded: equal ones are equal on every machine, and their order depends on age


class FusionWeights(NamedTuple):
    words: float
    vectors: float
    titles: float = 0.0


class MatchEvidence(NamedTuple):
    """What text and vectors know of one document."""

    id: int
    at: int
    text: float | None = None  # 0..1; None: it holds no term of the query
    similarity: float | None = None  # by the metric asked for; None: not embedded, or not asked
    language: str = ""  # of the piece that is as similar as that
    title: float | None = None  # the similarity of the title by itself, if it has one
    vector_level: float | None = None  # the similarity on the scale of text, if neighbours have raised it
    same_title_count: int = 1  # of what is compared, how many have this very title
    date_factor: float = 1.0  # what is left of its score if its time is not the one that the query names


class FusedScore(NamedTuple):
    evidence: MatchEvidence
    score: float
    vector_level: float | None  # the similarity on the scale of text
    decay: float
    weights: FusionWeights | None = None  # by which text and vectors were combined

    @property
    def sort_key(self) -> tuple[float, int, int]:
        """Best first; of equals the newest, then the one put last."""
        return (-self.score, -self.evidence.at, -self.evidence.id)


def calibrate(similarity: float) -> float:
    """0 for the cosine of unrelated texts, 1 for that of texts that say the same."""
    return _scale(similarity, TUNING.unrelated, TUNING.same)


def combine_scores(text: float, vector: float, weights: FusionWeights, title: float = 0.0) -> float:
    doubt = (1.0 - weights.words * text) * (1.0 - weights.vectors * vector) * (1.0 - weights.titles * title)
    return 1.0 - doubt


def compute_decay(at: int, now: int, half_life: float | None) -> float:
    """What age leaves of a score; a time in the future counts as now."""
    return 1.0 if half_life is None else 0.5 ** (max(now - at, 0) / _DAY / half_life)


def fuse_scores(
    evidence: MatchEvidence, weights: FusionWeights, now: int, half_life: float | None = None
) -> FusedScore:
    """The score where both text and vectors were searched."""
    vector = evidence.vector_level
    if vector is None and evidence.similarity is not None:
        vector = calibrate(evidence.similarity)
    decay = compute_decay(evidence.at, now, half_life)
    title = 0.0 if evidence.title is None else _scale(evidence.title, TUNING.unrelated_titles, TUNING.same)
    score = combine_scores(evidence.text or 0.0, vector or 0.0, weights, title / evidence.same_title_count)
    return FusedScore(evidence, round(score * decay * evidence.date_factor, _DIGITS), vector, decay, weights)


def score_single(evidence: MatchEvidence, now: int, half_life: float | None = None) -> FusedScore:
    """The score where one of them was searched, on its own scale. With neither, only age counts."""
    raw = evidence.similarity if evidence.similarity is not None else evidence.text
    decay = compute_decay(evidence.at, now, half_life)
    score = (1.0 if raw is None else raw) * decay * evidence.date_factor
    return FusedScore(evidence, round(score, _DIGITS), None, decay)


def detect_language(text: str) -> Literal["ja", "en", "other"]:
    start = text[:_READ]
    japanese, latin = len(_JAPANESE.findall(start)), len(_LATIN.findall(start))
    if japanese >= TUNING.japanese_share * (japanese + latin) and japanese:
        return "ja"
    return "en" if latin else "other"


def is_cross_language(query_language: str, language: str) -> bool:
    """Whether the two are known to be different languages."""
    return query_language != language and query_language in _KNOWN and language in _KNOWN


class QueryWeighting:
    """For one query. `levels`: text scores of its candidates, between 0 and 1, best first; `nearest`: similarities of
    the `nearest_compared` nearest by vectors, best first."""

    def __init__(self, query_language: str, levels: Sequence[float], nearest: Sequence[float] = ()) -> None:
        self.query_language = query_language
        text_sure = _scale(levels[0] if levels else 0.0, TUNING.text_weak, TUNING.text_sure)
        # How far the nearest stands out: 0 if all are about equally near, 1 if one is plainly meant.
        vectors_sure = _scale(nearest[0] - nearest[-1] if nearest else 0.0, 0.0, TUNING.outstanding)
        raised = 1.0 + TUNING.vector_raise * vectors_sure * (1.0 - (1.0 - TUNING.raise_when_sure) * text_sure)
        vectors, titles = (
            round(min(raised * _weigh_within_language(weight, text_sure, levels), TUNING.max_weight), 4)
            for weight in (TUNING.vectors_within, TUNING.titles_within)
        )
        self._within = FusionWeights(1.0, vectors, titles)
        self._turn = FusionWeights(1.0, min(vectors, TUNING.turn_vectors), titles)

    def choose_weights(self, language: str, coverage: float, *, turn: bool = False) -> FusionWeights:
        """For a record in this language that holds such a share of the query. Within a language text keeps its full
        weight; between languages it does so where all terms match, as names do. `turn`: it is one of a thread."""
        if not is_cross_language(self.query_language, language):
            return self._turn if turn else self._within
        words = TUNING.cross_language_text + (1.0 - TUNING.cross_language_text) * coverage
        return FusionWeights(round(words, 4), TUNING.cross_language_vectors)


def _weigh_within_language(weight: EvidenceWeight, sure: float, levels: Sequence[float]) -> float:
    fifth = levels[TUNING.compared_rank] if len(levels) > TUNING.compared_rank else 0.0
    ratio = fifth / levels[0] if sure else 1.0
    return (1.0 - sure) * weight.lost + sure * max(weight.undecided * ratio**weight.steepness, weight.least)


def _scale(similarity: float, low: float, high: float) -> float:
    return min(max((similarity - low) / max(high - low, 1e-9), 0.0), 1.0)
