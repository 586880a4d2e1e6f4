"""Languages of texts, and what follows for the weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.fusion import QueryWeighting, combine_scores, detect_language, is_cross_language

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
    assert detect_language(text) == language


def test_only_two_known_languages_differ():
    assert is_cross_language("ja", "en")
    assert not is_cross_language("ja", "ja")
    assert not is_cross_language("ja", "other")


def test_between_languages_vectors_decide():
    weights = QueryWeighting("ja", [0.7, 0.1]).choose_weights("en", coverage=0.2)
    assert weights.vectors > weights.words


def test_a_name_that_is_written_alike_counts_in_full_between_languages():
    judge = QueryWeighting("en", [0.7, 0.1])
    assert judge.choose_weights("ja", coverage=1.0).words == 1.0
    assert judge.choose_weights("ja", coverage=0.0).words < 0.5


def test_within_a_language_sure_words_decide():
    sure, unsure = QueryWeighting("ja", [0.6, 0.2, 0.1, 0.1, 0.05]), QueryWeighting("ja", [0.6] * 5)
    assert sure.choose_weights("ja", 1.0).vectors < unsure.choose_weights("ja", 1.0).vectors
    assert sure.choose_weights("", 1.0) == sure.choose_weights("other", 1.0) == sure.choose_weights("ja", 1.0)


def test_where_words_know_nothing_vectors_speak():
    known = QueryWeighting("ja", [0.6] * 5).choose_weights("ja", 0.5).vectors
    assert QueryWeighting("ja", []).choose_weights("ja", 0.0).vectors > known
    assert QueryWeighting("en", [0.05, 0.04]).choose_weights("en", 0.0).vectors > known


def test_vectors_that_tell_one_apart_weigh_more_above_all_where_words_are_not_trusted():
    even, apart = [0.5] * 20, [0.8] + [0.2] * 19

    def raised(levels):
        weights = [QueryWeighting("en", levels, nearest).choose_weights("en", 0.5) for nearest in (even, apart)]
        return weights[1].vectors / weights[0].vectors

    assert 1.0 < raised([0.5] * 5) < raised([0.2] * 5)


def test_a_turn_by_itself_says_little():
    for levels in ([0.2, 0.2], [], [0.05, 0.04]):
        judge = QueryWeighting("en", levels)
        assert judge.choose_weights("en", 0.5, turn=True).vectors < judge.choose_weights("en", 0.5).vectors
        assert judge.choose_weights("ja", 0.5, turn=True) == judge.choose_weights("ja", 0.5)
    sure = QueryWeighting("en", [0.6, 0.2, 0.1, 0.1, 0.05])
    assert sure.choose_weights("en", 0.5, turn=True) == sure.choose_weights("en", 0.5)


@given(st.lists(level, max_size=8), level, level, level)
def test_a_vector_never_pushes_down_what_words_found(levels, text, vector, coverage):
    weights = QueryWeighting("ja", sorted(levels, reverse=True)).choose_weights("ja", coverage)
    assert weights.words == 1.0
    assert 0.0 < weights.vectors <= 1.0
    assert combine_scores(text, vector, weights) >= text - 1e-9
