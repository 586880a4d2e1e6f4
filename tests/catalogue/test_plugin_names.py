"""The names that no plugin can take, held against the server as it is."""

import pkgutil

import pytest

import tokonoma
from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.app.store import TABLES
from tokonoma.catalogue.plugins.names import RESERVED, SERVER_TABLES, find_name_problem


def test_every_room_and_every_set_of_tables_is_reserved():
    rooms = {each.name for each in pkgutil.iter_modules(tokonoma.__path__) if not each.name.startswith("_")}
    assert {*rooms, *TABLES} <= RESERVED
    assert not RESERVED & (set(catalogue.BUILT_IN_MODULES) - {"gateway"})


def test_the_tables_of_the_server_are_those_of_a_database_with_everything(database_url, tmp_path):
    app = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    app.registry.load_all()
    app.registry.get_module("gateway")
    with app.database.reading() as rows:
        tables = {name for (name,) in rows.rows(app.database.dialect.tables)}
    app.close()
    assert tables - SERVER_TABLES == set()
    assert SERVER_TABLES - tables <= {"words", "embedding_block", "embedding_change", "memo_count"}  # on SQLite only


TAKEN = "policy rate embed vectors files keyring services upstream people oauth web approvals item vault api"


@pytest.mark.parametrize("name", TAKEN.split())
def test_a_name_of_the_server_is_refused(name):
    assert find_name_problem(name)


@pytest.mark.parametrize("name", ["guestbook", "items2", "ratings", "policies", "memos", "webshop"])
def test_other_names_are_free(name):
    assert find_name_problem(name) == ""
