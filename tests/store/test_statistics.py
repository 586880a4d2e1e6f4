"""The planner's statistics follow the growth of the tables, on both databases."""

from typing import Any

import pytest

_MANY: list[dict[str, Any]] = [
    {"id": number, "kind": "rare" if number % 500 == 0 else "common", "at": number} for number in range(3000)
]
_INSERT = "insert into thing (id, kind, at) values (:id, :kind, :at)"


@pytest.fixture
def thing(database):
    with database.writing() as statements:
        statements.run("create table thing (id {big} primary key, kind {text} not null, at {big} not null)")
        statements.run("create index thing_kind on thing (kind)")
    database.update_statistics()
    return database


def fill(database, rows):
    with database.writing() as statements:
        statements.run_many(_INSERT, rows)


def test_a_table_that_has_grown_is_looked_at_once(thing):
    assert thing.update_statistics() == 0  # it is empty
    fill(thing, _MANY)
    assert thing.update_statistics() == 1
    assert thing.update_statistics() == 0
    fill(thing, [{**each, "id": each["id"] + 10_000 * turn} for turn in range(1, 12) for each in _MANY])
    assert thing.update_statistics() == 1
    assert thing.update_statistics() == 0


def test_connections_that_were_open_plan_with_the_new_statistics(sqlite_database):
    """Without statistics SQLite takes the index of an equality, whatever it lets through."""

    def explain() -> str:
        with sqlite_database.reading() as rows:
            sql = "explain query plan select id from thing where kind = 'common' and at between 5 and 7"
            return " ".join(str(row[-1]) for row in rows.rows(sql))

    with sqlite_database.writing() as statements:
        statements.run("create table thing (id integer primary key, kind text not null, at integer not null)")
        statements.run("create index thing_kind on thing (kind)")
        statements.run("create index thing_at on thing (at)")
    fill(sqlite_database, _MANY)
    assert "thing_kind" in explain()
    sqlite_database.update_statistics()
    assert "thing_at" in explain()


def test_statistics_are_bounded_to_a_part_of_a_large_table(sqlite_database):
    with sqlite_database.writing() as statements:
        statements.run("create table thing (id integer primary key, kind text not null, at integer not null)")
        statements.run("create index thing_kind on thing (kind)")
    fill(sqlite_database, _MANY)
    sqlite_database.update_statistics()
    with sqlite_database.writing() as statements:
        assert statements.rows("pragma analysis_limit") == [(1000,)]
