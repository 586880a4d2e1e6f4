"""A house on either database, spoken to over either transport."""

from collections.abc import Callable, Generator

import pytest
from click.testing import CliRunner
from conftest import SOAK
from specs.items_client import Items, items_of
from talk import Http, Lines, Talk

from tokonoma.app import App
from tokonoma.cli.program import program


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The transport and the database do not know of each other: of the four pairs, three are tried in `make test`."""
    if SOAK:
        return
    left_out = [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and item.callspec.params.get("talk") == "http"
        and item.callspec.params.get("database_url") == "postgresql"
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """On PostgreSQL it has its tables already: to make them takes longer than many a test."""
    return request.getfixturevalue("sqlite_at" if request.param == "sqlite" else "migrated_postgres_at")


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


@pytest.fixture
def terminal(database_url, tmp_path) -> Callable[..., str]:
    """`tokonoma …` beside the running server."""

    def run(*words: str, fails: bool = False, stdin: str | None = None) -> str:
        places = ("--home", str(tmp_path / "home"), "--database-url", database_url, "--no-durable")
        result = CliRunner().invoke(program, [*words, *places], input=stdin, prog_name="tokonoma")
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    return run
