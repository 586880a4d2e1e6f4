"""Another model: what is stored goes on being searched until the new vectors are there, and the two are never mixed."""

import json
from collections.abc import Generator
from dataclasses import asdict

import numpy as np
import pytest
from embed.fixture import EmbedFixture, Open
from embed.server import EmbeddingServer

from tokonoma.core.embedding import StoredModel
from tokonoma.embed.active_model import find_active, is_update, switch_model
from tokonoma.embed.embedder import UnusableAnswer
from tokonoma.embed.models import ModelConfig
from tokonoma.search.filters import IndexFilter

pytestmark = pytest.mark.migrated

NOTES = {"cat": "the cat sleeps", "dog": "the dog barks", "law": "articles of a contract"}


@pytest.fixture
def small() -> Generator[EmbeddingServer]:
    made = EmbeddingServer(dimension=16, seed=1)
    yield made
    made.close()


@pytest.fixture
def large() -> Generator[EmbeddingServer]:
    made = EmbeddingServer(dimension=24, seed=2)
    yield made
    made.close()


@pytest.fixture
def both(small: EmbeddingServer, large: EmbeddingServer) -> Generator[EmbeddingServer]:
    made = Both(small, large)
    yield made
    made.close()


def filled(houses: Open, server: EmbeddingServer) -> EmbedFixture:
    house = houses([server.url], "small")
    for name, body in NOTES.items():
        house.save(name, body)
    house.work()
    return house


def models(house: EmbedFixture) -> dict[str, int]:
    sql = "select m.name, count(e.id) from embedding_model m left join embedding e on e.model = m.id group by m.name"
    return dict(house.rows(sql))


def test_a_new_model_embeds_everything_again_and_the_old_vectors_go(houses: Open, small, large) -> None:
    filled(houses, small)
    house = houses([large.url], "large")
    house.switch()
    house.save("new", "a new note about a cat")
    house.work()
    assert models(house) == {"openai:large": 4}
    assert house.waiting() == 0
    assert house.near("the cat sleeps")[0][0] == "cat"
    assert house.rows("select dimension from embedding_model") == [(24,)]


def test_searches_go_on_with_the_old_model_meanwhile(houses: Open, small, both) -> None:
    filled(houses, small)
    # Both models at one address, as most providers have it: the old one can still be asked.
    house = houses([both.url], "large")
    house.switch()
    house.worker.run_batch()  # adopted, and all are asked for; one portion is done
    for number in range(30):
        house.save(f"n{number}", f"note {number}")
    assert set(models(house)) == {"openai:small", "openai:large"}
    asked = house.vectors.embed_query("the cat sleeps")
    assert asked is not None
    assert asked.vector.shape == (16,)
    assert house.near("the cat sleeps")[0][0] == "cat"
    house.work()
    asked = house.vectors.embed_query("the cat sleeps")
    assert asked is not None
    assert asked.vector.shape == (24,)
    assert models(house) == {"openai:large": 33}
    both.close()


def test_a_question_by_a_model_that_has_gone_finds_nothing_rather_than_mixing(houses: Open, small, large) -> None:
    old = filled(houses, small)
    asked = old.vectors.embed_query("the cat sleeps")
    assert asked is not None
    new = houses([large.url], "large")
    new.switch()
    new.work()
    cat = old.id("cat")
    with old.database.reading() as rows:
        assert old.vectors.find_nearest(rows, asked, IndexFilter(), "cosine", 10) == []
        assert old.vectors.compare(rows, asked, [cat], "cosine") == {}


def test_if_the_old_model_cannot_be_asked_the_new_one_is_with_what_it_has(houses: Open, small, large) -> None:
    filled(houses, small)
    house = houses([large.url], "large")
    house.switch()
    house.worker.run_batch()
    for number in range(30):
        house.save(f"n{number}", f"note {number}")
    asked = house.vectors.embed_query("the cat sleeps")  # the old one answers with vectors of another model: refused
    assert asked is not None
    assert asked.vector.shape == (24,)


def test_another_model_under_the_same_name_is_refused(houses: Open, small) -> None:
    filled(houses, small)
    small.seed = 7
    house = houses([small.url], "small")
    house.save("more", "another note")
    with pytest.raises(UnusableAnswer, match="not the one that made the stored vectors"):
        house.work()
    assert house.vectors.embed_query("the cat sleeps") is None
    assert models(house) == {"openai:small": 3}


def test_a_model_that_is_exchanged_while_the_worker_runs_is_noticed(houses: Open, small) -> None:
    house = filled(houses, small)
    small.seed = 7
    house.save("more", "another note")
    with pytest.raises(UnusableAnswer):
        house.work()
    assert models(house) == {"openai:small": 3}
    small.seed = 1
    house.worker._model = None  # as the thread does after a failure
    with pytest.raises(UnusableAnswer):
        house.work()  # the endpoint has changed its model once more
    house.work()
    assert models(house) == {"openai:small": 4}


def test_going_back_to_a_model_that_is_still_there_embeds_only_what_is_missing(houses: Open, small, both) -> None:
    filled(houses, small)
    other = houses([both.url], "large")
    other.switch()
    other.worker.run_batch()
    other.save("new", "a new note")
    back = houses([both.url], "small")
    back.switch()
    before = len(small.texts())
    back.work()
    assert set(small.texts()[before:]) >= {"a new note"}
    assert not set(small.texts()[before:]) & set(NOTES.values())
    assert models(back) == {"openai:small": 4}
    both.close()


def test_the_recipe_is_kept_without_keys_or_addresses(houses: Open, small) -> None:
    house = houses([small.url], "small", keys=("sk-secret",))
    house.save("a", "a note")
    house.work()
    (recipe,) = house.rows("select recipe from embedding_model")[0]
    assert json.loads(recipe)["model"] == "small"
    assert "127.0.0.1" not in recipe
    assert "secret" not in recipe


def test_a_process_with_other_settings_follows_the_model_of_the_store(houses: Open, small, large, both) -> None:
    """It makes the vectors of that model, not of its own: search works for all, and nothing is made twice."""
    filled(houses, small)
    other = houses([both.url], "large")
    other.save("new", "a new note about a cat")
    other.work()
    assert models(other) == {"openai:small": 4}
    assert other.near("a new note about a cat")[0][0] == "new"
    assert not [text for text in large.texts() if "note" in text]
    both.close()


def test_a_process_that_cannot_use_the_model_of_the_store_changes_nothing(houses: Open, small, large) -> None:
    house = filled(houses, small)
    other = houses([large.url], "large")  # this address serves another model under any name
    other.save("new", "a new note")
    with pytest.raises(UnusableAnswer, match="openai:small is not the one"):
        other.work()
    assert other.vectors.embed_query("a note") is None
    assert models(house) == {"openai:small": 3}
    house.work()
    assert models(house) == {"openai:small": 4}


def test_a_change_of_the_model_is_noticed_by_a_worker_that_runs(houses: Open, both) -> None:
    house = houses([both.url], "small")
    for name, body in NOTES.items():
        house.save(name, body)
    house.work()
    houses([both.url], "large").switch()
    house.save("new", "a new note")
    house.work()  # the same worker
    assert models(house) == {"openai:large": 4}
    both.close()


def test_a_vector_that_is_made_while_the_model_changes_is_not_stored(houses: Open, both) -> None:
    """It would be of the old model, and its document would never get one of the new."""
    house = houses([both.url], "small")
    for name, body in NOTES.items():
        house.save(name, body)
    house.work()
    house.save("late", "a note that is embedded while the model changes")
    other = houses([both.url], "large")
    embed = house.embedders.get(house.recipe)
    assert embed is not None
    real = embed.embed

    def slow(texts, *more):
        vectors = real(texts, *more)
        if "while the model changes" in texts[0]:
            other.switch()
            other.work()  # everything else is done, and nobody looks for this one again
        return vectors

    embed.embed = slow  # type: ignore[method-assign]
    house.work()
    assert models(house) == {"openai:large": 4}
    assert house.waiting() == 0
    both.close()


def test_of_two_first_models_one_stays(houses: Open, small, large) -> None:
    one, other = houses([small.url], "small"), houses([large.url], "large")
    one.save("a", "a note")
    one.switch()
    with one.database.reading() as rows:
        first = find_active(one.vectors, rows)
    embedder = other.embedders.get(other.recipe)
    assert embedder is not None
    switch_model(one.database, other.vectors, embedder, other.recipe, None)  # it saw a store without a model
    with one.database.reading() as rows:
        assert find_active(one.vectors, rows) == first


@pytest.mark.parametrize(
    ("mine", "stored", "updates"),
    [("x-3", "x-2", True), ("x-10", "x-9", True), ("x-2", "x-3", False), ("x-2", "x-2", False)],
)
def test_only_a_newer_built_in_model_replaces_an_older_one(mine, stored, updates) -> None:
    recipe = json.dumps(asdict(ModelConfig("builtin", stored)))
    active = StoredModel(1, f"builtin:{stored}", 4, recipe, b"", True, None, 0)
    assert is_update(ModelConfig("builtin", mine), active) is updates
    assert not is_update(ModelConfig("openai", mine), active)


class Both(EmbeddingServer):
    """One address, two models."""

    def __init__(self, small: EmbeddingServer, large: EmbeddingServer) -> None:
        self._by_name = {"small": small, "large": large}
        super().__init__()

    def _answer(self, path, body):
        return self._by_name[body["model"]]._answer(path, body)


def test_both_answers_as_either(both) -> None:
    _, _, text = both._answer("/v1/embeddings", {"model": "large", "input": ["a"]})
    assert np.asarray(json.loads(text)["data"][0]["embedding"]).shape == (24,)
