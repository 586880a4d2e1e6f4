"""Languages of texts."""

import pytest

from tokonoma.search.fusion import detect_language, is_cross_language


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
