"""Fusion, by itself: what each leg may do to a score."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.fusion import (
    FusionWeights,
    MatchEvidence,
    calibrate,
    combine_scores,
    compute_decay,
    fuse_scores,
    score_single,
)
from tokonoma.search.tuning import TUNING

DAY = 86_400_000
shares = st.floats(0, 1)
weights = st.builds(FusionWeights, words=st.just(1.0), vectors=shares, titles=shares)
WEIGHTS = FusionWeights(1.0, 0.6)


@given(shares, shares, weights)
def test_a_vector_never_takes_from_what_words_have_found(text, vector, by):
    assert combine_scores(text, vector, by) >= text - 1e-12
    assert 0 <= combine_scores(text, vector, by) <= 1


@given(shares, shares, shares, weights)
def test_more_of_either_is_never_less(text, vector, more, by):
    assert combine_scores(max(text, more), vector, by) >= combine_scores(text, vector, by) - 1e-12
    assert combine_scores(text, max(vector, more), by) >= combine_scores(text, vector, by) - 1e-12


@given(st.floats(-1, 1))
def test_similarities_are_brought_to_one_scale(similarity):
    value = calibrate(similarity)
    assert 0 <= value <= 1
    if similarity <= TUNING.unrelated:
        assert value == 0
    if similarity >= TUNING.same:
        assert value == 1


def test_an_exact_hit_stays_above_unrelated_vectors():
    by = WEIGHTS
    exact = fuse_scores(MatchEvidence(1, 0, text=0.9, similarity=0.05), by, 0)
    others = [fuse_scores(MatchEvidence(number, 0, similarity=0.35), by, 0) for number in range(2, 50)]
    assert all(exact.sort_key < other.sort_key for other in others)


def test_what_is_not_embedded_yet_keeps_its_words():
    assert fuse_scores(MatchEvidence(1, 0, text=0.4), WEIGHTS, 0).score == 0.4
    assert fuse_scores(MatchEvidence(1, 0, text=0.4, similarity=0.7), WEIGHTS, 0).score > 0.4


def test_age_halves_a_score_and_the_future_is_now():
    assert compute_decay(0, 10 * DAY, 10) == 0.5
    assert compute_decay(20 * DAY, 10 * DAY, 10) == 1
    assert compute_decay(0, 10 * DAY, None) == 1
    assert score_single(MatchEvidence(1, 0, text=0.8), 20 * DAY, 10).score == 0.2


def test_equals_come_newest_first_then_last_put_first():
    items = [score_single(MatchEvidence(number, at, text=0.5), 0) for number, at in ((1, 5), (2, 9), (3, 5), (4, 9))]
    assert [each.evidence.id for each in sorted(items, key=lambda each: each.sort_key)] == [4, 2, 3, 1]


def test_one_leg_alone_keeps_its_own_scale():
    assert score_single(MatchEvidence(1, 0, similarity=-0.25), 0).score == -0.25
    assert score_single(MatchEvidence(1, 0), 0).score == 1


def test_a_title_that_many_share_tells_little():
    weights = FusionWeights(1.0, 0.6, 0.5)
    alone_, shared = (
        fuse_scores(MatchEvidence(1, 0, 0.2, 0.1, "en", 0.9, same_title_count=many), weights, 0).score
        for many in (1, 10)
    )
    assert 0.2 < shared < alone_


def test_what_is_not_of_the_time_counts_for_less():
    for judged in (
        score_single(MatchEvidence(1, 0, 0.5, date_factor=0.8), 0),
        fuse_scores(MatchEvidence(1, 0, 0.5, date_factor=0.8), WEIGHTS, 0),
    ):
        assert judged.score == 0.4
