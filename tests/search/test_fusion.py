"""Fusion, by itself: what each leg may do to a score."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.fusion import (
    FITTED_SCALE,
    MatchEvidence,
    choose_weights,
    compute_decay,
    fuse_signs,
    put_own_language_first,
    score_single,
    weigh_signs,
)
from tokonoma.search.tuning import TUNING, Signs

DAY = 86_400_000
shares = st.floats(0, 1)
WITHIN, ACROSS, TURN = TUNING.within_signs, TUNING.across_signs, TUNING.turn_signs
found = st.tuples(st.floats(-1, 2), shares, st.floats(0, 10), shares, st.floats(0, 4), shares).map(
    lambda each: Signs(*each, constant=1.0)
)


@given(found, st.sampled_from([WITHIN, ACROSS, TURN]), st.sampled_from(["vector", "subwords", "words", "coverage"]))
def test_more_of_a_sign_is_never_less(signs, weights, name):
    more = signs._replace(**{name: getattr(signs, name) + 0.5})
    assert 0 < weigh_signs(signs, weights) <= weigh_signs(more, weights) <= 1


def test_each_kind_of_record_has_weights_of_its_own():
    assert choose_weights(2.0, crosses=False, turn=True) == TURN
    assert choose_weights(2.0, crosses=True, turn=True) == choose_weights(1.0, crosses=True, turn=False) == ACROSS


def test_of_a_short_note_meaning_says_more_and_of_a_long_section_its_words_and_title():
    short, long = (choose_weights(length, crosses=False, turn=False) for length in (1.0, 2.5))
    assert short.vector > long.vector
    assert short.title < long.title
    assert short.word_share < long.word_share


@given(st.floats(0, 7))
def test_no_sign_but_length_counts_against_a_record(length):
    weights = choose_weights(length, crosses=False, turn=False)
    assert all(weight >= 0 for weight in weights._replace(length=0.0))


def test_between_languages_vectors_decide():
    assert ACROSS.words == ACROSS.title == 0
    assert ACROSS.vector > WITHIN.vector > ACROSS.coverage


def test_what_holds_the_question_in_its_own_language_is_not_below_what_is_near_across_languages():
    own = fuse_signs(MatchEvidence(1, 0, language="ja", coverage=1.0), Signs(coverage=1.0), WITHIN, 0)
    half = fuse_signs(MatchEvidence(2, 0, language="ja", coverage=0.5), Signs(coverage=0.5), WITHIN, 0)
    across = fuse_signs(MatchEvidence(3, 0, language="en"), Signs(vector=1.0), ACROSS, 0, crosses=True)
    found = {each.evidence.id: each for each in put_own_language_first([own, half, across])}
    assert own.score < across.score
    assert found[1].sort_key < found[3].sort_key < found[2].sort_key


def test_a_text_that_is_the_question_comes_before_its_translation():
    own = Signs(1.3, 1.0, 3.0, 1.0, 1.0, constant=1.0)
    assert weigh_signs(own, WITHIN) > weigh_signs(Signs(1.2, 0.8, length=1.0, constant=1.0), ACROSS)


def test_a_note_in_other_words_comes_before_one_that_shares_a_common_word():
    meant = Signs(0.6, 0.6, length=1.3, constant=1.0)
    shares_a_word = Signs(0.2, 0.45, 0.3, 0.3, 1.3, constant=1.0)
    assert weigh_signs(meant, WITHIN) > weigh_signs(shares_a_word, WITHIN)


def test_a_record_that_holds_the_only_word_comes_before_one_that_means_it():
    holds = Signs(0.3, 1.0, 0.8, 1.0, 1.5, one_word=1.0, constant=1.0)
    assert weigh_signs(holds, WITHIN) > weigh_signs(Signs(0.8, 0.7, length=1.0, constant=1.0), ACROSS)


@given(st.floats(-1, 1))
def test_similarities_are_brought_to_one_scale(similarity):
    value = FITTED_SCALE.get_range("en", "ja").calibrate(similarity)
    assert 0 <= value <= 1
    if similarity <= TUNING.unrelated:
        assert value == 0
    if similarity >= TUNING.same:
        assert value == 1


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


def test_what_is_not_of_the_time_counts_for_less():
    dated = MatchEvidence(1, 0, 0.5, date_factor=0.8)
    assert score_single(dated, 0).score == 0.4
    signs = Signs(vector=1.0, constant=1.0)
    whole = fuse_signs(dated._replace(date_factor=1.0), signs, WITHIN, 0).score
    assert fuse_signs(dated, signs, WITHIN, 0).score == round(0.8 * whole, 6)
