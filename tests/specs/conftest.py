"""A house on either database, spoken to over either transport."""

from collections.abc import Generator

import pytest
from specs.items_client import Items, items_of
from talk import Http, Lines, Talk

from tokonoma.app import App


@pytest.fixture
def app(database_url, tmp_path) -> Generator[App]:
    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture(params=["stdio", "http"])
def talk(request, app) -> Talk:
    return Lines(app) if request.param == "stdio" else Http(app)


@pytest.fixture
def items(app) -> Items:
    return items_of(app)
