"""The scale on which a model's cosines are read: measured from its own vectors, per pair of languages."""

import json
from collections.abc import Generator
from dataclasses import replace

import numpy as np
import pytest
from embed.fixture import EmbedFixture
from embed.server import EmbeddingServer

from tokonoma.core.embedding import StoredModel
from tokonoma.core.query import Query, SearchFilter, SearchScope
from tokonoma.search.fusion import FITTED_SCALE, ModelScale
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors import scale
from tokonoma.search.vectors.scale import measure_unrelated, parse_scale

ENGLISH = [
    "key hall drawer",
    "rent month bank",
    "sofa cat noon",
    "train winter Nagano",
    "garden water dawn",
    "dentist station floor",
    "sister birthday May",
    "oven bread flour",
    "lamp cellar fuse",
    "bicycle tyre pump",
]
JAPANESE = [
    "鍵 玄関 棚",
    "家賃 月末 銀行",
    "猫 昼 窓",
    "電車 冬 長野",
    "庭 水 朝",
    "歯医者 駅 階",
    "妹 誕生日 五月",
    "窯 粉 麦",
    "灯 地下 線",
    "自転車 輪 空気",
]
EVERYTHING = SearchScope("/", ("public", "internal", "pii", "secret"))


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def leaning(count: int, lean: float, seed: int, dimension: int = 64):
    """Vectors of unrelated texts of a model that places all of them on one side."""
    rows = unit(np.random.default_rng(seed).standard_normal((count, dimension)))
    rows[:, 0] += lean
    return unit(rows)


PROBE = leaning(1, 0.0, 99)[0]


@pytest.mark.parametrize("lean", [0.0, 0.3, 0.6])
def test_the_cosine_of_unrelated_texts_is_measured(lean):
    vectors = leaning(60, lean, 1)
    probe = leaning(1, lean, 99)[0]
    measured = measure_unrelated(vectors, ["en"] * 60, probe)
    assert measured[""] == measured["en en"] == pytest.approx(lean**2 / (1 + lean**2), abs=0.05)


def test_each_pair_of_languages_has_its_own():
    english, japanese = leaning(40, 1.0, 1), leaning(40, 1.0, 2)
    japanese[:, 0] *= -1  # the model keeps languages apart
    probe = unit(leaning(1, 0.0, 3) + 0)[0]
    measured = measure_unrelated(np.concatenate([english, japanese]), ["en"] * 40 + ["ja"] * 40, probe)
    assert measured["en ja"] < -0.3 < 0.2 < measured["en en"]
    scales = ModelScale(measured)
    assert scales.get_range("ja", "en").unrelated == scales.get_range("en", "ja").unrelated == measured["en ja"]
    assert scales.get_range("en", "other").unrelated == measured[""]


def test_texts_that_are_all_alike_do_not_make_everything_unrelated():
    alike = unit(np.ones((50, 64)) + np.random.default_rng(1).standard_normal((50, 64)) * 0.01)
    measured = measure_unrelated(alike, ["en"] * 50, PROBE)
    assert measured["en en"] < 0.5


def test_few_texts_are_read_on_the_fitted_scale():
    assert measure_unrelated(leaning(TUNING.fewest_measured - 1, 0.9, 1), ["en"] * 7, PROBE) == {}
    assert parse_scale("") == FITTED_SCALE
    some = measure_unrelated(leaning(20, 0.9, 1), ["en"] * 15 + ["ja"] * 5, PROBE)
    assert set(some) == {"", "en en"}


def test_the_scale_of_another_model_is_as_wide_as_the_room_it_has():
    wide, narrow = ModelScale({"": 0.1}).get_range("en", "en"), ModelScale({"": 0.8}).get_range("en", "en")
    for each in (wide, narrow):
        assert (
            each.calibrate(each.unrelated) == 0 < each.calibrate((each.unrelated + 1) / 2) < each.calibrate(0.999) == 1
        )


class LeaningServer(EmbeddingServer):
    """A model of another make: its cosines of unrelated texts are about .75."""

    def _vectors(self, mood, texts, dimension):
        status, headers, body = super()._vectors(mood, texts, dimension)
        told = json.loads(body)
        for each in told["data"]:
            row = np.asarray(each["embedding"])
            each["embedding"] = (row / np.linalg.norm(row) + np.eye(1, dimension)[0] * 1.75).tolist()
        return status, headers, json.dumps(told).encode()


@pytest.fixture
def server() -> Generator[LeaningServer]:
    made = LeaningServer(dimension=64)
    yield made
    made.close()


@pytest.fixture
def house(database, server) -> Generator[EmbedFixture]:
    made = EmbedFixture(database, [server.url])
    yield made
    made.close()


@pytest.fixture
def another(house, server) -> Generator[EmbedFixture]:
    """Another process on the same store."""
    made = EmbedFixture(house.database, [server.url])
    yield made
    made.close()


def fill(house: EmbedFixture) -> None:
    for number, text in enumerate(ENGLISH + JAPANESE):
        house.save(f"n{number}", text)
    house.work()


def get_model(house: EmbedFixture) -> StoredModel:
    with house.database.reading() as rows:
        (model,) = house.vectors.list_models(rows)
    return model


def levels(house: EmbedFixture, text: str) -> dict[str, float]:
    query = Query(text, explain=True, limit=50)
    vector = house.index.embed_query(query)
    with house.database.reading() as rows:
        hits = house.index.find(rows, query, SearchFilter(), EVERYTHING, vector)
    return {hit.address.rpartition("/")[2]: hit.score_parts["vector"]["share"] for hit in hits.items}


def test_another_provider_is_not_read_on_the_scale_of_the_built_in_model(house):
    fill(house)
    assert parse_scale(get_model(house).scale).unrelated["en en"] == pytest.approx(0.75, abs=0.1)
    asked = ENGLISH[0]
    near = [name for name, level in levels(house, asked).items() if level > 0.5]
    assert near == ["n0"]
    with house.database.writing() as statements:
        statements.run("update embedding_model set scale = ''")
    # On the scale of the built-in model nothing is unrelated.
    assert len([level for level in levels(house, asked).values() if level > 0.5]) == len(ENGLISH + JAPANESE)


def test_the_same_store_answers_alike_in_every_process_and_is_measured_again_when_it_has_grown(
    house, another, monkeypatch
):
    fill(house)
    before = get_model(house)
    with monkeypatch.context() as patch:
        patch.setattr(scale, "measure_unrelated", None)  # not called again: nothing has changed
        house.vectors.maintain(before.id)
    assert levels(another, ENGLISH[0]) == levels(house, ENGLISH[0])
    for number in range(20):
        house.save(f"more{number}", f"other{number} words{number} here{number}")
    house.work()
    after = get_model(house)
    assert json.loads(after.scale)["upto"] > json.loads(before.scale)["upto"]


def test_the_built_in_model_keeps_its_fitted_scale(house):
    fill(house)
    model = get_model(house)
    with house.database.writing() as statements:
        statements.run("update embedding_model set scale = '' where id = :id", id=model.id)
    scale.measure_model(house.database, replace(model, scale="", config='{"provider": "builtin"}'))
    assert get_model(house).scale == ""
    scale.measure_model(house.database, replace(model, scale=""))
    assert get_model(house).scale
