"""The nearest documents of many at once, against all cosines, on both databases."""

import numpy as np
import pytest
from search.vectors.fixture import EVERYTHING, VectorFixture, like_texts

from tokonoma.core.query import SearchFilter, SearchScope
from tokonoma.search.filters import compile_filter
from tokonoma.search.vectors import near

SCOPE = SearchScope("/", ("public", "internal", "pii", "secret"))


@pytest.fixture
def shelf(database) -> VectorFixture:
    return VectorFixture(database)


def read_addresses(shelf) -> dict[int, str]:
    with shelf.database.reading() as rows:
        return dict(rows.rows("select id, address from document"))


def test_many_are_compared_as_exactly_as_one(shelf, monkeypatch):
    monkeypatch.setattr(near, "_PAGE", 37)
    monkeypatch.setattr(near, "_AT_ONCE", 10)
    vectors = like_texts(150, 32, topics=4)
    ids = shelf.add(vectors)
    names = read_addresses(shelf)
    asked, cosines = [names[each] for each in ids[:60]], vectors @ vectors.T
    for least, most in ((0.8, 5), (0.5, 200)):
        with shelf.database.reading() as rows:
            found = shelf.vectors.find_near(rows, EVERYTHING, asked, least, most)
        assert list(found) == asked
        for place, name in enumerate(asked):
            others = [(float(cosine), names[other]) for other, cosine in zip(ids, cosines[place], strict=True)]
            best = sorted(each for each in others if each[0] >= least and each[1] != name)[-most:]
            assert found[name].keys() == {other for _, other in best}
            assert np.allclose(sorted(found[name].values()), [cosine for cosine, _ in best], atol=1e-5)


def test_a_document_has_the_direction_of_its_pieces_and_nothing_outside_the_filter_is_near(shelf):
    vectors = like_texts(4, 32, topics=1)
    (long,) = shelf.add_all([vectors[:2]], "/a")
    inside, outside = shelf.add(vectors[:1], "/a")[0], shelf.add(vectors[:1], "/b")[0]
    names = read_addresses(shelf)
    where = compile_filter(SearchFilter(namespace="/a"), SCOPE, 0)
    with shelf.database.reading() as rows:
        found = shelf.vectors.find_near(rows, where, [names[each] for each in (long, inside, outside)], 0.0, 9)
    assert found.keys() == {names[long], names[inside]}
    assert found[names[inside]].keys() == {names[long]}
    mean = vectors[:2].mean(0)
    cosine = float(vectors[0] @ mean / np.linalg.norm(mean))
    assert found[names[long]][names[inside]] == pytest.approx(cosine, abs=1e-5)


def test_without_vectors_nothing_is_near(shelf):
    with shelf.database.reading() as rows:
        assert shelf.vectors.find_near(rows, EVERYTHING, ["tokonoma://notes/none"], 0.5, 3) == {}


def test_a_long_document_does_not_push_others_out(shelf):
    """Of many that are as near, those that were put first: the same ones each time."""
    vectors = like_texts(6, 32, topics=1)
    (asked,) = shelf.add(vectors[:1])
    shelf.add_all([np.repeat(vectors[1:2], 20, axis=0)])
    others = shelf.add(np.repeat(vectors[1:2], 5, axis=0))
    names = read_addresses(shelf)
    with shelf.database.reading() as rows:
        (found,) = shelf.vectors.find_near(rows, EVERYTHING, [names[asked]], -1.0, 4).values()
    assert list(found) == [names[asked + 1], *(names[each] for each in others[:3])]
