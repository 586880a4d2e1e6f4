"""Questions: remembered, and never a reason for a search to hang or to fail."""

import pytest
from embed.fixture import EmbedFixture, Open
from embed.server import EmbeddingServer

pytestmark = pytest.mark.migrated


@pytest.fixture
def filled(house: EmbedFixture) -> EmbedFixture:
    house.save("cat", "the cat sleeps")
    house.work()
    return house


def test_a_question_is_embedded_once(filled: EmbedFixture, server: EmbeddingServer) -> None:
    first = filled.vectors.embed_query("where is the cat?")
    asked = len(server.requests)
    again = filled.vectors.embed_query("  where is the cat?\n")
    assert first is not None
    assert again is not None
    assert (first.vector == again.vector).all()
    assert len(server.requests) == asked
    filled.vectors.embed_query("where is the dog?")
    assert len(server.requests) == asked + 1


def test_the_memory_of_questions_is_bounded(filled: EmbedFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokonoma.embed.queries._MAX_CACHED", 3)
    for number in range(10):
        filled.vectors.embed_query(f"question {number}")
    filled.vectors.embed_query("a question with many words " * 100)  # not kept: it may have 20,000 characters
    assert [text for _, text in filled.queries._cached] == ["question 7", "question 8", "question 9"]


def test_a_provider_that_is_away_is_left_alone_for_a_while(filled: EmbedFixture, server: EmbeddingServer) -> None:
    server.mood = "down"
    assert filled.vectors.embed_query("a question") is None
    asked = len(server.requests)
    server.mood = "well"
    assert filled.vectors.embed_query("a question") is None
    assert len(server.requests) == asked
    filled.queries._sources["openai:m"]._until = 0.0  # the while is over
    assert filled.vectors.embed_query("a question") is not None


@pytest.mark.parametrize("mood", ["nan", "wide", "short", "empty", "cut", "forbidden", "missing", "zero"])
def test_a_wrong_answer_to_a_question_is_no_answer(filled: EmbedFixture, server: EmbeddingServer, mood) -> None:
    server.mood = mood
    assert filled.vectors.embed_query("a question") is None
    assert not filled.queries._cached


def test_before_there_are_vectors_no_question_is_asked(houses: Open, server: EmbeddingServer) -> None:
    house = houses([server.url])
    assert house.vectors.embed_query("a question") is None
    assert house.vectors.embed_query("   ") is None
    assert not server.requests
