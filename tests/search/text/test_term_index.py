"""Common words in a large store on PostgreSQL: what the server has counted for itself is believed while it is near."""

from collections.abc import Mapping

import pytest
from search.fixture import IndexFixture

from tokonoma.search.text import term_index as words_postgres
from tokonoma.store.database import Database


@pytest.fixture
def shelf(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> IndexFixture:
    monkeypatch.setattr(words_postgres, "_MANY", 100)
    monkeypatch.setattr(words_postgres, "_CACHED", -1.0)
    return IndexFixture(postgres_database)


def fill(shelf: IndexFixture, first: int, count: int) -> None:
    for number in range(first, first + count):
        shelf.put(f"m{number}", f"tea {'green' if number % 4 == 0 else 'black'} w{number:05}")


def analyze(shelf: IndexFixture) -> None:
    with shelf.database.writing() as statements:
        statements.run("analyze words")


def counted(shelf: IndexFixture, documents: int, *terms: str) -> Mapping[str, int]:
    with shelf.database.reading() as rows:
        return shelf.index.term_index.count_documents(rows, terms, documents)


def visited(shelf: IndexFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing may be counted by visiting documents."""
    monkeypatch.setattr(words_postgres, "_POSTGRES_COUNT", "select 1 / 0")


def test_common_words_are_not_counted_again(shelf, monkeypatch):
    fill(shelf, 0, 200)
    exact = {"tea": 200, "green": 50, "black": 150, "absent": 0, "w00007": 1}
    assert counted(shelf, 200, *exact) == exact
    analyze(shelf)
    assert counted(shelf, 200, *exact) == exact
    visited(shelf, monkeypatch)
    assert counted(shelf, 200, "tea", "green", "black") == {"tea": 200, "green": 50, "black": 150}
    assert counted(shelf, 220, "green") == {"green": 55}  # as many of the new ones as of the others
    assert shelf.find("green", limit=3)


def test_what_the_server_counted_long_ago_is_not_believed(shelf):
    fill(shelf, 0, 100)
    analyze(shelf)
    fill(shelf, 100, 100)
    assert counted(shelf, 200, "tea", "green") == {"tea": 200, "green": 50}


def test_a_small_store_is_counted_exactly(shelf):
    fill(shelf, 0, 60)
    analyze(shelf)
    fill(shelf, 60, 10)
    assert counted(shelf, 70, "tea", "green") == {"tea": 70, "green": 18}
