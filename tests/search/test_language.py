"""Languages of texts, and what follows for the weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.fusion import Weights, joined
from tokonoma.search.weighting import Judge, across, language_of

level = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("家賃の支払日", "ja"),
        ("KubernetesクラスターのPodをdeployする", "ja"),
        ("TTL Controller for Finished Resources (終了したリソースのためのTTLコントローラー)", "ja"),
        ("The word 床の間 names an alcove in a Japanese room, where a scroll or flowers are shown to guests.", "en"),
        ("when is the rent due", "en"),
        ("12:30 → 14:00", "other"),
        ("", "other"),
    ],
)
def test_the_language_of_a_text(text, language):
    assert language_of(text) == language


def test_only_two_known_languages_differ():
    assert across("ja", "en")
    assert not across("ja", "ja")
    assert not across("ja", "other")


def test_between_languages_vectors_decide():
    weights = Judge("ja", [0.7, 0.1]).weights("en", coverage=0.2)
    assert weights.vectors > weights.words


def test_a_name_that_is_written_alike_counts_in_full_between_languages():
    judge = Judge("en", [0.7, 0.1])
    assert judge.weights("ja", coverage=1.0).words == 1.0
    assert judge.weights("ja", coverage=0.0).words < 0.5


def test_within_a_language_sure_words_decide():
    sure, unsure = Judge("ja", [0.6, 0.2, 0.1, 0.1, 0.05]), Judge("ja", [0.6] * 5)
    assert sure.weights("ja", 1.0).vectors < unsure.weights("ja", 1.0).vectors
    assert sure.weights("", 1.0) == sure.weights("other", 1.0) == sure.weights("ja", 1.0)


def test_where_words_know_nothing_vectors_speak():
    known = Judge("ja", [0.6] * 5).weights("ja", 0.5).vectors
    assert Judge("ja", []).weights("ja", 0.0).vectors > known
    assert Judge("en", [0.05, 0.04]).weights("en", 0.0).vectors > known


def test_vectors_that_tell_one_apart_weigh_more_above_all_where_words_are_not_trusted():
    even, apart = [0.5] * 20, [0.8] + [0.2] * 19

    def raised(levels):
        weights = [Judge("en", levels, nearest).weights("en", 0.5) for nearest in (even, apart)]
        return weights[1].vectors / weights[0].vectors

    assert 1.0 < raised([0.5] * 5) < raised([0.2] * 5)


def test_a_turn_by_itself_says_little():
    for levels in ([0.2, 0.2], [], [0.05, 0.04]):
        judge = Judge("en", levels)
        assert judge.weights("en", 0.5, turn=True).vectors < judge.weights("en", 0.5).vectors
        assert judge.weights("ja", 0.5, turn=True) == judge.weights("ja", 0.5)
    sure = Judge("en", [0.6, 0.2, 0.1, 0.1, 0.05])
    assert sure.weights("en", 0.5, turn=True) == sure.weights("en", 0.5)


@given(st.lists(level, max_size=8), level, level, level)
def test_a_vector_never_pushes_down_what_words_found(levels, text, vector, coverage):
    weights = Judge("ja", sorted(levels, reverse=True)).weights("ja", coverage)
    assert weights.words == 1.0
    assert 0.0 < weights.vectors <= 1.0
    assert joined(text, vector, weights) >= text - 1e-9


@given(st.lists(level, max_size=8), st.sampled_from(["ja", "en", "other", ""]), level)
def test_the_calibration_is_kept(levels, held, coverage):
    found = Judge("ja", sorted(levels, reverse=True), base=Weights(unrelated=0.2, same=0.8)).weights(held, coverage)
    assert (found.unrelated, found.same) == (0.2, 0.8)
