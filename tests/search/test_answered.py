"""Whether anything answers a query: one measure, which the best score becomes. Pure."""

import pytest

from tokonoma.search.answered import judge_answered, rescale
from tokonoma.search.fusion import FusedScore, MatchEvidence
from tokonoma.search.tuning import TUNING, Signs


def hit(number: int, score: float, level: float | None, *, decay: float = 1.0, factor: float = 1.0) -> FusedScore:
    return FusedScore(MatchEvidence(number, 0, vector_level=level, date_factor=factor), score, decay)


def test_words_and_meaning_count_together():
    sure = judge_answered([hit(1, 0.5, 0.6)], {1: 0.9})
    words = judge_answered([hit(1, 0.5, 0.1)], {1: 0.9})
    little = judge_answered([hit(1, 0.5, 0.1)], {1: 0.1})
    assert 1.0 == sure > words > little == TUNING.least_answered
    assert judge_answered([], {}) == TUNING.least_answered


def test_without_words_in_common_a_hit_must_stand_out():
    field = [hit(number, 0.2, 0.45) for number in range(2, 8)]
    assert judge_answered([hit(1, 0.5, 0.5), *field], {}) < 0.5 < judge_answered([hit(1, 0.5, 0.5)], {})


def test_a_record_without_a_vector_is_judged_by_its_words():
    assert judge_answered([hit(1, 0.5, None)], {1: 0.9}) == 1.0
    assert judge_answered([hit(1, 0.5, None)], {1: 0.05}) == TUNING.least_answered


def test_the_best_must_stand_out_from_the_fifth_by_all_that_is_known_of_them():
    def place(*sums: float) -> list[FusedScore]:
        weights = Signs(words=1.0)
        return [hit(n, 0.5, 0.3)._replace(signs=Signs(words=each), weights=weights) for n, each in enumerate(sums)]

    covered = dict.fromkeys(range(6), 0.2)
    close, clear = place(9.0, 9.0, 9.0, 9.0, 9.0, 0.0), place(9.0, 9.0, 9.0, 9.0, 0.0, 0.0)
    assert judge_answered(clear, covered) > judge_answered(close, covered)
    assert judge_answered(clear[:4], covered) > judge_answered(close, covered)  # nothing else was found at all


def test_only_the_best_may_be_the_answer():
    field = [hit(number, 0.5, 0.0) for number in range(TUNING.answer_hits)]
    assert judge_answered([*field, hit(99, 0.1, 1.0)], {99: 1.0}) == TUNING.least_answered


def test_the_best_score_becomes_the_measure_and_the_others_keep_their_proportion():
    ranked = [hit(1, 0.4, 0.5), hit(2, 0.2, 0.5), hit(3, 0.1, 0.5)]
    assert [each.score for each in rescale(ranked, 0.8)] == pytest.approx([0.8, 0.4, 0.2])
    assert rescale([], 0.8) == []


def test_age_and_dates_still_take_their_part():
    aged = rescale([hit(1, 0.2, 0.5, decay=0.5), hit(2, 0.2, 0.5, factor=0.8)], 1.0)
    assert [each.score for each in aged] == pytest.approx([0.5, 0.5])
    assert all(0 <= each.score <= 1 for each in rescale([hit(1, 0.000001, 0.5, decay=1e-7)], 1.0))
