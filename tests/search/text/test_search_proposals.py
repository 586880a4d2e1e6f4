"""What is proposed by words: enough of it inside the filter, the promising first, and from the right index."""

from dataclasses import replace

import pytest
from search.fixture import EVERYWHERE, NOW, IndexFixture, address

from tokonoma.core.desk import Document
from tokonoma.core.query import Condition, Query, SearchFilter, SearchScope
from tokonoma.search import candidates
from tokonoma.search.tuning import TUNING


@pytest.fixture
def shelf(database) -> IndexFixture:
    return IndexFixture(database)


def test_what_a_filter_lets_through_is_found_behind_what_it_does_not(shelf, monkeypatch):
    """More documents stand before it than are looked at together."""
    monkeypatch.setattr(candidates, "TUNING", replace(TUNING, few_documents=0))
    with shelf.database.writing() as tx:
        for number in range(700):
            facts = [("k", "v")] if number < 30 else []
            document = Document(address(f"m{number}"), "/s", "green tea", facts=facts, at=NOW + number)
            shelf.index.put(tx, document, "internal" if number % 2 else "secret")
    wanted = Condition("k", "is", ("v",))
    assert shelf.find("tea", wanted, limit=40) == [f"m{number}" for number in reversed(range(30))]
    assert len(shelf.find("tea", wanted, limit=40, reach=SearchScope("/s", ("internal",)))) == 15


def test_a_title_is_proposed_before_many_bodies(shelf):
    with shelf.database.writing() as tx:
        shelf.index.put(tx, Document(address("titled"), "/", "three minutes", "Tea", at=NOW), "internal")
        for number in range(700):
            shelf.index.put(tx, Document(address(f"m{number}"), "/", "green tea", at=NOW + number), "internal")
    assert shelf.find("tea", limit=3)[0] == "titled"


class _Heard:
    """Passes on what is read, and keeps the questions."""

    def __init__(self, rows) -> None:
        self._rows, self.asked = rows, []

    def rows(self, sql, /, **params):
        self.asked.append((sql, params))
        return self._rows.rows(sql, **params)

    def row(self, sql, /, **params):
        return next(iter(self.rows(sql, **params)), None)


def test_neighbours_are_asked_of_the_index_of_threads(sqlite_database, monkeypatch):
    """Without it every neighbour would cost a walk through its whole namespace."""
    monkeypatch.setattr(candidates, "TUNING", replace(TUNING, few_documents=0))
    shelf = IndexFixture(sqlite_database)
    for number in range(9):
        shelf.put(f"m{number}", "green tea", thread="talk", namespace="/a")
    with shelf.database.reading() as rows:
        heard = _Heard(rows)
        shelf.index.find(heard, Query("tea"), SearchFilter(namespace="/a"), EVERYWHERE)
        beside = [(sql, params) for sql, params in heard.asked if "c.thread" in sql]
        plans = [str(rows.rows(f"explain query plan {sql}", **params)) for sql, params in beside]
    assert len(plans) == 2
    assert all("document_thread" in plan and "document_space" not in plan for plan in plans)
