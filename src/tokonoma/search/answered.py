"""Whether anything answers a query at all: the best score is low where nothing does. Pure.

What text and vectors are fused to says which hit is better, and little about whether the best one is an answer: some
record is always the nearest. That shows in how much of the query a hit holds: how near it is in meaning, and how many
of its words it has. Between two languages there are no words in common; there it shows in how far a hit stands out from
the fifth nearest. And in how far the best one stands out from the fifth by everything that is known of them: where many
are about as good, none answers.

The best hit's score becomes this measure, and those of the others keep their proportion to it.
"""

from collections.abc import Mapping, Sequence
from heapq import nlargest

from tokonoma.search.fusion import FusedScore, sum_signs
from tokonoma.search.tuning import TUNING


def judge_answered(ranked: Sequence[FusedScore], coverages: Mapping[int, float]) -> float:
    """1 if one of the best surely answers the query, down to `least_answered`. `coverages`: the share of the query's
    words that a document holds."""
    nearest = nlargest(TUNING.compared_rank + 1, (each.evidence.vector_level or 0.0 for each in ranked))
    usual = nearest[-1] if len(nearest) > TUNING.compared_rank else 0.0
    best = max((_add_up(each, coverages, usual) for each in ranked[: TUNING.answer_hits]), default=0.0)
    best += TUNING.outstanding * _measure_lead(ranked)
    share = (best - TUNING.no_answer) / (TUNING.sure_answer - TUNING.no_answer)
    return round(min(max(share, TUNING.least_answered), 1.0), 4)


def rescale(ranked: Sequence[FusedScore], answered: float) -> list[FusedScore]:
    """The same hits in the same order; the best one has this score, less what age and dates take from it."""
    best = max((each.score / (each.decay * each.evidence.date_factor) for each in ranked), default=1.0)
    factor = answered / min(best, 1.0)  # a very old record's score has been rounded
    return [each._replace(score=round(each.score * factor, 6)) for each in ranked]


def _measure_lead(ranked: Sequence[FusedScore]) -> float:
    """How much more speaks for the best than for the fifth; if there are fewer, than for nothing."""
    compared = [(each.signs, each.weights) for each in ranked[: TUNING.compared_rank + 1]]
    sums = [sum_signs(signs, weights) for signs, weights in compared if signs is not None and weights is not None]
    last = sums[-1] if len(sums) > TUNING.compared_rank else 0.0
    return max(max(sums, default=0.0) - last, 0.0)


def _add_up(hit: FusedScore, coverages: Mapping[int, float], usual: float) -> float:
    coverage, level = coverages.get(hit.evidence.id, 0.0), hit.evidence.vector_level
    # Without a vector, words alone must do.
    return 2.0 * coverage if level is None else level + max(coverage, level - usual)
