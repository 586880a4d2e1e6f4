"""Cutting texts, finding the text that spoils a batch, checking an answer: without a provider."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Unready
from tokonoma.embed.batches import MAX_CHUNKS, bisect_failures, split_text
from tokonoma.embed.embedder import UnusableAnswer, check_vectors, is_same_model
from tokonoma.embed.models import ModelConfig, ProviderAccess, build_embedder


def test_a_short_text_is_one_piece_and_a_blank_one_none() -> None:
    assert split_text(" a text ", 100) == ["a text"]
    assert split_text(" \n\t", 100) == []
    assert split_text("", 100) == []


@given(st.lists(st.sampled_from(["x", "x", " ", "。", "\n", "\n\n"]), max_size=400), st.integers(1, 50))
def test_pieces_fit_and_lose_nothing(signs: list[str], reach: int) -> None:
    text = "".join(chr(0x5000 + place) if sign == "x" else sign for place, sign in enumerate(signs))
    found = split_text(text, reach)
    assert all(0 < len(piece) <= reach and piece in text for piece in found)
    if len(found) < MAX_CHUNKS:
        assert set("".join(found)) >= set(text) - set(" \n")


def test_pieces_end_where_sentences_do() -> None:
    text = "これは一つ目の文です。これは二つ目の文です。これは三つ目の文です。"
    assert split_text(text, 24)[0] == "これは一つ目の文です。これは二つ目の文です。"


def test_a_huge_text_has_a_bounded_number_of_pieces() -> None:
    assert len(split_text("word " * 200_000, 500)) == MAX_CHUNKS


@given(st.lists(st.booleans(), max_size=40))
def test_sifting_finds_exactly_the_spoilers(spoils: list[bool]) -> None:
    def embed(part: list[tuple[int, bool]]) -> list[int]:
        if any(spoil for _, spoil in part):
            raise UnusableAnswer("no")
        return [number for number, _ in part]

    items = list(enumerate(spoils))
    good, bad = bisect_failures(items, embed)
    if good:
        assert sorted(number for _, number in good) == [number for number, spoil in items if not spoil]
        assert sorted(item for item, _ in bad) == [item for item in items if item[1]]
    else:
        assert len(bad) == min(sum(spoils), 3)
        assert all(spoil for (_, spoil), _ in bad)


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0], [1.0]],
        [[1.0, 2.0], [float("inf"), 1.0]],
        [[1.0, 2.0], [1e39, 1.0]],
        [[1.0, 2.0], [0.0, 0.0]],
        [[1.0, 2.0], ["x", 1.0]],
        [[1.0, 2.0], None],
        [[[1.0]], [[1.0]]],
        [[], []],
        None,
        {},
        "text",
    ],
)
def test_what_is_not_a_row_of_finite_numbers_for_each_text_is_unsound(answer) -> None:
    with pytest.raises(UnusableAnswer):
        check_vectors(answer, 2, None)


def test_a_sound_answer_is_brought_to_length_one() -> None:
    rows = check_vectors([[3e30, 4e30], [0.0, 1e-6]], 2, 2)
    assert rows == pytest.approx(np.asarray([[0.6, 0.8], [0.0, 1.0]]))
    with pytest.raises(UnusableAnswer, match="2 dimensions; 3"):
        check_vectors([[3, 4]], 1, 3)


def test_the_same_model_is_known_again() -> None:
    one = np.asarray([0.6, 0.8], np.float32)
    assert is_same_model(one, np.asarray([0.61, 0.79], np.float32))
    assert not is_same_model(one, np.asarray([0.8, 0.6], np.float32) * -1)
    assert not is_same_model(one, np.asarray([1.0], np.float32))


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (ModelConfig("openai"), "embed_model"),
        (ModelConfig("openai", "m"), "embed_url"),
    ],
)
def test_a_recipe_that_cannot_be_followed_says_what_is_missing(recipe: ModelConfig, says: str) -> None:
    with pytest.raises(Unready, match=says):
        build_embedder(recipe, ProviderAccess())


def test_the_provider_none_is_none() -> None:
    assert build_embedder(ModelConfig("none"), ProviderAccess()) is None
