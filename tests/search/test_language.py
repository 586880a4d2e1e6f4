"""Languages of texts, and what follows for the weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.fuse import Weights, joined
from tokonoma.search.language import across, language_of, weights_for

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
    weights = weights_for("ja", "en", [0.7, 0.1])
    assert weights.vectors > weights.words


def test_within_a_language_sure_words_decide():
    assert weights_for("ja", "ja", [0.6, 0.2, 0.1, 0.1, 0.05]).vectors == 0.05
    assert weights_for("ja", "ja", [0.6] * 5).vectors == 0.3


def test_where_words_know_nothing_vectors_speak():
    assert weights_for("ja", "ja", []).vectors == 0.6
    assert weights_for("en", "en", [0.05, 0.04]).vectors == 0.6


@given(st.lists(level, max_size=8), level, level)
def test_a_vector_never_pushes_down_what_words_found(levels, text, vector):
    weights = weights_for("ja", "ja", sorted(levels, reverse=True))
    assert weights.words == 1.0
    assert 0.05 <= weights.vectors <= 0.6
    assert joined(text, vector, weights) >= text - 1e-9


def test_the_calibration_is_kept():
    base = Weights(unrelated=0.2, same=0.8)
    for held in ("ja", "en"):
        found = weights_for("ja", held, [0.5], base)
        assert (found.unrelated, found.same) == (0.2, 0.8)
