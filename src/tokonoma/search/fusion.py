"""One score out of everything that speaks for a record, on one scale from 0 to 1. Pure.

Each sign (`Signs`) is a number that is larger for an answer than for another record: how near it is by its vector, by
the parts of its words one by one, what words it holds, how much of the query. They are added up, each with its weight,

    score = 1 / (1 + e^(−(Σ weight · sign − middle) / softness))

so that what one sign does not know, others may still prove, and none decides alone. Ranks are not used: the tenth of a
hopeless list is not worth as much as the tenth of a good one.

There are three sets of weights: for records in the language of the query, for those in another one, which share only
names with it, and for turns of a conversation, which say little by themselves, and much by what stands around them. The
numbers are fitted together, on sets of notes, passages, manuals and conversations (bench/fit_ranking.py), so that their
sums can be compared: docs/adr/0063-one-sum-of-signs.md.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from operator import mul
from typing import Literal, NamedTuple

from tokonoma.search.tuning import TUNING, Signs

_KNOWN = ("ja", "en")
_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺー々一-鿿㐀-䶿]")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]")
_READ = 2_000  # letters from the beginning of a text
_DAY = 86_400_000
_WHOLE = 1 - 1e-9  # a sum of shares may miss 1 by its last digit
_DIGITS = 6  # scores are rounded: equal ones are equal on every machine, and their order depends on age


class CosineRange(NamedTuple):
    """Which cosines a model gives to texts of one pair of languages."""

    unrelated: float = TUNING.unrelated
    same: float = TUNING.same
    unrelated_titles: float = TUNING.unrelated_titles

    def place(self, cosine: float) -> float:
        """0 for unrelated texts, 1 for texts that say the same; not bounded."""
        return (cosine - self.unrelated) / max(self.same - self.unrelated, 1e-9)

    def calibrate(self, cosine: float) -> float:
        return min(max(self.place(cosine), 0.0), 1.0)

    def calibrate_title(self, cosine: float) -> float:
        return _scale(cosine, self.unrelated_titles, self.same)


@dataclass(frozen=True, slots=True)
class ModelScale:
    """The ranges of one model. `unrelated`: the cosine of unrelated texts by pair of languages, `""` for any pair;
    empty: those of the built-in model, which are the same for each pair."""

    unrelated: Mapping[str, float] = field(default_factory=dict[str, float])

    def get_range(self, language: str, other: str) -> CosineRange:
        unrelated = self.unrelated.get(name_pair(language, other), self.unrelated.get(""))
        if unrelated is None:
            return _FITTED_RANGE
        # As far from there to 1 as with the built-in model.
        share = (TUNING.same - TUNING.unrelated) / (1.0 - TUNING.unrelated)
        return CosineRange(unrelated, unrelated + share * (1.0 - unrelated), unrelated)


_FITTED_RANGE = CosineRange()
FITTED_SCALE = ModelScale()


def name_pair(language: str, other: str) -> str:
    return " ".join(sorted((language, other)))


class MatchEvidence(NamedTuple):
    """What text and vectors know of one document."""

    id: int
    at: int
    text: float | None = None  # 0..1; None: it holds no term of the query
    similarity: float | None = None  # by the metric asked for; None: not embedded, or not asked
    language: str = ""  # of the piece that is as similar as that
    title: float | None = None  # the similarity of the title by itself, if it has one
    monolingual: bool = True  # nothing in it is known to be in another language
    coverage: float = 0.0  # the share of the query that it holds
    holds_content: bool = False  # it holds all of it but grammar
    vector_level: float | None = None  # the similarity between 0 and 1, on the scale of its model
    title_level: float = 0.0  # the same of the title
    same_title_count: int = 1  # of what is compared, how many have this very title
    date_factor: float = 1.0  # what is left of its score if its time is not the one that the query names
    date_share: float = 0.0  # what it is worth that its time is the one, whatever it says
    subwords: float | None = None  # how well it holds the parts of the query's words; None: not known

    @property
    def covers(self) -> bool:
        """Whether it holds the whole query, all in one language. A page of Japanese with a listing in English, which
        is nearest to an English query, is no English record."""
        return (self.coverage > _WHOLE or self.holds_content) and self.monolingual


class FusedScore(NamedTuple):
    evidence: MatchEvidence
    score: float
    decay: float
    signs: Signs | None = None  # of which the score is the sum,
    weights: Signs | None = None  # by these
    crosses: bool = False  # it is in another language than the query

    @property
    def sort_key(self) -> tuple[float, bool, int, int]:
        """Best first; of equals those in the query's language, then the newest, then the one put last."""
        return (-self.score, self.crosses, -self.evidence.at, -self.evidence.id)


def sum_signs(signs: Signs, weights: Signs) -> float:
    return sum(map(mul, signs, weights))


def weigh_signs(signs: Signs, weights: Signs) -> float:
    """Between 0 and 1."""
    return 1.0 / (1.0 + exp((TUNING.middle - sum_signs(signs, weights)) / TUNING.softness))


def compute_decay(at: int, now: int, half_life: float | None) -> float:
    """What age leaves of a score; a time in the future counts as now."""
    return 1.0 if half_life is None else 0.5 ** (max(now - at, 0) / _DAY / half_life)


def fuse_signs(
    evidence: MatchEvidence,
    signs: Signs,
    weights: Signs,
    now: int,
    half_life: float | None = None,
    *,
    crosses: bool = False,
) -> FusedScore:
    """The score where both text and vectors were searched."""
    decay = compute_decay(evidence.at, now, half_life)
    raised = 1.0 - (1.0 - weigh_signs(signs, weights)) * (1.0 - evidence.date_share)
    score = round(raised * decay * evidence.date_factor, _DIGITS)
    return FusedScore(evidence, score, decay, signs, weights, crosses)


def score_single(evidence: MatchEvidence, now: int, half_life: float | None = None) -> FusedScore:
    """The score where one of them was searched, on its own scale. With neither, only age counts."""
    raw = evidence.similarity if evidence.similarity is not None else evidence.text
    decay = compute_decay(evidence.at, now, half_life)
    score = (1.0 if raw is None else raw) * decay * evidence.date_factor
    return FusedScore(evidence, round(score, _DIGITS), decay)


def detect_language(text: str) -> Literal["ja", "en", "other"]:
    start = text[:_READ]
    japanese, latin = len(_JAPANESE.findall(start)), len(_LATIN.findall(start))
    if japanese >= TUNING.japanese_share * (japanese + latin) and japanese:
        return "ja"
    return "en" if latin else "other"


def is_cross_language(query_language: str, language: str) -> bool:
    """Whether the two are known to be different languages."""
    return query_language != language and query_language in _KNOWN and language in _KNOWN


def choose_weights(length: float, *, crosses: bool, turn: bool) -> Signs:
    """`length`: as in `Signs`. `crosses`: the record is in another language than the query. `turn`: it is one of a
    thread."""
    if crosses:
        return TUNING.across_signs
    if turn:
        return TUNING.turn_signs
    longer = length - TUNING.usual_length
    pairs = zip(TUNING.within_signs, TUNING.within_longer, strict=True)
    weights = Signs(*(max(own + longer * more, 0.0) for own, more in pairs))
    return weights._replace(length=TUNING.within_signs.length)  # the only one that counts against a record


def put_own_language_first(found: Sequence[FusedScore]) -> list[FusedScore]:
    """What holds the whole query in its own language is never below what was found across languages alone."""
    alone = (each.score for each in found if each.crosses and each.evidence.coverage <= _WHOLE)
    least = max(alone, default=0.0)
    return [
        each._replace(score=least) if each.score < least and each.evidence.covers and not each.crosses else each
        for each in found
    ]


def _scale(similarity: float, low: float, high: float) -> float:
    return min(max((similarity - low) / max(high - low, 1e-9), 0.0), 1.0)
