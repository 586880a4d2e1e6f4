"""Searching by vectors on both databases, beside the exact answer."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search.vectors.fixture import VectorFixture, exact, like_texts, recall

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.embedding import EmbeddedDocument
from tokonoma.core.errors import Unavailable
from tokonoma.core.query import Condition, SearchFilter, SearchScope
from tokonoma.search.filters import IndexFilter, compile_filter
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.database import Database

pytestmark = pytest.mark.migrated

EVERYWHERE = SearchScope("/", CLASSIFICATIONS)


@pytest.fixture
def meaning(database: Database) -> VectorFixture:
    return VectorFixture(database)


def test_the_nearest_come_first_with_their_similarity(meaning: VectorFixture) -> None:
    vectors = like_texts(60, 32)
    ids = meaning.add(vectors)
    asked = like_texts(1, 32, seed=5)[0]
    found = meaning.near(asked, 7)
    assert [document for document, _ in found] == exact(ids, vectors, asked, 7)
    cosines = sorted((vectors @ asked).tolist(), reverse=True)[:7]
    assert [similarity for _, similarity in found] == pytest.approx(cosines, abs=1e-5)


def test_l2_has_its_own_scale_and_the_same_order(meaning: VectorFixture) -> None:
    vectors = like_texts(30, 32)
    ids = meaning.add(vectors)
    asked = vectors[3]
    found = meaning.near(asked, 5, metric="l2")
    assert [document for document, _ in found] == exact(ids, vectors, asked, 5)
    distances = np.sort(np.linalg.norm(vectors - asked, axis=1))[:5]
    assert [similarity for _, similarity in found] == pytest.approx((1 / (1 + distances)).tolist(), abs=1e-3)
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)


def test_a_pivot_asks_with_its_own_vector(meaning: VectorFixture) -> None:
    vectors = like_texts(40, 32)
    ids = meaning.add(vectors)
    assert meaning.ids(ids[7], 5) == exact(ids, vectors, vectors[7], 5)
    (bare,) = meaning.add_all([np.empty((0, 32), np.float32)])
    with pytest.raises(Unavailable) as caught:
        meaning.near(bare)
    assert caught.value.reason == "not_embedded"


def test_the_best_piece_of_a_document_counts_once(meaning: VectorFixture) -> None:
    vectors = like_texts(90, 32)
    ids = meaning.add_all([vectors[start : start + 3] for start in range(0, 90, 3)])
    asked = vectors[31]
    best = (vectors @ asked).reshape(30, 3).max(1)
    found = meaning.near(asked, 10)
    assert [document for document, _ in found] == [ids[place] for place in np.argsort(-best)[:10]]
    assert found[0] == (ids[10], pytest.approx(1.0, abs=1e-5))


def test_similarities_of_given_documents(meaning: VectorFixture) -> None:
    vectors = like_texts(20, 32)
    ids = meaning.add(vectors)
    with meaning.database.reading() as rows:
        asked = QueryVector(meaning.model, vectors[0])
        found = meaning.vectors.compare(rows, asked, [ids[3], ids[9], 99_999], "cosine")
    assert found.keys() == {ids[3], ids[9]}
    assert found[ids[3]].similarity == pytest.approx(vectors[3] @ vectors[0], abs=1e-5)


def test_nothing_is_found_where_nothing_is(meaning: VectorFixture) -> None:
    assert meaning.near(like_texts(1, 32)[0]) == []


def test_a_document_that_goes_moves_or_changes_is_followed_at_once(meaning: VectorFixture) -> None:
    vectors = like_texts(50, 32)
    ids = meaning.add(vectors, namespace="/a")
    inside = compile_filter(SearchFilter(namespace="/b"), EVERYWHERE)
    assert meaning.ids(vectors[4], 1) == [ids[4]]
    assert meaning.ids(vectors[4], 5, inside) == []
    meaning.run("update document set space = '/b/c' where id = :id", id=ids[4])
    assert meaning.ids(vectors[4], 5, inside) == [ids[4]]
    meaning.run("update document set label = 'secret' where id = :id", id=ids[4])
    assert (
        meaning.ids(
            vectors[4], 5, compile_filter(SearchFilter(namespace="/b"), SearchScope("/", ("public", "internal")))
        )
        == []
    )
    meaning.run("delete from document where id = :id", id=ids[4])
    assert ids[4] not in meaning.ids(vectors[4], 50)
    assert meaning.rows("select count(*) from embedding where document_id = :id", id=ids[4]) == [(0,)]
    with meaning.database.writing() as statements:
        meaning.vectors.store_vectors(statements, meaning.model, [EmbeddedDocument(ids[5], -vectors[4:5], [""])])
    assert meaning.ids(-vectors[4], 1) == [ids[5]]


@pytest.mark.parametrize(("count", "settled"), [(600, False), (2_500, False), (2_500, True)])
def test_filters_hold_and_cost_no_recall(meaning: VectorFixture, count: int, settled: bool) -> None:
    """Settled: PostgreSQL has its index, SQLite its blocks."""
    vectors = like_texts(count, 32)
    spaces = ["/", "/a", "/a/b", "/ab", "/c"]
    ids: list[int] = []
    kept: dict[str, list[int]] = {}
    for place, space in enumerate(spaces):
        kept[space] = list(range(place, count, len(spaces)))
    order: list[int] = []
    for space in spaces:
        for module in ("notes", "items"):
            chosen = kept[space][module == "items" :: 2]
            ids += meaning.add(vectors[chosen], space, module)
            order += chosen
    placed = vectors[order]
    with meaning.database.writing() as statements:
        tags = [{"id": document, "tag": f"t{document % 50}"} for document in ids]
        statements.run_many("insert into fact (document, key, text) values (:id, 'tag', :tag)", tags)
    if settled:
        meaning.settle()
    cases: list[tuple[SearchFilter, SearchScope, Callable[[int], bool]]] = [
        (SearchFilter(namespace="/a"), EVERYWHERE, lambda at: spaces[order[at] % 5] in ("/a", "/a/b")),
        (SearchFilter(modules=("items",)), EVERYWHERE, lambda at: ids[at] in modules["items"]),
        (SearchFilter(), SearchScope("/c", CLASSIFICATIONS), lambda at: spaces[order[at] % 5] == "/c"),
        (SearchFilter(conditions=(Condition("tag", "is", ("t7",)),)), EVERYWHERE, lambda at: ids[at] % 50 == 7),
        (SearchFilter(conditions=(Condition("tag", "in", tuple(f"t{n}" for n in range(25))),)), EVERYWHERE,
         lambda at: ids[at] % 50 < 25),
        (SearchFilter(namespace="/a/b", conditions=(Condition("tag", "is", ("t1",)),)), EVERYWHERE,
         lambda at: spaces[order[at] % 5] == "/a/b" and ids[at] % 50 == 1),
    ]  # fmt: skip
    modules = {
        name: {row[0] for row in meaning.rows("select id from document where module = :name", name=name)}
        for name in ("notes", "items")
    }
    right: list[float] = []
    for where, reach, lets_through in cases:
        allowed = [at for at in range(count) if lets_through(at)]
        for asked in like_texts(5, 32, seed=count):
            wanted = exact([ids[at] for at in allowed], placed[allowed], asked, 10)
            found = meaning.ids(asked, 10, compile_filter(where, reach))
            assert set(found) <= {ids[at] for at in allowed}, where
            assert len(found) == len(wanted)
            right.append(recall(found, wanted))
    assert np.mean(right) >= 0.99


def test_recall_beside_exact(meaning: VectorFixture) -> None:
    count = 4_000
    vectors = like_texts(count, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    asked = like_texts(50, 32, seed=8)
    found = [recall(meaning.ids(each), exact(ids, vectors, each, 10)) for each in asked]
    assert np.mean(found) >= 0.99


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=15)
@given(st.data())
def test_any_sequence_of_changes_leaves_what_a_fresh_reader_finds(meaning: VectorFixture, data: st.DataObject) -> None:
    """One who follows every change finds what one who reads everything anew finds, and what is true."""
    known: dict[int, tuple[np.ndarray, str]] = {}
    meaning.run("delete from document")
    for step in range(data.draw(st.integers(1, 12))):
        what = data.draw(st.sampled_from(["add", "drop", "move", "replace"]))
        if what == "add" or not known:
            vectors = like_texts(data.draw(st.integers(1, 6)), 32, seed=step)
            space = data.draw(st.sampled_from(["/", "/a", "/b"]))
            known |= {
                document: (vector, space) for document, vector in zip(meaning.add(vectors, space), vectors, strict=True)
            }
            continue
        chosen = data.draw(st.sampled_from(sorted(known)))
        if what == "drop":
            meaning.run("delete from document where id = :id", id=chosen)
            del known[chosen]
        elif what == "move":
            meaning.run("update document set space = '/b' where id = :id", id=chosen)
            known[chosen] = (known[chosen][0], "/b")
        else:
            vector = like_texts(1, 32, seed=100 + step)
            with meaning.database.writing() as statements:
                embedded = EmbeddedDocument(chosen, vector, [""] * len(vector))
                meaning.vectors.store_vectors(statements, meaning.model, [embedded])
            known[chosen] = (vector[0], known[chosen][1])
        _same(meaning, known)
    _same(VectorFixture(meaning.database), known)


def _same(meaning: VectorFixture, known: dict[int, tuple[np.ndarray, str]]) -> None:
    asked = like_texts(1, 32, seed=55)[0]
    for space in (None, "/b"):
        inside = {document: vector for document, (vector, place) in known.items() if space in (None, place)}
        wanted = sorted(inside, key=lambda document: (-float(inside[document] @ asked), document))
        found = meaning.ids(asked, 100, compile_filter(SearchFilter(namespace=space), EVERYWHERE))
        assert set(found) == set(wanted)
        similarities = [float(inside[document] @ asked) for document in found]
        assert similarities == pytest.approx(sorted(similarities, reverse=True), abs=1e-5)


def test_an_impossible_filter_finds_nothing(meaning: VectorFixture) -> None:
    meaning.add(like_texts(10, 32))
    assert meaning.near(like_texts(1, 32)[0], 10, IndexFilter("1 = 0")) == []
