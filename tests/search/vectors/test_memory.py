"""Codes in memory: stored in blocks, read by the next process, and in step with what other processes write."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from search.vectors.fixture import VectorFixture, exact, like_texts, recall

from tokonoma.embed import queue
from tokonoma.search import tables
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors import codes as vectors_columns
from tokonoma.search.vectors import memory as vectors_blocks
from tokonoma.search.vectors.backends import SqliteVectorBackend
from tokonoma.search.vectors.memory import CodeMemory
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.backup import create_backup, restore_backup
from tokonoma.store.database import Database, open_database


@pytest.fixture
def meaning(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> VectorFixture:
    """Small blocks, so that few vectors fill several."""
    monkeypatch.setattr(vectors_columns, "BLOCK", 64)
    monkeypatch.setattr(vectors_blocks, "BLOCK", 64)
    monkeypatch.setattr(vectors_blocks, "FIRST", 100)
    monkeypatch.setattr(vectors_blocks, "LATEST", 300)
    monkeypatch.setattr(vectors_blocks, "CENTRES", (100, 500))
    return VectorFixture(sqlite_database)


def memory(meaning: VectorFixture) -> CodeMemory:
    near = meaning.vectors._backend
    assert isinstance(near, SqliteVectorBackend)
    return near._memories[meaning.model]


def blocks(meaning: VectorFixture) -> list[tuple[int, int]]:
    return meaning.rows("select number, count from embedding_block order by number")


def changes(meaning: VectorFixture) -> int:
    return meaning.rows("select count(*) from embedding_change")[0][0]


def right(meaning: VectorFixture, ids: list[int], vectors: np.ndarray) -> None:
    for asked in like_texts(10, 32, seed=77):
        assert recall(meaning.ids(asked, 10), exact(ids, vectors, asked, 10)) == 1.0


def test_the_likely_are_documents_by_their_codes_and_hold_the_nearest(meaning: VectorFixture) -> None:
    vectors = like_texts(3_000, 32)
    ids = meaning.add(vectors[:2_500], namespace="/here")
    elsewhere = set(meaning.add(vectors[2_500:], namespace="/elsewhere"))
    here = IndexFilter("d.space = :f_space", {"f_space": "/here"}, namespaces=("/here",))
    with meaning.database.reading() as rows:
        for asked in like_texts(20, 32, seed=7):
            likely = meaning.vectors.propose(rows, QueryVector(meaning.model, asked), here, 64)
            assert len(set(likely)) == 64
            assert not elsewhere & set(likely)
            assert recall(likely, exact(ids, vectors[:2_500], asked, 10)) >= 0.9


def test_blocks_are_written_when_enough_has_changed_and_read_by_the_next(meaning: VectorFixture) -> None:
    vectors = like_texts(250, 32)
    ids = meaning.add(vectors[:99])
    meaning.settle()
    assert blocks(meaning) == []
    ids += meaning.add(vectors[99:])
    meaning.settle()
    assert blocks(meaning) == [(0, 64), (1, 64), (2, 64), (3, 58)]
    assert changes(meaning) == 0
    assert memory(meaning).centre is not None
    following = VectorFixture(meaning.database)
    right(following, ids, vectors)
    assert memory(following).columns.count == 250
    assert memory(following).columns.dirty == set()


def test_only_blocks_that_changed_are_written_again(meaning: VectorFixture) -> None:
    vectors = like_texts(400, 32)
    ids = meaning.add(vectors[:256])
    meaning.settle()
    before = meaning.rows("select number, data from embedding_block")
    ids += meaning.add(vectors[256:])
    meaning.run("update document set space = '/x' where id = :id", id=ids[70])
    meaning.settle()
    after = meaning.rows("select number, data from embedding_block")
    same = {number for number, data in before if (number, data) in after}
    assert same == {0, 2, 3}
    right(VectorFixture(meaning.database), ids, vectors)


def test_one_who_missed_changes_reads_the_blocks_again(meaning: VectorFixture) -> None:
    vectors = like_texts(300, 32)
    ids = meaning.add(vectors[:50])
    late = VectorFixture(meaning.database)
    right(late, ids, vectors[:50])
    held = memory(late)
    ids += meaning.add(vectors[50:])
    meaning.settle()
    assert changes(meaning) == 0
    right(late, ids, vectors)
    assert memory(late) is not held


def test_two_who_seal_at_once_do_not_mix_their_blocks(meaning: VectorFixture) -> None:
    vectors = like_texts(300, 32)
    ids = meaning.add(vectors[:200])
    other = VectorFixture(meaning.database)
    right(other, ids, vectors[:200])
    right(meaning, ids, vectors[:200])
    meaning.run("delete from document where id <= 30")
    meaning.settle()
    ids += other.add(vectors[200:])
    other.settle()  # it holds an order of its own, and finds that others have sealed another one
    other.settle()
    for each in (meaning, other, VectorFixture(meaning.database)):
        right(each, ids[30:], vectors[30:])


def test_gaps_are_closed_when_there_are_many(meaning: VectorFixture) -> None:
    vectors = like_texts(400, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    meaning.run("delete from document where id <= 200")
    right(meaning, ids[200:], vectors[200:])
    assert memory(meaning).columns.blank == 200
    meaning.settle()
    assert memory(meaning).columns.blank == 0
    assert sum(count for _, count in blocks(meaning)) == 200
    for each in (meaning, VectorFixture(meaning.database)):
        right(each, ids[200:], vectors[200:])


def test_the_centre_is_found_again_when_there_are_many_more(meaning: VectorFixture) -> None:
    vectors = like_texts(700, 32)
    ids = meaning.add(vectors[:150])
    meaning.settle()
    first = memory(meaning).centre
    ids += meaning.add(vectors[150:])
    meaning.settle()
    assert memory(meaning).centre != first
    second = memory(meaning).centre
    right(meaning, ids, vectors)
    meaning.add(like_texts(400, 32, seed=1), namespace="/more")
    meaning.settle()
    assert memory(meaning).centre == second
    assert meaning.rows("select centre from embedding_model") == [(second,)]


@pytest.mark.parametrize(
    "damage", ["delete from embedding_block where number = 1", "update embedding_block set form = 0"]
)
def test_blocks_that_cannot_be_used_are_made_anew(meaning: VectorFixture, damage: str) -> None:
    vectors = like_texts(250, 32)
    ids = meaning.add(vectors)
    meaning.settle()
    meaning.run(damage)
    right(VectorFixture(meaning.database), ids, vectors)


def test_a_restored_backup_is_noticed(meaning: VectorFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = like_texts(60, 32)
    ids = meaning.add(vectors[:20])
    saved = tmp_path / "saved"
    create_backup(meaning.database, saved)
    meaning.add(vectors[20:])
    assert len(meaning.ids(vectors[0], 100)) == 60
    sets = {"search": tables.TABLES, "vectors": tables.VECTOR_TABLES, "embed": queue.TABLES}
    restore_backup(meaning.database, saved, sets)
    monkeypatch.setattr("tokonoma.search.vectors.memory._LONGEST_READ", 0.0)  # the moment is over
    right(meaning, ids, vectors[:20])
    assert memory(meaning).columns.count == 20


def test_one_who_reads_an_older_state_finds_what_was_there(meaning: VectorFixture) -> None:
    vectors = like_texts(40, 32)
    ids = meaning.add(vectors[:20])
    with meaning.database.reading() as rows:
        rows.rows("select 1 from document")
        meaning.add(vectors[20:])
        assert len(meaning.ids(vectors[0], 100)) == 40
        found = meaning.vectors.find_nearest(
            rows, QueryVector(meaning.model, vectors[30]), IndexFilter(), "cosine", 100
        )
    assert {document for document, _ in found} == set(ids)


def test_threads_search_while_others_write_and_seal(meaning: VectorFixture) -> None:
    vectors = like_texts(600, 32)
    ids = meaning.add(vectors[:50])
    ended = threading.Event()
    troubles: list[BaseException] = []

    def search() -> None:
        try:
            while not ended.is_set():
                found = meaning.near(vectors[3], 5)
                assert found[0] == (ids[3], pytest.approx(1.0, abs=1e-5))
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(50, 600, 50):
        ids += meaning.add(vectors[start : start + 50])
        meaning.settle()
    ended.set()
    for thread in threads:
        thread.join()
    assert troubles == []
    right(meaning, ids, vectors)
    right(VectorFixture(meaning.database), ids, vectors)


def test_processes_see_each_other_s_vectors(sqlite_at: str, tmp_path: Path) -> None:
    database = open_database(sqlite_at, durable=False)
    meaning = VectorFixture(database)
    vectors = like_texts(300, 32)
    ids = meaning.add(vectors[:10])
    assert meaning.ids(vectors[0], 1) == ids[:1]
    script = Path(__file__).with_name("add_vectors.py")
    writers = [
        subprocess.Popen([sys.executable, str(script), sqlite_at, str(start), "100"], cwd=tmp_path)
        for start in (10, 110)
    ]
    for writer in writers:
        assert writer.wait() == 0
    assert len(meaning.ids(vectors[0], 1_000)) == 210
    for place in (10, 57, 109, 110, 209):
        assert meaning.near(vectors[place], 1)[0][1] == pytest.approx(1.0, abs=1e-5)
    database.close()


def test_the_memory_it_takes_is_told(meaning: VectorFixture) -> None:
    assert meaning.vectors.measure_memory() == 0
    meaning.add(like_texts(100, 32))
    meaning.ids(like_texts(1, 32)[0])
    assert 100 * 64 < meaning.vectors.measure_memory() < 2_000 * 128
