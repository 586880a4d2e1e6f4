"""pgvector: an index for each model, used inside filters; and the same answers where there is no pgvector."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from search.vectors.fixture import VectorFixture, exact, like_texts, recall

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.query import SearchFilter, SearchScope
from tokonoma.embed import queue
from tokonoma.search import tables
from tokonoma.search.filters import compile_filter
from tokonoma.search.vectors import hnsw
from tokonoma.search.vectors import postgres as vectors_postgres
from tokonoma.search.vectors.store import PgvectorExtension, build_index_name, find_extension
from tokonoma.store.backup import create_backup, restore_backup
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import read_applied


@pytest.fixture
def meaning(postgres_database: Database) -> VectorFixture:
    return VectorFixture(postgres_database)


def indexed(meaning: VectorFixture) -> bool:
    with meaning.database.reading() as rows:
        (model,) = meaning.vectors.list_models(rows)
        return rows.row("select 1 from pg_indexes where indexname = :name", name=build_index_name(model)) is not None


def test_settling_makes_the_index_and_the_planner_uses_it(meaning: VectorFixture) -> None:
    vectors = like_texts(3_000, 32)
    ids = meaning.add(vectors)
    with meaning.database.reading() as rows:
        assert find_extension(rows) == "offered"
    assert not indexed(meaning)
    before = [meaning.ids(asked) for asked in like_texts(20, 32, seed=1)]
    meaning.settle()
    assert indexed(meaning)
    meaning.run("analyze embedding")
    meaning.run("analyze document")
    after = VectorFixture(meaning.database)
    right = [recall(after.ids(asked), wanted) for asked, wanted in zip(like_texts(20, 32, seed=1), before, strict=True)]
    assert np.mean(right) >= 0.99
    with meaning.database.reading() as rows:
        there = find_extension(rows)
        assert isinstance(there, PgvectorExtension)
        distance = there.build_distance_sql(32)
        plan = rows.rows(
            f"explain select e.document_id from embedding e join document d on d.id = e.document_id"
            f" where e.model = {meaning.model} order by {distance} limit 10",
            vector="[" + ",".join(map(str, vectors[0].tolist())) + "]",
        )
    assert any("embedding_near_" in row[0] for row in plan), plan
    assert exact(ids, vectors, vectors[0], 1) == [ids[0]]


def test_the_index_is_dropped_while_many_vectors_wait_and_built_when_they_are_there(
    meaning: VectorFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hnsw, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(hnsw, "_MANY", 20)
    monkeypatch.setattr(hnsw, "_FEW", 5)
    vectors = like_texts(60, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    assert indexed(meaning)
    fill = "insert into embedding_queue select id, id, 0, 0, 0, 0, '' from document where id <= :most"
    meaning.run(fill, most=ids[24])
    meaning.settle()
    assert indexed(meaning)  # less than half as many wait as are there
    meaning.run("delete from embedding_queue")
    meaning.run(fill, most=ids[39])
    meaning.settle()
    assert not indexed(meaning)
    assert meaning.ids(vectors[3], 3) == exact(ids, vectors, vectors[3], 3)
    meaning.settle()
    assert not indexed(meaning)
    meaning.run("delete from embedding_queue where document_id > :most", most=ids[3])
    meaning.settle()
    assert indexed(meaning)


def test_a_large_index_is_built_beside_the_calls_also_after_a_build_that_was_ended(
    meaning: VectorFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hnsw, "_SMALL", 10)
    meaning.add(like_texts(200, 32))
    meaning.run("create extension if not exists vector")
    with meaning.database.reading() as rows:
        (model,) = meaning.vectors.list_models(rows)
        extension = find_extension(rows)
    assert isinstance(extension, PgvectorExtension)
    sql = extension.build_index_sql(model)
    assert sql is not None
    meaning.run(sql)
    meaning.run(
        "update pg_index set indisvalid = false where indexrelid = cast(:name as regclass)",
        name=build_index_name(model),
    )
    started: list[Callable[[], float | None]] = []
    keeper = hnsw.HnswKeeper(64, lambda _name, step: started.append(step))
    assert not keeper.maintain(meaning.database, model)
    (step,) = started
    assert step() is None
    assert meaning.rows(
        "select i.indisvalid from pg_index i where i.indexrelid = cast(:name as regclass)", name=build_index_name(model)
    ) == [(1,)]
    assert not keeper.maintain(meaning.database, model)
    assert len(started) == 1


def test_the_index_that_gives_up_is_not_the_last_word(meaning: VectorFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter that lets few through, all of them far away: the walk ends before it meets them."""
    vectors = like_texts(3_000, 32)
    meaning.add(vectors, namespace="/many")
    few = meaning.add(-vectors[:5], namespace="/few")
    meaning.settle()
    monkeypatch.setattr(vectors_postgres, "_TUNE_ITERATIVE", "select set_config('hnsw.iterative_scan', 'off', true)")
    fresh = VectorFixture(meaning.database)
    found = fresh.ids(vectors[0], 10, compile_filter(SearchFilter(namespace="/few"), SearchScope("/", CLASSIFICATIONS)))
    assert set(found) == set(few)


def test_a_document_is_as_near_as_its_nearest_piece_though_the_index_knows_another(
    meaning: VectorFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = like_texts(60, 32)
    (long,) = meaning.add_all([vectors[:2]])
    meaning.add(vectors[2:])
    meaning.settle()
    query = vectors_postgres._query_nearest
    missed = lambda *args, **more: [  # noqa: E731
        row for row in query(*args, **more) if row[0] != long or row[3] < 0.9999
    ]
    monkeypatch.setattr(vectors_postgres, "_query_nearest", missed)
    found = dict(VectorFixture(meaning.database).near(vectors[0], 60))
    assert found[long] == pytest.approx(1.0, abs=1e-5)


def test_texts_from_one_template_are_searched_more_widely(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them are about as near, and the index, here with little effort, meets only some of the nearest."""
    meaning = VectorFixture(postgres_database, 200)
    rows = np.ones(200) + 0.05 * np.random.default_rng(3).standard_normal((1_530, 200))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    ids = meaning.add(vectors[30:])
    meaning.settle()
    meaning.run("analyze embedding")
    hasty = "select set_config('hnsw.ef_search', '40', true), set_config('enable_seqscan', 'off', true)"
    monkeypatch.setattr(vectors_postgres, "_TUNE_ITERATIVE", hasty)
    fresh = VectorFixture(meaning.database, 200)
    right = [recall(fresh.ids(asked), exact(ids, vectors[30:], asked, 10)) for asked in vectors[:30]]
    assert np.mean(right) >= 0.99


@pytest.mark.parametrize("dimension", [2_000, 2_500, 4_100])
def test_wide_vectors(postgres_database: Database, dimension: int) -> None:
    """Beyond 2 000 dimensions in half precision, beyond 4 000 without an index; similarities are always exact."""
    meaning = VectorFixture(postgres_database, dimension)
    vectors = like_texts(40, dimension)
    ids = meaning.add(vectors)
    meaning.settle()
    assert indexed(meaning) == (dimension <= 4_000)
    fresh = VectorFixture(postgres_database, dimension)
    found = fresh.near(vectors[3], 5)
    assert [document for document, _ in found] == exact(ids, vectors, vectors[3], 5)
    cosines = np.sort(vectors @ vectors[3])[::-1][:5]
    assert [similarity for _, similarity in found] == pytest.approx(cosines.tolist(), abs=1e-5)


def test_an_extension_in_another_schema(postgres_at: str, postgres_database: Database) -> None:
    with postgres_database.writing() as statements:
        statements.run("create schema extensions")
        statements.run("create extension vector schema extensions")
    meaning = VectorFixture(postgres_database)
    vectors = like_texts(30, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    assert indexed(meaning)
    assert meaning.ids(vectors[2], 3) == exact(ids, vectors, vectors[2], 3)


def test_a_role_that_may_not_create_extensions_searches_all_the_same(
    meaning: VectorFixture, postgres, postgres_at: str
) -> None:
    vectors = like_texts(30, 32)
    ids = meaning.add(vectors)
    role = "plain_" + postgres_at.rpartition("/")[2].partition("?")[0]
    with meaning.database.writing() as statements:
        statements.run(f"create role {role} login")
        statements.run(f"grant usage on schema public to {role}")
        statements.run(f"grant all on all tables in schema public to {role}")
    plain = open_database(postgres_at.replace("postgres@", f"{role}@"))
    theirs = VectorFixture.__new__(VectorFixture)
    theirs.database, theirs.model = plain, meaning.model
    theirs.vectors = type(meaning.vectors)(plain, meaning.vectors._queue, lambda _ids: {}, None)
    theirs.settle()
    assert not indexed(meaning)
    assert theirs.ids(vectors[2], 3) == exact(ids, vectors, vectors[2], 3)
    plain.close()
    with meaning.database.writing() as statements:
        statements.run(f"drop owned by {role}")
        statements.run(f"drop role {role}")


def test_a_backup_made_with_pgvector_fits_a_database_without(meaning: VectorFixture, postgres, tmp_path: Path) -> None:
    vectors = like_texts(30, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    create_backup(meaning.database, tmp_path / "saved")
    name = postgres.take()
    other = open_database(postgres.url(name))
    empty = VectorFixture(other)
    with other.reading() as rows:
        known = read_applied(other, rows)
    sets = {"search": tables.TABLES, "vectors": tables.VECTOR_TABLES, "embed": queue.TABLES}
    assert known.keys() == sets.keys()
    restore_backup(other, tmp_path / "saved", sets)
    assert empty.ids(vectors[2], 3) == exact(ids, vectors, vectors[2], 3)
    other.close()
    postgres.give(name)


def test_a_model_that_goes_takes_its_index_along(meaning: VectorFixture) -> None:
    meaning.add(like_texts(30, 32))
    meaning.settle()
    with meaning.database.writing() as statements:
        meaning.vectors.adopt(statements, "newer", "{}", like_texts(1, 8)[0])
    with meaning.database.reading() as rows:
        newer = next(model for model in meaning.vectors.list_models(rows) if model.current)
    with meaning.database.writing() as statements:
        meaning.vectors.save_backfill(statements, newer.id, None)
    while meaning.vectors.retire(newer.id):
        pass
    assert meaning.rows("select name from embedding_model") == [("newer",)]
    assert meaning.rows("select 1 from pg_indexes where indexname like 'embedding_near_%'") == []
